package drill

import (
	"fmt"
	"time"

	"stallmark/cmd/stalldrill/work"
)

// fsyncStorm has eight threads that make and fsync small files, beside a writer
// that fills the same queue.
func fsyncStorm() Mode {
	return Mode{
		Name:    "fsync-storm",
		Summary: "many small fsyncs beside a big writer",
		Truth:   []string{"fsync-stall"},
		Also:    []string{"disk-saturation"},
		Disk:    victimDisk + 528*mib,
		Signs:   []Sign{{Counter: "disk.flushes", AtLeast: 50}},
		Slow:    &Slow{Operation: "fsync", P99: 100 * time.Millisecond}, // a fast disk takes it without a stall
		Plan: func(f Facts) Plan {
			var tasks []work.Task
			for i := range 8 {
				tasks = append(tasks, work.Task{
					Name: fmt.Sprintf("sync-%d", i), Do: work.SmallSyncs, Path: f.file("small"), Bytes: 16 * kib,
				})
			}
			big := load(work.Task{Name: "writer", Do: work.Append, Path: f.file("w1"), Size: f.size(512 * mib), Bytes: 1 * mib, Rate: 200})
			return Plan{Victim: f.victim(), Loads: []work.Spec{load(tasks...), big}}
		},
	}
}
