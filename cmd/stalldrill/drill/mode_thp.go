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
			return Plan{
				Victim: f.victim(work.Task{Name: "huge", Do: work.Huge, Bytes: 32 * mib, Rate: 20}),
				Loads: []work.Spec{load(work.Task{
					Name: "fragment", Do: work.Fragment, Path: f.file("hole"), Size: 4 * f.Memory.Total, Bytes: 2 * mib, Rate: 100, Floor: 2 * f.Memory.High,
				})},
				Settings: []Setting{
					{filepath.Join(dir, "enabled"), "madvise"},
					{filepath.Join(dir, "defrag"), "always"},
				},
			}
		},
	}
}
