package storage

import (
	"context"
	"errors"
	"log/slog"
	"os/exec"
	"sync"
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
	// Now is the clock. There is no default: whoever runs the store has one.
	Now func() time.Time
	// Logger takes what goes wrong; discarded by default.
	Logger *slog.Logger
	// Child makes the command that runs [RunChild]. Open adds the socket to its
	// ExtraFiles, as descriptor [ChildFD]. Unless it says otherwise, what it
	// writes to standard error is logged.
	Child func(ctx context.Context) *exec.Cmd

	spawn func() (*process, error) // instead of Child, in tests
}

// withDefaults fills in what is not set.
func (o Options) withDefaults() Options {
	o.Interval = orDefault(o.Interval, time.Second)
	o.Retention = orDefault(o.Retention, 48*time.Hour)
	o.RollupRetention = orDefault(o.RollupRetention, 30*24*time.Hour)
	o.MaxBytes = orDefault(o.MaxBytes, 2<<30)
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
//
// What is put in is not copied deeply: maps and slices of events, facts and
// findings must not be changed afterwards, nor those that come out.
type Store struct {
	opts     Options
	head     *head
	events   eventLog
	facts    history[string]
	coverage history[model.Coverage]
	findings findingSet
	states   sync.Map      // what this run has kept by name, []byte
	lastAt   atomic.Int64  // of the newest beat, milliseconds
	lost     atomic.Uint64 // beats that were not taken, or dropped before they were safe
	opened   time.Time

	client  *client // nil without a file
	outbox  outbox
	maxHead int64 // bytes, with a file

	mu       sync.Mutex
	since    known
	recalled bool // what an earlier run has left is here
}

// NewMemory makes a store without a file. It keeps everything it is given.
func NewMemory(o Options) *Store {
	o = o.withDefaults()
	return &Store{opts: o, head: newHead(o.Interval), opened: o.Now(), maxHead: headAtMost}
}

// Open starts the child process and makes a store over the file that it opens.
// The error is [ErrInUse], [ErrNewer], or says why the child cannot run. A disk
// that fails is none: service goes on in memory, the status says so, and the
// file is tried again.
func Open(ctx context.Context, o Options) (*Store, error) {
	s := NewMemory(o)
	if s.opts.Child == nil && s.opts.spawn == nil {
		return nil, errors.New("storage: no child command")
	}
	s.events.limit, s.findings.limit = maxEventBytes, maxFindings
	s.facts.limit, s.coverage.limit = maxVersions, maxVersions
	s.since = known{events: s.opened, states: s.opened, findings: s.opened}
	s.client = newClient(s.opts, s.head, &s.outbox, s.Event, s.recall)
	stop := context.AfterFunc(ctx, s.client.stop)
	l, p, err := s.client.connect()
	if !stop() {
		return nil, errors.Join(err, context.Cause(ctx))
	}
	if err != nil {
		var r *refused
		if !errors.As(err, &r) && !errors.Is(err, errChild) || r != nil && r.refusal.Fatal {
			return nil, err
		}
		s.client.down(err)
	} else {
		s.client.attach(l, p)
	}
	go s.client.run(l, p)
	if l != nil {
		s.recall()
	}
	return s, nil
}

// Append takes the samples of one beat. A beat that is not newer than the one
// before is dropped and counted, unless the clock has gone back by 5 s or more:
// then the beat is taken, and what was recorded as later is dropped.
func (s *Store) Append(b model.Batch) {
	before := s.lastAt.Load()
	switch s.head.append(b) {
	case beatRefused:
		s.lost.Add(1)
		return
	case beatStepped:
		s.clockWentBack(b.At)
	}
	s.lastAt.Store(b.At)
	if s.client == nil {
		return
	}
	s.client.poke()
	if spanStart(before) != spanStart(b.At) {
		s.trim()
	}
	if before != 0 && dayStart(before) != dayStart(b.At) {
		go s.tendFacts()
	}
}

// clockWentBack says so in an event.
func (s *Store) clockWentBack(to int64) {
	at := time.UnixMilli(to).UTC()
	was := time.UnixMilli(s.lastAt.Load()).UTC()
	s.selfEvent(at, at, "the clock went back from "+was.Format(time.RFC3339)+"; what was recorded after this time is replaced")
}

func (s *Store) selfEvent(from, to time.Time, text string) {
	s.Event(model.Event{From: from, To: to, Kind: model.EventSelf, Source: "storage", Text: text})
}

// Fact takes a new or changed fact.
func (s *Store) Fact(f model.Fact) {
	s.facts.put(f.Key, f.At, f.Value)
	s.post(note{Fact: &f})
}

// Event takes something that happened.
func (s *Store) Event(e model.Event) {
	s.events.put(e)
	s.post(note{Event: &e})
}

// Coverage takes the new state of the sources named in cs.
func (s *Store) Coverage(cs []model.Coverage) {
	for _, c := range cs {
		at := c.Since
		if last := time.UnixMilli(s.lastAt.Load()).UTC(); last.After(at) {
			at = last // only its detail has changed
		}
		s.coverage.put(c.Source, at, c)
		s.post(note{Coverage: &coverageNote{at, c}})
	}
}

// PutFinding adds a finding or replaces the one with the same ID. Evidence
// that is no number (NaN, infinite) is kept as unmeasured.
func (s *Store) PutFinding(f model.Finding) {
	f = finite(f)
	s.findings.put(f)
	s.post(note{Finding: &f})
}

// post hands a note to the child.
func (s *Store) post(n note) {
	if s.client == nil {
		return
	}
	b, err := n.encode()
	if err != nil {
		s.opts.Logger.Error("a note cannot be stored", "error", err)
		return
	}
	s.outbox.add(b)
	s.client.poke()
}

// Close hands over what is left, waits until it is on the disk, and ends the
// child, all as far as ctx allows. The store must not be used afterwards.
func (s *Store) Close(ctx context.Context) error {
	if s.client == nil {
		return nil
	}
	return s.client.close(ctx)
}
