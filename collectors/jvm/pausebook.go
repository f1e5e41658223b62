package jvm

import (
	"sync"
	"time"
)

// PauseBook joins what a JVM's GC log and its own counters say of the same pauses:
// one pause is one event, the log's, and the counters check it. Its methods may be
// called by several goroutines, and on nil, which knows nothing.
type PauseBook struct {
	mu   sync.Mutex
	jvms map[string]*pauses // by pid
}

// Witnessed is a pause as one of the two saw it; its begin is known to within Slack.
type Witnessed struct {
	From, To time.Time
	Slack    time.Duration
}

// pauses are the newest of one JVM, as its log and its counters have them.
type pauses struct{ logged, counted []Witnessed }

const (
	maxBooked = 64  // pauses of one JVM
	maxJVMs   = 256 // that are remembered
)

// NewPauseBook makes an empty book.
func NewPauseBook() *PauseBook { return &PauseBook{jvms: map[string]*pauses{}} }

// Follow tells that the GC log of a process is followed: its pauses will be logged.
func (b *PauseBook) Follow(pid string) {
	if b == nil || pid == "" {
		return
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.jvms[pid] == nil && len(b.jvms) < maxJVMs {
		b.jvms[pid] = &pauses{}
	}
}

// Leave forgets a process.
func (b *PauseBook) Leave(pid string) {
	if b == nil {
		return
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	delete(b.jvms, pid)
}

// Followed reports whether the GC log of a process is followed.
func (b *PauseBook) Followed(pid string) bool {
	if b == nil {
		return false
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.jvms[pid] != nil
}

// Logged notes a pause that the log has, and gives what the counters said of it.
func (b *PauseBook) Logged(pid string, w Witnessed) (counted Witnessed, ok bool) {
	return b.join(pid, w, func(p *pauses) (mine, theirs *[]Witnessed) { return &p.logged, &p.counted })
}

// Counted notes a pause that the counters have, and gives what the log said of it.
func (b *PauseBook) Counted(pid string, w Witnessed) (logged Witnessed, ok bool) {
	return b.join(pid, w, func(p *pauses) (mine, theirs *[]Witnessed) { return &p.counted, &p.logged })
}

// join keeps w on its side, once, and looks for the nearest on the other.
func (b *PauseBook) join(pid string, w Witnessed, sides func(*pauses) (mine, theirs *[]Witnessed)) (Witnessed, bool) {
	if b == nil || w.From.IsZero() {
		return Witnessed{}, false
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	p := b.jvms[pid]
	if p == nil {
		return Witnessed{}, false
	}
	mine, theirs := sides(p)
	if n := len(*mine); n == 0 || (*mine)[n-1] != w {
		if n >= maxBooked {
			*mine = append((*mine)[:0], (*mine)[1:]...)
		}
		*mine = append(*mine, w)
	}
	return w.nearest(*theirs)
}

// nearest is the sighting that begins nearest to w, of those that can be of the
// same pause.
func (w Witnessed) nearest(all []Witnessed) (found Witnessed, ok bool) {
	for _, o := range all {
		if w.same(o) && (!ok || o.From.Sub(w.From).Abs() < found.From.Sub(w.From).Abs()) {
			found, ok = o, true
		}
	}
	return found, ok
}

// same reports whether two sightings can be of one pause: they overlap, but for how
// far the two clocks may be apart.
func (w Witnessed) same(o Witnessed) bool {
	slack := w.Slack + o.Slack
	return !w.From.After(o.To.Add(slack)) && !o.From.After(w.To.Add(slack))
}
