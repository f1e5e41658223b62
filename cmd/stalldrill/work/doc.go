// Package work is what the child processes of a drill do: tasks, each a thread
// that repeats one operation at a fixed rate or as fast as it goes, and the
// measurement of how long each operation was felt to take.
//
// A worker reads a Spec as one line of JSON from its input, prepares its files
// and memory, says that it is ready, and starts. Each further line names the
// phase that begins. The end of the input ends it, so that a worker never
// outlives the drill; then it prints its Results.
package work
