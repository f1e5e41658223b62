// Package host reads what the kernel says about the host as a whole: memory,
// disks, CPUs, pressure, interrupts, settings. One file a source; the names of
// series and facts are those of ../SERIES.md.
//
// The readers that run on every beat parse by hand from a buffer that they
// keep, with their series in maps looked up by the bytes of the line: the
// benchmarks of this package put them beside prometheus/procfs and gopsutil on
// the same tree. Those libraries also open files by path below a mount point,
// while a [collectors.Root] may be a recording in memory, and procfs exports no
// parser that takes bytes; so the slow readers (mountinfo, block queues,
// settings) are by hand as well.
//
// A source answers nil, or says what is missing, why, and what would mend it.
// A known line that cannot be parsed is named by file and line, and the rest of
// the file is used; unknown lines and keys are let through, since a newer
// kernel must not break the reader.
package host
