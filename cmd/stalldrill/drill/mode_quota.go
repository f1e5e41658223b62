package drill

import (
	"time"

	"stallmark/cmd/stalldrill/work"
)

// cpuQuota gives the victim, with two threads that want much CPU, a quarter of
// one.
func cpuQuota() Mode {
	return Mode{
		Name:    "cpu-quota",
		Summary: "the victim's CPU quota is a quarter of a CPU",
		Truth:   []string{"cfs-throttling"},
		Disk:    victimDisk,
		Group:   "cpu",
		Signs:   []Sign{{Counter: "group.nr_throttled", AtLeast: 1}},
		Plan: func(f Facts) Plan {
			spin := work.Task{Name: "spin", Do: work.Spin, Bytes: int64(10 * time.Microsecond), Rate: 20000}
			limits := []Setting{{Path: "cpu.cfs_period_us", Value: "100000"}, {Path: "cpu.cfs_quota_us", Value: "25000"}}
			if f.Group.Version == 2 {
				limits = []Setting{{Path: "cpu.max", Value: "25000 100000"}}
			}
			return Plan{Victim: f.victim(spin, spin), Limits: limits}
		},
	}
}
