package drill

import (
	"path/filepath"

	"stallmark/cmd/stalldrill/work"
)

// thpCompaction fills free memory with single pages of page cache and leaves
// holes between them: memory is free and huge pages are not, so that a fault
// that wants one compacts. The pages are clean: whoever needs them gets them.
func thpCompaction() Mode {
	return Mode{
		Name:    "thp-compaction",
		Summary: "the victim wants huge pages while free memory is in pieces",
		Truth:   []string{"thp-compaction-stall"},
		Also:    []string{"direct-reclaim", "page-cache-thrash"},
		Disk:    victimDisk,
		Signs:   []Sign{{Counter: "compact_stall", AtLeast: 1}},
		Plan: func(f Facts) Plan {
			dir := filepath.Join(f.Host.Sys, "kernel/mm/transparent_hugepage")
			huge := work.Task{
				Name: "huge", Do: work.Huge, Size: min(4*gib, f.Memory.Available/7/mib*mib), Bytes: 4 * mib, Rate: 40, Late: true,
			}
			return Plan{
				Victim: f.victim(huge, huge),
				Loads: []work.Spec{load(work.Task{
					Name: "fragment", Do: work.Fragment, Path: f.file("hole"), Size: 4 * f.Memory.Total, Bytes: 2 * mib, Rate: 10, Floor: 2 * f.Memory.High,
				})},
				Settings: []Setting{
					{Path: filepath.Join(dir, "enabled"), Value: "madvise"},
					{Path: filepath.Join(dir, "defrag"), Value: "always"},
					// Else the kernel puts the pieces together in the background.
					{Path: f.Host.Sysctl("vm/compaction_proactiveness"), Value: "0", Early: true, IfThere: true},
				},
			}
		},
	}
}
