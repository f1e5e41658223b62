// Package drill holds the modes, one file each, and runs them.
//
// A Mode is a plan: which processes work, which settings change, within which
// limits. Run carries a plan out: it checks that the machine can bear it, makes
// a folder with a journal of all changes, starts a guard and the workers, lets
// a quiet time pass, provokes the stall for a bounded time under a watchdog, and
// takes everything back. It reports what the victim felt and by which signs the
// kernel showed that the stall was the one that was meant.
package drill
