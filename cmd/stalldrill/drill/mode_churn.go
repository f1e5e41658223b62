package drill

import "stallmark/cmd/stalldrill/work"

// writebackChurn overwrites mappings at random places while they are written
// out all the time: stores wait for pages that are being written.
func writebackChurn() Mode {
	return Mode{
		Name:    "writeback-churn",
		Summary: "mappings are overwritten while they are forced to disk",
		Truth:   []string{"writeback-churn"},
		Also:    []string{"disk-saturation", "fsync-stall"},
		Disk:    victimDisk + 1280*mib,
		Signs:   []Sign{{Counter: "nr_written", AtLeast: 5000}, {Counter: "wait.*folio_*", AtLeast: 1}},
		Plan: func(f Facts) Plan {
			store := func(name, file string, size int64) work.Task {
				return work.Task{Name: name, Do: work.MapStore, Path: f.file(file), Size: f.size(size), Bytes: 8, Rate: 50000}
			}
			return Plan{
				Victim: f.victim(store("store-small", "s1", 256*mib), store("store-large", "s2", 1*gib)),
				Loads: []work.Spec{load(
					work.Task{Name: "flush", Do: work.Flush, Path: f.file("s1"), Rate: 200},
					work.Task{Name: "flush-range", Do: work.FlushRange, Path: f.file("s2"), Rate: 50},
				)},
				Settings: []Setting{
					f.sysctl("vm/dirty_writeback_centisecs", "10"),
					f.sysctl("vm/dirty_expire_centisecs", "10"),
				},
			}
		},
	}
}
