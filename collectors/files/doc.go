// Package files reads and writes recordings: what the kernel said on a host,
// beat by beat, so that the sources can be run on it again.
//
// A recording is a .tar.zst. First comes meta.json (see [Meta]), then one
// folder a beat, numbered from 000000:
//
//	000123/proc/vmstat   raw files under the names the sources use
//	000123/proc/42/exe   a symbolic link is one in the archive too
//	000123/logs/index    JSON: whose and what the pieces of logs are that came in this beat
//	000123/logs/0        their bytes, numbered
//	000123/.dirs         JSON: names in each folder that was listed
//	000123/.errors       JSON: reads that failed, by errno name ("EOPNOTSUPP")
//	000123/facts.json    JSON: facts that are new or have changed
//	000123/at            RFC 3339 time with nanoseconds
//
// The time is written last and so is the mark of a whole tick: the archive of a
// recorder that was killed replays up to there.
//
// The other layout that [Open] knows, told by its content, has one folder with
// the recording's name above the ticks, no meta.json, and for the time a file
// "meta" with a line "real_ns"; it was recorded on a host with 4096-byte pages
// and 100 clock ticks a second. There, settings and other slow files are kept
// in every tenth tick only. A name that changes slowly (see sparse) and is not
// in a tick is therefore answered with its last content for at most 10 s; every
// other name that a tick does not have is not there.
//
// A tick whose time is not after the last one's is passed over. If it is more
// than 10 s before, the clock was set back: the ticks go on, and their times are
// moved so that they follow; [Recording.Notes] says by how much.
//
// An archive may be hostile. Nothing is extracted, names must be local, and
// [Limits] bound the size of a file, of a tick and of the whole.
package files
