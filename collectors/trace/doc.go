// Package trace gives exact evidence of waits: the kernel itself says, by
// tracepoints read through perf_event_open(2), how long each thread was paused
// at the dirty limit, reclaimed memory or compacted it.
//
// [Source] is one source among the others. It opens the tracepoints only under
// pressure and closes them after some calm; the kernel closes them if this
// process dies. It mounts nothing and writes nothing into tracefs.
//
// On the way from the kernel to a series: a format file says where a field
// stands (format.go), one ring a CPU holds records (perf.go, ring.go,
// record.go), beginnings and ends are paired into waits (ledger.go), which are
// counted for the process they belong to (tally.go).
package trace
