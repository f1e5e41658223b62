// Package logs follows log files and hands their lines to consumers.
//
// The vocabulary: a [Target] says where logs are (a folder of the host or of a
// watched process, and which names in it). A stream is one logical log through
// all its rotations: store.log with what it is renamed or copied to, gc.log with
// its numbered files. A part is one file of a stream that is being read. A
// [Line] is what a consumer gets.
//
// Every folder is looked after by a goroutine of its own ([Follower]), so that
// a file system that hangs holds up nothing else, and none of it happens on the
// sampler's beat. Files are polled: one fstat(2) each while nothing happens,
// from five times a second down to once in two seconds the longer a file is
// idle. inotify(7) is not used: it is silent on network, overlay and FUSE file
// systems, and the poll has to be there anyway.
//
// A part is read with pread(2) from the start of the first line that is not
// read yet, together with a few bytes before it. Those are compared with what
// was read: a file that was truncated and has grown again shows by this, as one
// under a reused inode number does after a restart.
package logs
