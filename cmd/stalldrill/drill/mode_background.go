package drill

import (
	"strconv"

	"stallmark/cmd/stalldrill/work"
)

// background keeps the flusher busy while the level stays below the ceiling
// (limit + background limit)/2, so that nobody is paused: the files hold 1 GiB
// together, the ceiling is above 2 GiB.
func background() Mode {
	return Mode{
		Name:     "background",
		Summary:  "harmless: steady writes, background writeback, nobody is paused",
		Harmless: true,
		Disk:     victimDisk + 1*gib,
		Signs:    append(calm(), Sign{Counter: "disk.written_bytes", AtLeast: 1 * mib}),
		Plan: func(f Facts) Plan {
			writer := func(file string) work.Task {
				return work.Task{Name: "writer", Do: work.Append, Path: f.file(file), Size: f.size(512 * mib), Bytes: 1 * mib, Rate: 60}
			}
			return Plan{
				Victim: f.victim(),
				Loads:  []work.Spec{load(writer("w1"), writer("w2"))},
				Settings: []Setting{
					f.sysctl("vm/dirty_background_bytes", strconv.Itoa(256*mib)),
					f.sysctl("vm/dirty_bytes", strconv.Itoa(4*gib)),
				},
			}
		},
	}
}
