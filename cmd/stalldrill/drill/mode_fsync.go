package drill

import (
	"time"

	"stallmark/cmd/stalldrill/work"
)

// fsyncStorm gives the victim, with three threads that fsync, three writes to
// the disk a second, as a volume would whose limit is used up. The requests wait
// before the device: it answers as fast as ever, and its queue is empty.
func fsyncStorm() Mode {
	return Mode{
		Name:    "fsync-storm",
		Summary: "more small fsyncs than the limit of writes to the disk lets through",
		Truth:   []string{"fsync-stall"},
		Disk:    victimDisk,
		Group:   "io",
		Signs:   []Sign{{Counter: "wait.folio_wait*", AtLeast: 1}},
		Slow:    &Slow{Operation: "fsync", P99: 100 * time.Millisecond},
		Plan: func(f Facts) Plan {
			small := work.Task{Name: "small", Do: work.SmallSyncs, Path: f.file("small"), Bytes: 16 * kib, Late: true}
			other := small
			other.Name = "small-2"
			return Plan{Victim: f.victim(small, other), Limits: []Setting{f.writeLimit()}}
		},
	}
}

// writeLimit is three writes a second, in the words of the group's version.
func (f Facts) writeLimit() Setting {
	if f.Group.Version == 2 {
		return Setting{Path: "io.max", Value: f.Disk + " wiops=3", Back: f.Disk + " wiops=max"}
	}
	return Setting{Path: "blkio.throttle.write_iops_device", Value: f.Disk + " 3", Back: f.Disk + " 0"}
}
