package drill

import "stallmark/cmd/stalldrill/work"

// swapIn gives the victim a heap of 900 MiB in a control group of 400: half of
// the heap is in swap, and every touch of that half is a fault. The rest of the
// machine has memory enough and is not swapped.
func swapIn() Mode {
	return Mode{
		Name:    "swap-in",
		Summary: "half of the victim's heap is swapped out (zram, or a swap file)",
		Truth:   []string{"swap-in-stall"},
		Also:    []string{"memcg-reclaim", "disk-saturation"},
		Disk:    victimDisk + 2*gib,
		Group:   "memory",
		Signs:   []Sign{{Counter: "pswpin", AtLeast: 100}},
		Plan: func(f Facts) Plan {
			heap := min(f.size(900*mib), f.Memory.Available/8/mib*mib)
			p := Plan{
				Victim: f.victim(work.Task{Name: "heap", Do: work.Anon, Size: heap, Rate: 20000}),
				Limits: []Setting{f.memoryLimit(heap * 4 / 9)},
				Swap:   heap * 2 / mib * mib,
			}
			if f.Group.Version == 1 {
				p.Limits = append([]Setting{{Path: "memory.swappiness", Value: "100"}}, p.Limits...)
			}
			return p
		},
	}
}
