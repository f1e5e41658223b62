package drill

import "stallmark/cmd/stalldrill/work"

// coldReaders are the signatures of reads of old data; which one it is depends
// on what the consumers are, and here there are none.
func coldReaders() []string {
	return []string{"catch-up-cold-reads", "retry-queue-cold-reads"}
}

// coldRead reads at random places of a file that is not in memory.
func coldRead() Mode {
	return Mode{
		Name:    "cold-read",
		Summary: "the victim reads old data that is not in memory (pread)",
		Truth:   coldReaders(),
		Also:    []string{"disk-saturation"},
		Disk:    victimDisk + 2*gib,
		Signs:   []Sign{{Counter: "victim.read_bytes", AtLeast: 1 * mib}},
		Plan: func(f Facts) Plan {
			return Plan{Victim: f.victim(work.Task{
				Name: "cold-read", Do: work.ColdRead, Path: f.file("cold"), Size: f.size(2 * gib), Bytes: 4 * kib, Rate: 3000, Late: true,
			})}
		},
	}
}

// coldMap does the same through a mapping: each is a major fault.
func coldMap() Mode {
	return Mode{
		Name:    "cold-mmap",
		Summary: "the victim loads old data that is not in memory (mmap)",
		Truth:   coldReaders(),
		Also:    []string{"disk-saturation"},
		Disk:    victimDisk + 2*gib,
		Signs:   []Sign{{Counter: "victim.major_faults", AtLeast: 50}},
		Plan: func(f Facts) Plan {
			return Plan{Victim: f.victim(work.Task{
				Name: "cold-load", Do: work.ColdMap, Path: f.file("cold"), Size: f.size(2 * gib), Bytes: 4 * kib, Rate: 1000, Late: true,
			})}
		},
	}
}
