package storage

import (
	"context"
	"log/slog"
	"math"
	"net"
	"path/filepath"
	"sync/atomic"
	"testing"
	"time"

	"github.com/prometheus/prometheus/model/labels"
	"github.com/prometheus/prometheus/tsdb/chunkenc"

	"stallmark/storage/model"
)

// testStore is a store whose child is a goroutine, so that the race detector
// sees both.
type testStore struct {
	*Store
	path string
	room *atomic.Bool // whether the disk has any
}

// openTest opens a store over path; it is closed at the end of the test.
func openTest(t testing.TB, path string, change ...func(*Options)) *testStore {
	t.Helper()
	o := Options{Path: path, Now: time.Now, Logger: slog.New(slog.NewTextHandler(t.Output(), &slog.HandlerOptions{Level: slog.LevelWarn}))}
	for _, f := range change {
		f(&o)
	}
	room := &atomic.Bool{}
	room.Store(true)
	o.spawn = func() (*process, error) { return inProcess(o, room) }
	s, err := Open(context.Background(), o)
	if err != nil {
		t.Fatal(err)
	}
	s.client.setCalm(0)
	ts := &testStore{s, path, room}
	t.Cleanup(func() { ts.shut(t) })
	return ts
}

// setCalm lets children be started again without waiting longer each time.
func (c *client) setCalm(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.calm = d
}

// killChild ends the child that is running, if there is one.
func (c *client) killChild() {
	c.mu.Lock()
	p := c.proc
	c.mu.Unlock()
	if p != nil {
		p.kill()
	}
}

// shut closes the store once.
func (s *testStore) shut(t testing.TB) {
	t.Helper()
	if s.Store == nil {
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
	defer cancel()
	if err := s.Close(ctx); err != nil {
		t.Errorf("close: %v", err)
	}
	s.Store = nil
}

// inProcess runs a child as a goroutine.
func inProcess(o Options, room *atomic.Bool) (*process, error) {
	o = o.withDefaults()
	parent, theirs, err := socketpair()
	if err != nil {
		return nil, err
	}
	conn, err := net.FileConn(theirs)
	if err != nil {
		return nil, err
	}
	theirs.Close()
	done := make(chan error, 1)
	cfg := childConfig{path: o.Path, now: o.Now, log: o.Logger, space: func(string) (int64, int64) {
		if room.Load() {
			return 1 << 40, 1 << 20
		}
		return 1 << 10, 1 << 20
	}}
	go func() { done <- serveChild(context.Background(), conn, cfg) }()
	return &process{conn: parent, kill: func() { conn.Close() }, wait: func() error { return <-done }}, nil
}

// drain waits until all has been confirmed and synced.
func (c *client) drain(ctx context.Context) error {
	if err := c.confirmed(ctx); err != nil {
		return err
	}
	l := c.current()
	if l == nil {
		return errChild
	}
	return l.ask(ctx, question{Topic: askSync, Timeout: answerWait}, 0, nil)
}

// drained waits until everything has been confirmed.
func (s *testStore) drained(t testing.TB) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
	defer cancel()
	if err := s.client.drain(ctx); err != nil {
		t.Fatal(err)
	}
}

func dbPath(t testing.TB) string { return filepath.Join(t.TempDir(), "data", "stallmark.db") }

// sample is one sample as it comes out of a querier.
type sample struct {
	t int64
	v uint64 // bits
}

// selectAll reads all samples of the series that match the name and labels.
func selectAll(t testing.TB, s *Store, mint, maxt int64, pairs ...string) map[string][]sample {
	t.Helper()
	var ms []*labels.Matcher
	for i := 0; i+1 < len(pairs); i += 2 {
		ms = append(ms, labels.MustNewMatcher(labels.MatchRegexp, pairs[i], pairs[i+1]))
	}
	return selectMatching(t, s, mint, maxt, ms)
}

func selectMatching(t testing.TB, s *Store, mint, maxt int64, ms []*labels.Matcher) map[string][]sample {
	t.Helper()
	out, warnings := selectWarned(t, s, mint, maxt, ms)
	for _, w := range warnings {
		t.Errorf("warning: %v", w)
	}
	return out
}

// selectWarned returns the warnings as well.
func selectWarned(t testing.TB, s *Store, mint, maxt int64, ms []*labels.Matcher) (map[string][]sample, []error) {
	t.Helper()
	q, err := s.Querier(mint, maxt)
	if err != nil {
		t.Fatal(err)
	}
	defer q.Close()
	out := map[string][]sample{}
	set := q.Select(context.Background(), true, nil, ms...)
	var it chunkenc.Iterator
	for set.Next() {
		series := set.At()
		it = series.Iterator(it)
		var samples []sample
		for it.Next() == chunkenc.ValFloat {
			at, v := it.At()
			samples = append(samples, sample{at, math.Float64bits(v)})
		}
		if it.Err() != nil {
			t.Fatal(it.Err())
		}
		if out[series.Labels().String()] != nil {
			t.Fatalf("series %s comes twice", series.Labels())
		}
		out[series.Labels().String()] = samples
	}
	if set.Err() != nil {
		t.Fatal(set.Err())
	}
	return out, set.Warnings().AsErrors()
}

// beatOf makes a batch of alternating names and values.
func beatOf(at int64, series []*model.Series, vals ...float64) model.Batch {
	b := model.Batch{At: at}
	for i, v := range vals {
		b.Samples = append(b.Samples, model.Sample{Series: series[i], Value: v})
	}
	return b
}
