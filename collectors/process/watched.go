package process

// Watched is the set of processes that the sources of this package watch, for
// sources of other packages. Discovery writes it; it may be read at any time. The
// first reader waits for it a little.
type Watched struct{ table table }

// NewWatched makes an empty set, to be given to [Sources] in [Config].
func NewWatched() *Watched { return &Watched{table{first: make(chan struct{})}} }

// Watched returns the name of the watched process with this id, and the id
// again; ok is false if it is not watched.
func (w *Watched) Watched(pid int) (process string, id int, ok bool) {
	for _, p := range w.table.snapshot() {
		if p.Pid == pid {
			return p.name, pid, true
		}
	}
	return "", 0, false
}

// Process is a watched process as sources of other packages need it.
type Process struct {
	ID
	Name  string // the label process
	Role  string
	Store string // the fact process.<pid>.store, empty while it is not known

	Logs   string // folder of its product's logs, empty if not known
	LogDir string // name of a RocketMQ broker's own folder there (isolateLogEnable), may hold *; empty if it has none
	GCLog  string // path of its GC log with the JVM's placeholders, empty if it has none
	NSPid  int    // its number in its own pid namespace, 0 if not known

	Container string // id of its container as Docker and Kubernetes name its cgroup, empty if it is in none
}

// Processes returns the watched processes of now, in the order in which they
// were found.
func (w *Watched) Processes() []Process {
	procs := w.table.snapshot()
	list := make([]Process, 0, len(procs))
	for _, p := range procs {
		store := p.store
		if l := p.learned.Load(); store == "" && l != nil {
			store = l.store
		}
		list = append(list, Process{
			ID: p.ID, Name: p.name, Role: p.role, Store: store,
			Logs: p.logs, LogDir: p.logDir, GCLog: p.gcLog, NSPid: p.nsPid, Container: p.box,
		})
	}
	return list
}
