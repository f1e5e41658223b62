package drill

import "stallmark/cmd/stalldrill/work"

// unwarmed appends into a new mapping whose pages nobody has touched.
func unwarmed() Mode {
	return Mode{
		Name:    "unwarmed-mmap",
		Summary: "the victim appends into a new mapping that was not warmed up",
		Truth:   []string{"mmap-fault-stall"},
		Disk:    victimDisk + 2*gib,
		Signs:   []Sign{{Counter: "victim.rss_file_bytes", AtLeast: 4 * mib}},
		Plan: func(f Facts) Plan {
			return Plan{Victim: f.victim(work.Task{
				Name: "first-touch", Do: work.MapCold, Path: f.file("new"), Size: f.size(1 * gib), Bytes: 4 * kib, Rate: 8000, Late: true,
			})}
		},
	}
}
