package drill

import (
	"path/filepath"
	"time"

	"stallmark/cmd/stalldrill/host"
	"stallmark/cmd/stalldrill/work"
)

// Mode is one way to stall a machine, or one that only looks like it.
type Mode struct {
	Name    string
	Summary string
	// Truth are the signatures of which one is the cause; none where the
	// kernel is not to blame. Also are those that may be named beside it.
	Truth    []string
	Also     []string
	Harmless bool
	Disk     int64  // room that it wants, bytes; less makes its files smaller
	Group    string // controller of the control group that it needs
	Signs    []Sign
	Slow     *Slow // what the victim must feel besides; nil: whatever it feels
	Plan     func(Facts) Plan
}

// Sign is a counter of the kernel (see host.ReadCounters; "wait.*" counts
// sightings of threads asleep in a function) that tells that a mode worked.
type Sign struct {
	Counter string
	AtLeast float64 // a second
	None    bool    // instead: it must not move
}

// Slow is a stall that a mode makes on some machines and not on others: of one
// operation of the victim, one call in a hundred takes at least so long.
type Slow struct {
	Operation string
	P99       time.Duration
}

// Plan is what a mode does on one machine.
type Plan struct {
	Victim   []work.Task
	Loads    []work.Spec
	Settings []Setting
	Limits   []Setting     // the same in the victim's control group, by file name
	Swap     int64         // size of a swap area, bytes
	Freeze   time.Duration // for how long the victim is stopped
}

// Setting is a file of /proc or /sys and the value that it gets when the drill
// begins.
type Setting struct {
	Path, Value string
	Back        string // what is written to take it back; empty: the value that it had
	Early       bool   // before others prepare
	IfThere     bool   // older kernels do not have it
}

// Specs are all processes of the plan.
func (p Plan) Specs() []work.Spec {
	return append([]work.Spec{{Name: VictimName, Tasks: p.Victim}}, p.Loads...)
}

// Facts are what a plan needs to know of the machine.
type Facts struct {
	Host   host.Host
	Folder string  // of the drill's files
	Scale  float64 // of file sizes: below 1 where disk is short
	Memory host.Memory
	Leave  int64 // bytes of available memory that eaters leave
	Dirty  int64 // bytes at which writers begin to be paused: the freerun ceiling; 0 if unknown
	Group  host.Cgroups
	Disk   string // the physical disk of the folder, "major:minor"
	ZRAM   bool
}

// The names of the processes, for ps and for --watch of the recorder.
const (
	VictimName = "drill-victim"
	LoadName   = "drill-load"
)

const (
	kib = 1 << 10
	mib = 1 << 20
	gib = 1 << 30
)

func (f Facts) file(name string) string { return filepath.Join(f.Folder, name) }

// size is a file's size where there is room for all, less where there is not.
func (f Facts) size(want int64) int64 {
	return max(int64(float64(want)*f.Scale)/mib, 1) * mib
}

// sysctl is a setting below /proc/sys.
func (f Facts) sysctl(name, value string) Setting {
	return Setting{Path: f.Host.Sysctl(name), Value: value}
}

// victim are the tasks that every victim has: the ways in which a broker
// touches the disk, and a bare wake-up to tell a busy CPU from a stall.
func (f Facts) victim(more ...work.Task) []work.Task {
	tasks := []work.Task{
		{Name: "append", Do: work.Append, Path: f.file("v-append"), Size: f.size(64 * mib), Bytes: 16 * kib, Rate: 200},
		{Name: "map-append", Do: work.MapAppend, Path: f.file("v-map"), Size: f.size(64 * mib), Bytes: 4 * kib, Rate: 500},
		{Name: "fsync", Do: work.Fsync, Path: f.file("v-fsync"), Size: f.size(16 * mib), Bytes: 4 * kib, Rate: 20},
		{Name: "wake-up", Do: work.Tick, Rate: 1000},
	}
	return append(tasks, more...)
}

// load is a process that makes trouble, from the beginning of the drill, and
// that the OOM killer takes first.
func load(tasks ...work.Task) work.Spec {
	for i := range tasks {
		tasks[i].Late = true
	}
	return work.Spec{Name: LoadName, OOM: 1000, Tasks: tasks}
}

// victimDisk is the room that the victim's own files take.
const victimDisk = 144 * mib

// Modes are all of them, in the order in which they are listed and run.
func Modes() []Mode {
	return []Mode{
		idle(), background(), copying(), compiling(),
		dirtyThrottling(), writebackChurn(), fsyncStorm(), odirect(),
		coldRead(), coldMap(), unwarmed(),
		memcgReclaim(), swapIn(), cpuQuota(), tlbShootdown(), freeze(),
		thpCompaction(), directReclaim(),
	}
}
