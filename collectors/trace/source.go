package trace

import (
	"cmp"
	"strings"
	"sync"
	"time"

	"stallmark/collectors"
	"stallmark/collectors/burst"
	"stallmark/storage/model"
)

// Watched tells which watched process a thread belongs to. It is asked with the
// id of the process's first thread, which is the process's id too.
type Watched interface {
	Watched(tid int) (process string, pid int, ok bool)
}

// Config is what the source needs. Zero values get the defaults in brackets.
type Config struct {
	Open    Opener        // [OpenPerf on a live host]; nil on a recording
	Watched Watched       // nil: all waits are the host's
	Clock   func() uint64 // the records' clock [Monotonic]
	// Threshold of stalled time (or, without PSI, of time with blocked tasks) in
	// a second opens the tracepoints [30 ms].
	Threshold time.Duration
	Calm      time.Duration // they are closed after so long without pressure [30 s]
	Rate      int           // records a second that are looked at [20,000]
}

// retryAfter is the time between two attempts at what cannot be had.
const retryAfter = time.Minute

// Source is the source "tracepoints".
type Source struct {
	cfg   Config
	watch *burst.Watch

	mu    sync.Mutex // held by a collection, and to close
	ended bool

	known   *catalogue // of this kernel, nil until it is known that it can be used
	problem error      // why it cannot
	retry   time.Time  // not before

	reader   Reader // nil while closed
	opened   time.Time
	pressure time.Time // last seen
	drained  time.Time // last time
	closing  sync.WaitGroup

	ledger  *ledger
	tallies tallies
	longest longest
	names   names
	owners  map[int]owner // by process, for one beat
	dropped droppings
}

// New makes the source. It opens nothing yet.
func New(cfg Config) *Source {
	if cfg.Clock == nil {
		cfg.Clock = Monotonic
	}
	if cfg.Threshold <= 0 {
		cfg.Threshold = 30 * time.Millisecond
	}
	if cfg.Calm <= 0 {
		cfg.Calm = 30 * time.Second
	}
	if cfg.Rate <= 0 {
		cfg.Rate = 20_000
	}
	return &Source{
		cfg: cfg, watch: burst.NewWatch(cfg.Threshold, time.Second), ledger: newLedger(),
		owners: map[int]owner{}, dropped: newDroppings(),
	}
}

// Name implements [collectors.Source].
func (*Source) Name() string { return "tracepoints" }

// Provides implements [collectors.Source].
func (*Source) Provides() []string {
	return []string{"stallmark_wait_", "stallmark_waits_total", "stallmark_trace_"}
}

// Collect implements [collectors.Source]. It opens the tracepoints under
// pressure, reads them while they are open, and closes them after calm.
func (s *Source) Collect(root collectors.Root, out *collectors.Out) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.ended {
		return collectors.Absent("closed: the recorder is stopping", "")
	}
	at := out.At()
	if s.known == nil && !at.Before(s.retry) {
		s.learn(root, at)
	}
	var watchErr error
	measured := s.reader != nil // since the last beat
	if s.known != nil {
		watchErr = s.follow(root, at)
	}
	if measured {
		s.read(root, out)
	}
	s.tallies.keep(s.lives)
	s.tallies.emit(out, measured)
	s.dropped.emit(out)
	if s.reader != nil && at.Sub(s.pressure) >= s.cfg.Calm {
		s.close()
	}
	return s.coverage(at, watchErr)
}

// learn finds out whether the tracepoints could be opened, before it matters.
func (s *Source) learn(root collectors.Root, at time.Time) {
	s.retry = at.Add(retryAfter)
	if s.cfg.Open == nil {
		s.problem = collectors.Absent("no live kernel to trace", "")
		return
	}
	c, err := loadCatalogue(root)
	if err == nil {
		err = s.try(root, c)
	}
	if s.problem = err; err == nil {
		s.known = c
	}
}

// try opens one tracepoint on one CPU and closes it again.
func (s *Source) try(root collectors.Root, c *catalogue) error {
	cpus, err := onlineCPUs(root)
	if err != nil {
		return err
	}
	r, err := s.cfg.Open(c.probes[:1], cpus[:1])
	if err != nil {
		return openGap(root, err)
	}
	s.closeLater(r)
	return nil
}

// follow looks for pressure and opens the tracepoints if there is any.
func (s *Source) follow(root collectors.Root, at time.Time) error {
	_, pressed, err := s.watch.Look(root, at)
	if err != nil || !pressed {
		return err
	}
	s.pressure = at
	if s.reader != nil {
		return nil
	}
	cpus, err := onlineCPUs(root)
	if err == nil {
		s.reader, err = s.cfg.Open(s.known.probes, cpus)
	}
	if err != nil {
		s.known, s.reader, s.problem, s.retry = nil, nil, openGap(root, err), at.Add(retryAfter)
		return nil
	}
	s.opened, s.drained, s.dropped.any = at, at, true
	for _, w := range s.known.waits() {
		s.tallies.of(tallyKey{owner{process: hostName}, w})
	}
	return nil
}

// read drains the rings within the budget and counts the waits.
func (s *Source) read(root collectors.Root, out *collectors.Out) {
	now := s.cfg.Clock()
	upTo := now
	if !s.reader.Clocked() {
		upTo = 0
	}
	span := min(max(out.At().Sub(s.drained), 0), time.Second)
	s.drained = out.At()
	d := s.reader.Drain(int(float64(s.cfg.Rate)*span.Seconds()), s.note)
	clear(s.owners)
	s.names.reset(out.At())
	tell := func(w wait) { s.count(root, w) }
	s.ledger.pair(upTo, tell)
	if s.dropped.add(d, out.At()) {
		s.ledger.forget()
	} else if upTo > 0 {
		s.ledger.progress(upTo, tell)
	}
	wall := func(t uint64) (time.Time, bool) {
		return out.At().Add(-time.Duration(now - t)), upTo > 0 && t <= now
	}
	s.longest.emit(out, func(w wait) model.Event {
		return blockedEvent(w, s.processOf(root, w.pid), s.names.of(root, w.tid), out.At(), wall)
	})
}

// processOf is what to call a process: as it is watched, or by its command.
func (s *Source) processOf(root collectors.Root, pid int) string {
	if o := s.ownerOf(pid); o.pid != 0 {
		return o.process
	}
	return cmp.Or(s.names.of(root, pid), hostName)
}

// note reduces a record to a moment.
func (s *Source) note(r *Sample) {
	id, ok := r.typeOf()
	p := s.known.byID[id]
	if !ok || p == nil || r.Tid <= 0 { // idle, or a thread that is ending: it has no id any more
		return
	}
	m := moment{point: p, pid: r.Pid, tid: r.Tid, time: r.Time}
	if p.role == rolePause {
		ms, _ := s.known.pause.value(r.Raw)
		m.pause = time.Duration(min(ms, maxPause)) * time.Millisecond
	}
	s.ledger.note(m)
}

// maxPause is more than a pause can be, in ms: the kernel sleeps at most 200 ms
// at a time.
const maxPause = 60_000

// count adds a wait to its process, unless to wait is the thread's work.
func (s *Source) count(root collectors.Root, w wait) {
	o := s.ownerOf(w.pid)
	if o.pid == 0 && w.point.role != rolePause && isReclaimer(s.names.of(root, w.tid)) {
		return
	}
	s.tallies.of(tallyKey{o, w.point.wait}).add(w)
	s.longest.add(w)
}

// ownerOf is whose wait it is.
func (s *Source) ownerOf(pid int) owner {
	if o, ok := s.owners[pid]; ok {
		return o
	}
	o := owner{process: hostName}
	if s.cfg.Watched != nil {
		if name, p, ok := s.cfg.Watched.Watched(pid); ok {
			o = owner{name, p}
		}
	}
	s.owners[pid] = o
	return o
}

// lives reports whether a process is still watched.
func (s *Source) lives(o owner) bool {
	name, pid, ok := s.cfg.Watched.Watched(o.pid)
	return ok && name == o.process && pid == o.pid
}

// close gives the tracepoints back. Waits under way are given up.
func (s *Source) close() {
	s.closeLater(s.reader)
	s.reader = nil
	s.ledger.forget()
}

// closeLater closes beside the beat: it takes the kernel some 40 ms a
// tracepoint (measured: 250 ms for all).
func (s *Source) closeLater(r Reader) {
	s.closing.Go(r.Close)
}

// Close gives everything back and waits until that is done, some 250 ms. It
// waits for a collection that is under way; later ones give nothing.
func (s *Source) Close() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.ended = true
	if s.reader != nil {
		s.close()
	}
	s.closing.Wait()
}

// coverage says what could be seen in this beat.
func (s *Source) coverage(at time.Time, watchErr error) error {
	switch {
	case s.known == nil:
		return s.problem
	case watchErr != nil:
		return collectors.Partial("pressure cannot be read, so nothing is opened: "+watchErr.Error(), "")
	case s.dropped.lately(at):
		return collectors.Partial("more waits than could be read: they are undercounted by stallmark_trace_records_dropped_total", "")
	case len(s.known.missing) > 0:
		return collectors.Partial("this kernel does not have "+strings.Join(s.known.missing, ", "), "")
	case s.reader != nil:
		return &collectors.Gap{State: model.SourceOK, Detail: "open since " + s.opened.UTC().Format("15:04:05") + " UTC"}
	}
	return &collectors.Gap{State: model.SourceOK, Detail: "closed, to be opened under pressure"}
}
