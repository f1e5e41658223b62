// Package burst is the flight recorder: it notices pressure and has the host
// sampled faster for a while.
//
// A [Trigger] waits for pressure, by the kernel's own PSI triggers where they
// may be set and by a cheap [Watch] otherwise. A [Burst] is told of it and
// decides: fast sampling for a bounded time, within a budget of CPU and bytes,
// then a rest. A [Ring] keeps the newest readings of a few cheap files in
// memory, so that what led to the trigger can be replayed.
//
// Facts about PSI and its triggers: Documentation/accounting/psi.rst and
// kernel/sched/psi.c; "measured" means on a 6.18 kernel with psi=1.
package burst
