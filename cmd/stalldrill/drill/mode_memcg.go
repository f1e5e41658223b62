package drill

import (
	"strconv"

	"stallmark/cmd/stalldrill/work"
)

// memcgReclaim puts the victim into a control group whose limit is far below
// what it reads over and over, while the machine has memory enough.
func memcgReclaim() Mode {
	return Mode{
		Name:    "memcg-reclaim",
		Summary: "the victim's control group is too small for what it reads",
		Truth:   []string{"memcg-reclaim"},
		Also:    []string{"page-cache-thrash", "disk-saturation", "catch-up-cold-reads", "retry-queue-cold-reads"},
		Disk:    victimDisk + 1*gib,
		Group:   "memory",
		Signs:   []Sign{{Counter: "workingset_refault_file", AtLeast: 500}, {Counter: "group.limit_hits", AtLeast: 10}},
		Plan: func(f Facts) Plan {
			hot := f.size(1 * gib)
			return Plan{
				Victim: f.victim(
					work.Task{Name: "heap", Do: work.Anon, Size: 60 * mib, Rate: 1000},
					work.Task{Name: "read", Do: work.HotRead, Path: f.file("hot"), Size: hot, Bytes: 64 * kib, Rate: 3000},
					work.Task{Name: "load", Do: work.HotMap, Path: f.file("hot"), Size: hot, Bytes: 4 * kib, Rate: 1000},
				),
				Limits: []Setting{f.memoryLimit(300 * mib)},
			}
		},
	}
}

// memoryLimit is the limit in the words of the group's version.
func (f Facts) memoryLimit(bytes int64) Setting {
	if f.Group.Version == 2 {
		return Setting{Path: "memory.max", Value: strconv.FormatInt(bytes, 10)}
	}
	return Setting{Path: "memory.limit_in_bytes", Value: strconv.FormatInt(bytes, 10)}
}
