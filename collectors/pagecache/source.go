package pagecache

import (
	"errors"
	"io/fs"
	"sync"
	"time"

	"stallmark/collectors"
	"stallmark/collectors/process"
	"stallmark/storage/model"
)

const (
	alertEvery = 5 * time.Second
	hangsAfter = 10 * time.Second // without an answer of a slice
	// patience is for how many seconds' budget one file may be asked about.
	patience = 50
	// share is what part of the time all this may take on average, one in so
	// many: files that a pass has no time for come first in the next one, and the
	// next one comes later if there is much to list.
	share = 100
)

// Source is the source "pagecache".
type Source struct {
	cfg    Config
	files  opener
	looker looker // belongs to the slice under way, if there is one

	mu      sync.Mutex // of brokers, against Snapshot
	brokers map[process.ID]*broker

	pass    *pass // nil between passes
	slice   chan struct{}
	running time.Time // when the slice under way began, zero if none
	next    time.Time // pass, not before
	begun   time.Time // the last pass
	allowed time.Duration
	last    time.Time // beat
	gaps    gaps      // of the last pass that was finished
	passing gaps      // of the one under way
	passes  int       // finished
	worked  time.Duration
	busy    *model.Series
	unfit   error // why no file may be opened on this host
	checked bool
}

// New makes the source. It opens nothing yet.
func New(cfg Config) *Source {
	var files opener
	if cfg.Files != nil {
		files = live{cfg.Files, int64(cfg.PageSize)}
	}
	return newSource(cfg, files)
}

func newSource(cfg Config, files opener) *Source {
	cfg.setDefaults()
	return &Source{
		cfg: cfg, files: files, brokers: map[process.ID]*broker{}, slice: make(chan struct{}, 1),
		looker: looker{page: int64(cfg.PageSize), now: cfg.Now, patience: patience * cfg.Budget},
		busy:   model.NewSeries("stallmark_pagecache_looking_seconds_total"),
	}
}

// Name implements [collectors.Source].
func (*Source) Name() string { return "pagecache" }

// Provides implements [collectors.Source].
func (*Source) Provides() []string { return []string{"stallmark_pagecache_"} }

// Collect implements [collectors.Source]. It takes what the slice begun in an
// earlier beat has found, begins the next one and does not wait for it.
func (s *Source) Collect(root collectors.Root, out *collectors.Out) error {
	if s.files == nil {
		return collectors.Absent("the page cache is the running host's: a recording does not hold it", "")
	}
	if !s.checked {
		s.unfit, s.checked = measured(root), true
	}
	if s.unfit != nil {
		return s.unfit
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	at := out.At()
	s.take(out)
	s.earn(at)
	s.follow()
	if s.hangs(at) {
		return &collectors.Gap{
			State: model.SourceFailed, Detail: "no answer about a broker's files since " + s.running.UTC().Format("15:04:05") + " UTC",
			Mend: "see which disk or file server under the store does not answer",
		}
	}
	s.goOn(at)
	s.emit(out)
	return s.coverage()
}

// earn adds the budget of the time since the last beat.
func (s *Source) earn(at time.Time) {
	span := min(max(at.Sub(s.last), 0), time.Second)
	s.last = at
	s.allowed = min(s.allowed+time.Duration(float64(s.cfg.Budget)*span.Seconds()), s.cfg.Budget)
}

func (s *Source) hangs(at time.Time) bool {
	return !s.running.IsZero() && at.Sub(s.running) >= hangsAfter
}

// goOn begins a pass if it is time, and the next slice of one.
func (s *Source) goOn(at time.Time) {
	if !s.running.IsZero() {
		return
	}
	if s.pass == nil && s.due(at) {
		s.begin(at)
	}
	if s.pass == nil || s.allowed <= 0 {
		return
	}
	s.running = at
	p, allowed := s.pass, s.allowed
	go func() {
		p.work(s.files, &s.looker, allowed)
		s.slice <- struct{}{}
	}()
}

// due reports whether it is time for a pass: after a while, or for a broker that
// was never looked at.
func (s *Source) due(at time.Time) bool {
	if len(s.brokers) == 0 {
		return false
	}
	for _, b := range s.brokers {
		if !b.passed {
			return true
		}
	}
	return !at.Before(s.next) || s.cfg.Alert() && at.Sub(s.begun) >= alertEvery
}

// follow takes up new brokers and drops those that are gone.
func (s *Source) follow() {
	seen := make(map[process.ID]bool, len(s.brokers))
	for _, now := range s.cfg.Brokers() {
		seen[now.ID] = true
		b := s.brokers[now.ID]
		if b == nil || b.Store != now.Store {
			b = newBroker(now)
			s.brokers[now.ID] = b
		}
		b.Broker = now
	}
	for id := range s.brokers {
		if !seen[id] {
			delete(s.brokers, id)
		}
	}
}

// begin starts a pass over the brokers of now.
func (s *Source) begin(at time.Time) {
	s.begun, s.next = at, at.Add(s.cfg.Every)
	s.pass, s.passing = &pass{}, gaps{}
	for _, b := range s.brokers {
		b.passed = true
		if l := newListing(b.Broker); len(l.todo) > 0 {
			s.pass.lists = append(s.pass.lists, l)
		} else {
			s.passing.add(model.SourcePartial, mendOpen, "where %s has its data is not known", b.Process)
		}
	}
}

// take takes over what the last slice found.
func (s *Source) take(out *collectors.Out) {
	select {
	case <-s.slice:
	default:
		return
	}
	s.running = time.Time{}
	p := s.pass
	s.allowed -= p.spent
	s.worked += p.spent
	if p.total += p.spent; p.planned {
		p.looked += p.spent
	}
	at := clock{int64(s.cfg.PageSize), out.At(), s.cfg.Recent}
	for _, l := range p.done {
		s.takeListing(l, out)
	}
	for _, l := range p.looks {
		s.takeLook(l, at)
	}
	p.done, p.looks = nil, nil
	for _, b := range s.brokers {
		b.sum(at)
	}
	if len(p.lists) > 0 || len(p.jobs) > 0 && p.looked < s.cfg.Every/share {
		return
	}
	if p.planned {
		for _, b := range s.brokers {
			b.noteCold(out)
		}
		s.finish()
		return
	}
	p.planned = true
	p.jobs = s.plan()
}

func (s *Source) plan() []job {
	var all []candidate
	for _, b := range s.brokers {
		all = append(all, b.candidates()...)
	}
	return choose(all, limits{s.cfg.MaxFiles, s.cfg.MaxBytes})
}

// finish ends a pass.
func (s *Source) finish() {
	s.passing.ofKernel(&s.looker)
	if next := s.begun.Add(share * s.pass.total); next.After(s.next) {
		s.next = next
	}
	s.gaps, s.passing, s.pass = s.passing, gaps{}, nil
	s.passes++
}

func (s *Source) takeListing(l *listing, out *collectors.Out) {
	b := s.brokers[l.broker.ID]
	if b == nil {
		return
	}
	if errors.Is(l.err, fs.ErrNotExist) {
		s.passing.add(model.SourceAbsent, "", "the store of %s is not there (yet)", b.Process)
	}
	s.passing.of(b.Process, l.err)
	if !l.whole && l.err == nil {
		s.passing.add(model.SourcePartial, "", "%s has more data files than are looked at: some are left out", b.Process)
	}
	lost := b.update(l)
	b.note(lost, out)
}

func (s *Source) takeLook(l look, at clock) {
	b := s.brokers[l.job.id]
	if b == nil {
		return
	}
	s.passing.of(b.Process, l.err)
	b.take(l, at)
	s.passing.got = s.passing.got || l.err == nil
}

func (s *Source) emit(out *collectors.Out) {
	page := int64(s.cfg.PageSize)
	for _, id := range sortedKeys(s.brokers, compareIDs) {
		s.brokers[id].emit(out, page)
	}
	out.Add(s.busy, s.worked.Seconds())
}

// coverage says what could be seen in the last pass, or so far in the first.
func (s *Source) coverage() error {
	switch {
	case len(s.brokers) == 0:
		return collectors.Absent("no broker process found on this host", "start the broker, or name a process to watch")
	case s.passes == 0:
		return collectors.Partial("the first look is under way", "")
	}
	return s.gaps.err()
}
