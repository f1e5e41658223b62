package drill

import (
	"slices"

	"stallmark/cmd/stalldrill/work"
)

// odirect saturates the disk past the page cache.
func odirect() Mode {
	return Mode{
		Name:    "odirect",
		Summary: "sixteen threads write past the page cache until the disk is full of work",
		Truth:   []string{"disk-saturation"},
		Also:    []string{"fsync-stall", "disk-slow"},
		Disk:    victimDisk + 5*gib,
		Signs:   []Sign{{Counter: "disk.queue_seconds", AtLeast: 2}},
		Plan: func(f Facts) Plan {
			direct := work.Task{Name: "direct", Do: work.Direct, Path: f.file("direct"), Size: f.size(4 * gib), Bytes: 64 * kib}
			return Plan{
				Victim: f.victim(work.Task{
					Name: "cold-read", Do: work.ColdRead, Path: f.file("cold"), Size: f.size(1 * gib), Bytes: 4 * kib, Rate: 50,
				}),
				Loads: []work.Spec{load(slices.Repeat([]work.Task{direct}, 16)...)},
			}
		},
	}
}
