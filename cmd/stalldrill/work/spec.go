package work

import "path/filepath"

// Spec describes one worker process.
type Spec struct {
	Name   string   `json:"name"`             // of the process, as in ps
	Nice   int      `json:"nice,omitempty"`   // below 0 only where we may
	OOM    int      `json:"oom,omitempty"`    // oom_score_adj: 1000 is killed first
	Groups []string `json:"groups,omitempty"` // control groups to join before anything else
	Tasks  []Task   `json:"tasks"`
}

// Task is one thread and its operation.
type Task struct {
	Name  string  `json:"name"`            // of the thread and in the results
	Do    Kind    `json:"do"`              // what it repeats
	Path  string  `json:"path,omitempty"`  // file or folder
	Size  int64   `json:"size,omitempty"`  // of the file or memory, bytes
	Bytes int64   `json:"bytes,omitempty"` // of one operation
	Rate  float64 `json:"rate,omitempty"`  // operations a second; 0: as fast as it goes
	Floor int64   `json:"floor,omitempty"` // bytes of memory to leave
	Late  bool    `json:"late,omitempty"`  // starts with the drill, not with the quiet before it
}

// Kind names an operation.
type Kind string

// The operations. The first group are what a broker does, the second makes
// trouble.
const (
	Append     Kind = "append"      // write to the next place of a file, around and around
	MapAppend  Kind = "map-append"  // store to the next place of a warm mapping
	MapCold    Kind = "map-cold"    // the same in a mapping never touched; a new file at the end
	Fsync      Kind = "fsync"       // write and fdatasync
	ColdRead   Kind = "cold-read"   // read at random places that are not in memory
	ColdMap    Kind = "cold-map"    // load from random places of a mapping that are not in memory
	HotRead    Kind = "hot-read"    // read at random places that may stay in memory
	HotMap     Kind = "hot-map"     // load from random places of a mapping that may stay in memory
	MapStore   Kind = "map-store"   // store 8 bytes at random places of a warm mapping
	Anon       Kind = "anon"        // touch random pages of our own memory
	Huge       Kind = "huge"        // map and touch huge pages
	Tick       Kind = "tick"        // nothing: how late is the wake-up itself
	Spin       Kind = "spin"        // Bytes nanoseconds of CPU
	Protect    Kind = "protect"     // mprotect, madvise: each makes other CPUs drop translations
	Churn      Kind = "churn"       // map memory, touch all of it, unmap it
	Flush      Kind = "flush"       // fdatasync of a file that others dirty
	FlushRange Kind = "flush-range" // sync_file_range of such a file
	Direct     Kind = "direct"      // O_DIRECT writes at random places
	SmallFiles Kind = "small-files" // make, write, read and remove a small file
	SmallSyncs Kind = "small-syncs" // the same with fsync instead of the reading
	Copy       Kind = "copy"        // one step of copying a file
	Eat        Kind = "eat"         // take memory down to Floor and keep it
	FillCache  Kind = "fill-cache"  // take free memory for the page cache, down to Floor
	Fragment   Kind = "fragment"    // the same in single pages, with holes
)

// Disk is how much room the task's files take at most, bytes.
func (t Task) Disk() int64 {
	switch t.Do {
	case Flush, FlushRange, FillCache, Fragment:
		return 0 // another task's file, or one of holes alone
	case Copy, MapCold:
		return 2 * t.Size // the copy, and the next file before the last one goes
	case SmallFiles, SmallSyncs:
		return 1 << 20
	}
	if t.Path == "" {
		return 0
	}
	return t.Size
}

// Memory is how much memory the task takes that cannot be dropped, bytes.
func (t Task) Memory() int64 {
	switch t.Do {
	case Anon, Huge:
		return t.Size
	case Churn:
		return t.Bytes
	}
	return 0
}

// Disk is how much room all tasks take: a file that several use counts once.
func Disk(specs []Spec) int64 {
	files := map[string]int64{}
	for _, s := range specs {
		for _, t := range s.Tasks {
			name := filepath.Clean(t.Path)
			files[name] = max(files[name], t.Disk())
		}
	}
	var sum int64
	for _, n := range files {
		sum += n
	}
	return sum
}

// Memory is how much memory all tasks take.
func Memory(specs []Spec) int64 {
	var sum int64
	for _, s := range specs {
		for _, t := range s.Tasks {
			sum += t.Memory()
		}
	}
	return sum
}
