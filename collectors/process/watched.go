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
