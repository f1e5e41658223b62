package drill

import "stallmark/cmd/stalldrill/work"

// directReclaim brings free memory to the watermarks: an eater takes what is
// available down to Leave, clean page cache takes what is still free, and
// churning threads allocate in bites that are larger than the gap between the
// watermarks, so that kswapd comes too late. In between CPUs are free.
func directReclaim() Mode {
	return Mode{
		Name:    "direct-reclaim",
		Summary: "threads that allocate must reclaim pages themselves",
		Truth:   []string{"direct-reclaim"},
		Also:    []string{"page-cache-thrash", "thp-compaction-stall"},
		Disk:    victimDisk + 2*gib,
		Signs:   []Sign{{Counter: "allocstall*", AtLeast: 5}, {Counter: "pgscan_direct", AtLeast: 100}},
		Plan: func(f Facts) Plan {
			churn := work.Task{Name: "churn", Do: work.Churn, Bytes: 256 * mib, Rate: 2}
			return Plan{
				Victim: f.victim(work.Task{
					Name: "load", Do: work.HotMap, Path: f.file("hot"), Size: f.size(1 * gib), Bytes: 4 * kib, Rate: 500,
				}),
				Loads: []work.Spec{
					load(work.Task{Name: "eat", Do: work.Eat, Floor: f.Leave, Rate: 10}),
					load(work.Task{
						Name: "fill", Do: work.FillCache, Path: f.file("hole"), Size: 4 * f.Memory.Total, Bytes: 1 * mib, Rate: 500, Floor: 2 * f.Memory.High,
					}),
					load(churn, churn),
					load(work.Task{Name: "writer", Do: work.Append, Path: f.file("w1"), Size: f.size(1 * gib), Bytes: 1 * mib, Rate: 150}),
				},
			}
		},
	}
}
