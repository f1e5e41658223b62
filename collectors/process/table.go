package process

import (
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"stallmark/collectors"
	"stallmark/storage/model"
)

// ID identifies a process: a pid alone is used again after the process ends.
type ID struct {
	Pid   int
	Start uint64 // clock ticks after boot, field 22 of /proc/PID/stat
}

// watched is one process that the sources look at. Its fields do not change
// once it is published, except for what is learned later.
type watched struct {
	ID
	name string // stable among the watched: role or command name, with a number if several run
	role string
	comm string
	pid  string // of ID, as text
	dir  string // "proc/<pid>/"

	store   string // data folder that the process's configuration names, may be empty
	version string // from the class path, may be empty
	logs    string // folder of the product's logs, may be empty
	logDir  string // of a broker's own below it, may be empty
	gcLog   string // as the flags name it, may be empty
	nsPid   int    // in its own pid namespace, 0 if not known
	box     string // id of its container, may be empty

	// What only the discovery reads and may renew.
	config string // why the configuration could not be read, empty if it was
	facts  []fact // from the command line and the configuration, with whole keys

	learned atomic.Pointer[learned]
}

// learned is what only a look at the running process tells.
type learned struct {
	allocator   string
	store       string // data folder that has mapped segment files
	storeDevice string // physical disk below the store
	storeVolume string // block device that the store's file system lies on
	storeFstype string // kind of file system, where there is no device below it
	version     string
}

// fact is one fact of a process, its key below process.<pid>.
type fact struct{ key, value string }

func newWatched(id ID) *watched {
	pid := strconv.Itoa(id.Pid)
	return &watched{ID: id, pid: pid, dir: "proc/" + pid + "/"}
}

// series makes a series of this process.
func (w *watched) series(name string, pairs ...string) *model.Series {
	return model.NewSeries(name, append([]string{"process", w.name, "pid", w.pid}, pairs...)...)
}

// factPrefix begins the keys of all facts of this process.
func (w *watched) factPrefix() string { return "process." + w.pid + "." }

// table is the set of watched processes: written by the discovery, read by the
// others. None waits for another but in the first beat, in which all begin at
// once: there it is a short wait, or a short recording would lack what is read
// rarely.
type table struct {
	now    atomic.Pointer[[]*watched]
	first  chan struct{} // closed by the first publication, or when it has been waited for; nil: no waiting
	asked  sync.Once
	closed sync.Once
}

// firstWait is less than half of the shortest beat, after which a source is
// taken to hang.
const firstWait = 40 * time.Millisecond

func (t *table) publish(procs []*watched) {
	t.now.Store(&procs)
	t.goOn()
}

// goOn ends the wait.
func (t *table) goOn() {
	t.closed.Do(func() {
		if t.first != nil {
			close(t.first)
		}
	})
}

func (t *table) snapshot() []*watched {
	if t.now.Load() == nil && t.first != nil {
		t.asked.Do(func() { time.AfterFunc(firstWait, t.goOn) })
		<-t.first
	}
	if p := t.now.Load(); p != nil {
		return *p
	}
	return nil
}

// perProcess keeps a source's own state of each watched process.
type perProcess[T any] struct {
	states map[*watched]*T
}

// sync makes states for new processes and drops those of gone ones.
func (p *perProcess[T]) sync(procs []*watched, add func(*watched) *T, gone func(*watched)) {
	if p.states == nil {
		p.states = map[*watched]*T{}
	}
	live := make(map[*watched]bool, len(procs))
	for _, w := range procs {
		live[w] = true
		if p.states[w] == nil {
			p.states[w] = add(w)
		}
	}
	for w := range p.states {
		if live[w] {
			continue
		}
		delete(p.states, w)
		if gone != nil {
			gone(w)
		}
	}
}

// errNothingWatched is why a source of watched processes has nothing to give.
func errNothingWatched() error {
	return collectors.Absent("no broker process found on this host", "start the broker, or name a process to watch")
}
