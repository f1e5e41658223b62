// Package pasted reads what people paste when they ask for help: the output of
// vmstat, iostat, sar, sadf, mpstat, pidstat, atop, jstat, free, top and ps, files of /proc and of cgroups, thread
// stacks and kernel logs, several of them in one text, with shell prompts,
// quotes and comments between them.
//
// [Read] cuts a text into [Part]s by what the lines look like, never by the
// name of the file, and says of each which lines it is, what was understood
// and which lines were not. What belongs to no part is left over, with its line
// numbers, for whoever knows log lines.
//
// [NewTimeline] puts the parts of one or more texts on one axis of beats. Rates
// that a tool printed become counters again, so that the same rules read them
// as read a live host: a row of "vmstat 5" is five seconds in which a counter
// grows evenly.
//
// What a tool does not say has no series. The first report of vmstat and iostat
// is the mean since boot and is left out; a single reading of a counter gives no
// rate; a text without times is placed at its end, and says so.
//
// The formats and their variants: procps 3.2 to 4.0 (src/vmstat.c, src/free.c,
// src/top), sysstat 5 to 12.7 (iostat.c, sar.c and pr_stats.c, sadf's JSON),
// busybox (procps/free.c, procps/top.c), Documentation/filesystems/proc.rst,
// Documentation/accounting/psi.rst, Documentation/admin-guide/cgroup-v2.rst.
package pasted
