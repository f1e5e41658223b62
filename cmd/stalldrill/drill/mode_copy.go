package drill

import "stallmark/cmd/stalldrill/work"

// copying copies a big file over and over while memory is free. The copy is at
// most half of what may be dirty before writers are paused, so it stays
// harmless on a slow disk too.
func copying() Mode {
	return Mode{
		Name:     "copy",
		Summary:  "harmless: a big copy with free memory",
		Harmless: true,
		Disk:     victimDisk + 4*gib,
		Signs:    append(calm(), Sign{Counter: "disk.read_bytes", AtLeast: 1 * mib}),
		Plan: func(f Facts) Plan {
			size := f.size(2 * gib)
			if f.Dirty > 0 {
				size = min(size, max(f.Dirty/2/mib, 64)*mib)
			}
			return Plan{
				Victim: f.victim(),
				Loads: []work.Spec{load(
					work.Task{Name: "copy", Do: work.Copy, Path: f.file("big"), Size: size, Bytes: 1 * mib},
				)},
			}
		},
	}
}
