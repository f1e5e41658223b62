package process

import (
	"stallmark/collectors"
)

// Config is what the sources need to know of the host and of the user's wish.
type Config struct {
	PageSize   int // bytes
	ClockTicks int // per second (USER_HZ), the unit of the times in /proc/PID/stat

	// Watch names processes to watch beside the brokers: a pid, a command name
	// or the name of an executable.
	Watch []string
	// WatchAllRecorded watches every process of a recording that holds no
	// command lines, under its command name; and reads every recorded file in
	// every beat, since files at hand cost nothing.
	WatchAllRecorded bool
	// Thorough reads every thread in every beat, idle ones too; for recording.
	Thorough bool

	// Files opens configuration files inside a process's root. Nil where there
	// are none to open, as in replay.
	Files Files
	// Recorded are the facts that a recording tells, by key: they stand in for
	// the configuration files, which it does not hold.
	Recorded map[string]string
	// Disks resolves block devices to the disk below them. May be nil.
	Disks Disks
	// Watched takes what is found, for sources of other packages. May be nil.
	Watched *Watched
	// Alert reports whether to see more at a price, as in a burst: sleeping
	// threads are looked at more often, and host tasks without waiting for more
	// pressure. Nil means never.
	Alert func() bool
}

// alert is Alert, or never.
func (c Config) alert() func() bool {
	if c.Alert == nil {
		return func() bool { return false }
	}
	return c.Alert
}

// Files reads a file that a process names, as that process would see it.
// [RootOpener] is the live one.
type Files interface {
	// ReadFile returns at most limit bytes of a regular file below the root of
	// the process. A refusal is an error that says why.
	ReadFile(id ID, path string, limit int) ([]byte, error)
}

// Disks answers which physical disk is below a file system.
type Disks interface {
	// Backing returns the disk below the device with a number ("vda" for
	// "254:1", which is vda1), comma-separated when several, or "" if it is not
	// known.
	Backing(number string) string
}

// Sources returns the sources of this package, in the order in which a replay
// must run them: discovery comes first.
func Sources(c Config) []collectors.Source {
	w := c.Watched
	if w == nil {
		w = NewWatched()
	}
	t := &w.table
	return []collectors.Source{
		newDiscovery(c, t),
		newCounters(c, t),
		newResources(c, t),
		newCgroups(c, t),
		newThreads(c, t),
		newHostTasks(c, t),
	}
}
