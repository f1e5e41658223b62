package storage

import (
	"context"
	"log/slog"
	"os/exec"
	"sync/atomic"
	"time"

	"stallmark/storage/model"
)

// Options say where and how much to keep. The zero value of a field means its
// default.
type Options struct {
	// Path is the bbolt file. Its journals lie beside it.
	Path string
	// Interval is the length of a beat; 1 s by default.
	Interval time.Duration
	// Retention is the age up to which every sample is kept; 48 h by default.
	Retention time.Duration
	// RollupRetention is the age up to which one-minute rollups are kept; 30
	// days by default.
	RollupRetention time.Duration
	// MaxBytes bounds the file; 2 GiB by default. The oldest samples go first.
	MaxBytes int64
	// Now is the clock; time.Now by default.
	Now func() time.Time
	// Logger takes what goes wrong; discarded by default.
	Logger *slog.Logger
	// Child makes the command that runs [RunChild]. Open adds the socket to its
	// ExtraFiles, as descriptor [ChildFD].
	Child func(ctx context.Context) *exec.Cmd
}

// withDefaults fills in what is not set.
func (o Options) withDefaults() Options {
	o.Interval = orDefault(o.Interval, time.Second)
	o.Retention = orDefault(o.Retention, 48*time.Hour)
	o.RollupRetention = orDefault(o.RollupRetention, 30*24*time.Hour)
	o.MaxBytes = orDefault(o.MaxBytes, 2<<30)
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	return o
}

func orDefault[T int64 | time.Duration](v, def T) T {
	if v > 0 {
		return v
	}
	return def
}

// Store keeps samples, events, facts, coverage and findings. It is safe for
// concurrent use. Nothing it takes in waits for a disk or for a reader.
type Store struct {
	opts     Options
	head     *head
	events   eventLog
	facts    history[string]
	coverage history[model.Coverage]
	findings findingSet
	lastAt   atomic.Int64  // of the newest beat, milliseconds
	lost     atomic.Uint64 // beats that were not taken
}

// NewMemory makes a store without a file. It keeps everything it is given.
func NewMemory(o Options) *Store {
	o = o.withDefaults()
	return &Store{opts: o, head: newHead(o.Interval)}
}

// Append takes the samples of one beat. A beat that is not newer than the one
// before is dropped and counted, unless the clock has gone back by 5 s or more:
// then the beat is taken, and what was recorded as later is dropped.
func (s *Store) Append(b model.Batch) {
	switch s.head.append(b) {
	case beatRefused:
		s.lost.Add(1)
		return
	case beatStepped:
		s.clockWentBack(b.At)
	}
	s.lastAt.Store(b.At)
}

// clockWentBack says so in an event.
func (s *Store) clockWentBack(to int64) {
	at := time.UnixMilli(to).UTC()
	was := time.UnixMilli(s.lastAt.Load()).UTC()
	s.Event(model.Event{
		From: at, To: at, Kind: model.EventSelf, Source: "storage",
		Text: "the clock went back from " + was.Format(time.RFC3339) + "; what was recorded after this time has been dropped",
	})
}

// Fact takes a new or changed fact.
func (s *Store) Fact(f model.Fact) { s.facts.put(f.Key, f.At, f.Value) }

// Event takes something that happened.
func (s *Store) Event(e model.Event) { s.events.put(e) }

// Coverage takes the new state of the sources named in cs.
func (s *Store) Coverage(cs []model.Coverage) {
	for _, c := range cs {
		at := c.Since
		if last := time.UnixMilli(s.lastAt.Load()).UTC(); last.After(at) {
			at = last // only its detail has changed
		}
		s.coverage.put(c.Source, at, c)
	}
}

// PutFinding adds a finding or replaces the one with the same ID.
func (s *Store) PutFinding(f model.Finding) { s.findings.put(f) }

// EventsIn lists the events that overlap [from, to], oldest first; all kinds
// if none is named.
func (s *Store) EventsIn(_ context.Context, from, to time.Time, kinds ...model.EventKind) ([]model.Event, error) {
	return s.events.in(from, to, kinds), nil
}

// FactsAt is the latest value of every fact that was stated at or before at,
// by key.
func (s *Store) FactsAt(_ context.Context, at time.Time) (map[string]model.Fact, error) {
	out := map[string]model.Fact{}
	s.facts.at(at, func(key string, since time.Time, value string) {
		out[key] = model.Fact{At: since, Key: key, Value: value}
	})
	return out, nil
}

// CoverageAt is the state of every source as it was at that time, by name.
func (s *Store) CoverageAt(_ context.Context, at time.Time) ([]model.Coverage, error) {
	var out []model.Coverage
	s.coverage.at(at, func(_ string, _ time.Time, c model.Coverage) { out = append(out, c) })
	sortCoverage(out)
	return out, nil
}

// FindingsIn lists the findings that overlap [from, to], those still firing
// included, in the order of their start.
func (s *Store) FindingsIn(_ context.Context, from, to time.Time) ([]model.Finding, error) {
	return s.findings.in(from, to), nil
}

// Finding is the finding with that ID; false if there is none.
func (s *Store) Finding(_ context.Context, id string) (model.Finding, bool, error) {
	f, ok := s.findings.get(id)
	return f, ok, nil
}

// Extent is the time of the oldest and the newest sample; zero times if there
// are none.
func (s *Store) Extent(context.Context) (oldest, newest time.Time) {
	from, to, ok := s.head.extent()
	if !ok {
		return time.Time{}, time.Time{}
	}
	return time.UnixMilli(from).UTC(), time.UnixMilli(to).UTC()
}

// Close ends the store.
func (s *Store) Close(context.Context) error { return nil }
