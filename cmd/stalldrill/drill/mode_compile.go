package drill

import (
	"time"

	"stallmark/cmd/stalldrill/work"
)

// compiling is like a build at low priority: much CPU and many small files.
func compiling() Mode {
	return Mode{
		Name:     "compile",
		Summary:  "harmless: CPU and small files at low priority, as a build",
		Harmless: true,
		Disk:     victimDisk + 16*mib,
		Signs:    calm(),
		Plan: func(f Facts) Plan {
			spin := work.Task{Name: "compile", Do: work.Spin, Bytes: int64(5 * time.Millisecond)}
			build := load(
				spin, spin,
				work.Task{Name: "objects", Do: work.SmallFiles, Path: f.file("objects"), Bytes: 32 * kib, Rate: 200},
			)
			build.Nice = 10
			return Plan{Victim: f.victim(), Loads: []work.Spec{build}}
		},
	}
}
