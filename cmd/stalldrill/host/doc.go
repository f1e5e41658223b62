// Package host reads the few things that a drill must know of the machine:
// memory and disk that are free, control groups, and the counters that tell
// whether the kernel really did what the drill meant to provoke.
//
// All paths start at a Host, so that tests use a folder in place of /proc and
// /sys.
package host
