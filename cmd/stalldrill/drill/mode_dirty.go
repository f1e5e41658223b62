package drill

import (
	"strconv"

	"stallmark/cmd/stalldrill/work"
)

// dirtyThrottling lowers the dirty limits to 32 and 64 MiB and lets four
// writers go as fast as they are let: all who dirty pages are paused.
func dirtyThrottling() Mode {
	return Mode{
		Name:    "dirty-throttling",
		Summary: "writers are paused at a dirty limit of 64 MiB",
		Truth:   []string{"dirty-throttling"},
		Also:    []string{"disk-saturation", "fsync-stall"},
		Disk:    victimDisk + 5*gib,
		Signs:   []Sign{{Counter: "wait.balance_dirty_pages*", AtLeast: 1}},
		Plan: func(f Facts) Plan {
			writer := func(file string) work.Task {
				return work.Task{Name: "writer", Do: work.Append, Path: f.file(file), Size: f.size(1 * gib), Bytes: 1 * mib}
			}
			return Plan{
				Victim: f.victim(),
				Loads: []work.Spec{load(
					writer("w1"), writer("w2"), writer("w3"),
					work.Task{Name: "map-writer", Do: work.MapCold, Path: f.file("w4"), Size: f.size(1 * gib), Bytes: 64 * kib},
				)},
				Settings: []Setting{
					f.sysctl("vm/dirty_background_bytes", strconv.Itoa(32*mib)),
					f.sysctl("vm/dirty_bytes", strconv.Itoa(64*mib)),
				},
			}
		},
	}
}
