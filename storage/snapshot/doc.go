// Package snapshot is an incident frozen: every sample of its time at full
// resolution, events, facts, the verdict with its texts as they were, and the
// evaluated lines of its charts, so that it is shown later without a rule or a
// query being evaluated again.
//
// A snapshot is immutable. Its id is the SHA-256 of its contents, its file is a
// zstd-compressed tar (".stallmark") that any other instance can import. [Decode]
// checks names, sizes and the hash and trusts no length that it reads.
//
// [Folder] keeps snapshots and the links to them beside the data file, apart
// from retention.
package snapshot
