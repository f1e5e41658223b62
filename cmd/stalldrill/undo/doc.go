// Package undo leaves a machine as it was found. Whatever a drill changes is
// written to a Journal first, together with what takes it back: a line of JSON
// in a file of the drill's own folder. Undo works through such a file; it is
// run by the drill itself when it ends, by the guard process if the drill was
// killed, and by hand ("stalldrill restore") if the guard was killed too.
package undo
