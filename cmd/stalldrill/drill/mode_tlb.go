package drill

import "stallmark/cmd/stalldrill/work"

// tlbShootdown runs the storm inside the victim: the kernel interrupts only
// CPUs that run threads of the same address space.
func tlbShootdown() Mode {
	return Mode{
		Name:    "tlb-shootdown",
		Summary: "threads of the victim change its mappings all the time",
		Truth:   []string{"tlb-shootdown-storm"},
		Disk:    victimDisk,
		Signs:   []Sign{{Counter: "interrupts.TLB", AtLeast: 200}},
		Plan: func(f Facts) Plan {
			storm := work.Task{Name: "protect", Do: work.Protect, Bytes: 256 * kib, Rate: 2000, Late: true}
			return Plan{Victim: f.victim(
				work.Task{Name: "heap", Do: work.Anon, Size: 64 * mib, Rate: 5000},
				storm, storm,
			)}
		},
	}
}
