// Package process watches broker processes and their threads.
//
// The sources share what is found: [Sources] gives a discovery source that
// recognises RocketMQ, Kafka and ZooKeeper from their command lines, and the
// sources that read the watched processes beat by beat: counters, threads and
// where they wait in the kernel, descriptors and mappings against their limits,
// cgroups; and one that looks at other tasks of the host that hang while the
// host is under pressure. Each runs by itself: discovery publishes a snapshot
// that the others read, so a hang in one stops no other.
//
// What is known is data: waits.go holds the kernel's function names by group,
// allow.go the flags and configuration keys that may be kept (everything else
// of a command line is dropped at once), roles.go the main classes.
//
// Files whose names a process chose are opened by [RootOpener]: inside that
// process's root, and only what its own user may read.
package process
