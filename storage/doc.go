// Package storage keeps what the sampler and the rules produce: samples,
// events, facts, coverage and findings.
//
// The newest samples live in the head, in memory, and are readable at once.
// History lives in one bbolt file that only a child process opens: a goroutine
// that waits for a cold page of a memory-mapped file cannot be stopped, so the
// garbage collector, and with it the sampler, would wait for the disk. The
// parent reaches the child over a socket with deadlines and never touches the
// disk.
//
// A beat goes from the head to the child at once. The child appends it to a
// journal beside the file, unsynced: the page cache survives a killed process.
// When a minute is complete it becomes one compressed block, committed in one
// transaction, and its journal is removed.
//
// [Store] is a Prometheus storage.Queryable and the sampler's sink.
package storage
