// Command stalldrill provokes the stalls that Stallmark recognises, on purpose,
// for a bounded time, on the machine that it runs on: to prove a recorder, to
// train people, to see what a setting is worth. Some modes are harmless and
// only look like a stall.
//
// It is started by hand (it refuses without --yes), leaves room for others, and
// takes everything back: at its end, on a signal, and after kill -9 by a guard
// process. The packages: drill has the modes and runs them, work is what their
// processes do and measure, undo takes everything back, host reads the machine.
package main
