package burst

import (
	"sync"
	"time"

	"stallmark/collectors"
	"stallmark/storage/model"
)

// PrerollFiles are the files that a [Ring] usually keeps: together they say
// whether memory, the disk or neither was short. Reading them takes 75 us of
// CPU and 5.4 kB, but a timer that wakes a sleeping process costs another 100 us,
// and cold caches as much again (measured on a 2-CPU VM under load,
// BenchmarkTrigger): every 250 ms on top of the watch 0.04 % of a CPU, every
// 100 ms 0.3 %.
func PrerollFiles() []string {
	return []string{"proc/vmstat", "proc/diskstats", "proc/pressure/io", "proc/pressure/memory"}
}

// Ring keeps the newest readings of a few files in memory as the kernel gave
// them, bounded by age and by bytes.
type Ring struct {
	names []string
	keep  time.Duration
	bytes int
	buf   []byte // of one file, for Take alone

	mu    sync.Mutex
	ticks []*tick // oldest first
	held  int     // bytes of all ticks
	spare *tick   // to be filled next
}

// tick is one reading: the files' contents one after the other.
type tick struct {
	at   time.Time
	data []byte
	ends []int // of each file; one that could not be read has no bytes
}

// NewRing makes a ring of the named files, at most keep old and bytes large.
func NewRing(names []string, keep time.Duration, bytes int) *Ring {
	return &Ring{names: names, keep: keep, bytes: bytes}
}

// Take adds a reading as of at and drops what is too old or too much. Files that
// cannot be read are left out. One goroutine may take; others may replay.
func (r *Ring) Take(root collectors.Root, at time.Time) {
	t := r.spare
	if t == nil {
		t = &tick{}
	}
	t.at, t.data, t.ends = at, t.data[:0], t.ends[:0]
	for _, name := range r.names {
		if data, err := root.Read(name, r.buf); err == nil {
			r.buf = data
			t.data = append(t.data, data...)
		}
		t.ends = append(t.ends, len(t.data))
	}
	r.spare = r.push(t)
}

// push adds a tick and returns one that is no longer needed, if there is one.
func (r *Ring) push(t *tick) (dropped *tick) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.ticks = append(r.ticks, t)
	r.held += t.size()
	old := 0
	for old < len(r.ticks)-1 && (r.held > r.bytes || t.at.Sub(r.ticks[old].at) > r.keep) {
		dropped = r.ticks[old]
		r.held -= dropped.size()
		old++
	}
	if old > 0 {
		n := copy(r.ticks, r.ticks[old:])
		clear(r.ticks[n:])
		r.ticks = r.ticks[:n]
	}
	return dropped
}

// size is what a tick takes in memory, nearly.
func (t *tick) size() int { return cap(t.data) + 8*cap(t.ends) }

// Held is how much the ring holds: readings, bytes, and the time of the oldest.
func (r *Ring) Held() (ticks, bytes int, oldest time.Time) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if len(r.ticks) > 0 {
		oldest = r.ticks[0].at
	}
	return len(r.ticks), r.held, oldest
}

// Tick is one reading as a host of its own: only the ring's files are there.
type Tick struct {
	At   time.Time
	Root collectors.Root
}

// Ticks copies the readings after from, oldest first.
func (r *Ring) Ticks(from time.Time) []Tick {
	r.mu.Lock()
	defer r.mu.Unlock()
	var all []Tick
	for _, t := range r.ticks {
		if t.at.After(from) {
			all = append(all, Tick{t.at, r.root(t)})
		}
	}
	return all
}

// root copies a tick's files.
func (r *Ring) root(t *tick) collectors.Root {
	files := make(map[string][]byte, len(r.names))
	start := 0
	for i, name := range r.names {
		if end := t.ends[i]; end > start {
			files[name] = append([]byte(nil), t.data[start:end]...)
			start = end
		}
	}
	return &collectors.MapRoot{Files: files}
}

// Replay has the sources read the ticks after from and before to and hands the
// samples to the sink, a batch a tick, oldest first; it returns how many batches
// there were. Facts, events and coverage are left out: those of the present beat
// hold.
//
// The sources must be instances of their own, reading nothing but the ring's
// files. A sink that takes only batches in order, as the store does, must be
// given its newest beat as from, and as to the beat that comes next. Beats have
// whole milliseconds, and so are the bounds.
func (r *Ring) Replay(sources []collectors.Source, sink collectors.Sink, from, to time.Time) int {
	outs := make([]*collectors.Out, len(sources))
	for i, s := range sources {
		outs[i] = collectors.NewOut(s.Name())
	}
	n := 0
	last := from.UnixMilli()
	var samples []model.Sample
	for _, t := range r.Ticks(from) {
		at := t.At.UnixMilli()
		if at <= last || at >= to.UnixMilli() {
			continue
		}
		samples = samples[:0]
		for i, s := range sources {
			outs[i].Reset(t.At)
			_ = s.Collect(t.Root, outs[i]) // what it read is kept; the live source says what is missing
			samples = append(samples, outs[i].Samples()...)
		}
		if len(samples) > 0 {
			sink.Append(model.Batch{At: at, Samples: samples})
			last = at
			n++
		}
	}
	return n
}
