package main

import (
	"context"
	"fmt"
	"log/slog"
	"testing"
	"testing/synctest"
	"time"

	"github.com/prometheus/prometheus/model/labels"
	"github.com/prometheus/prometheus/tsdb/chunkenc"

	"stallmark/collectors"
	"stallmark/collectors/burst"
	"stallmark/storage"
	"stallmark/storage/model"
)

// stalledHost is a host whose tasks wait for I/O from one moment on.
type stalledHost struct {
	*collectors.MapRoot
	from  time.Time
	share float64 // of the time since then
}

func (h *stalledHost) Read(name string, buf []byte) ([]byte, error) {
	stalled := max(time.Since(h.from), 0).Seconds() * h.share
	switch name {
	case "proc/pressure/io", "proc/pressure/memory":
		if name == "proc/pressure/memory" {
			stalled = 0
		}
		return fmt.Appendf(buf[:0], "some avg10=0.00 avg60=0.00 avg300=0.00 total=%d\nfull avg10=0.00 avg60=0.00 avg300=0.00 total=0\n", int64(stalled*1e6)), nil
	case "proc/vmstat":
		return fmt.Appendf(buf[:0], "nr_dirty %d\n", time.Since(h.from).Milliseconds()+100_000), nil
	}
	return h.MapRoot.Read(name, buf)
}

// samplesIn counts the samples of a metric in [from, to).
func samplesIn(t *testing.T, s *storage.Store, metric string, from, to time.Time) (n int) {
	t.Helper()
	q, err := s.Querier(from.UnixMilli(), to.UnixMilli()-1)
	if err != nil {
		t.Fatal(err)
	}
	defer q.Close()
	set := q.Select(context.Background(), false, nil, labels.MustNewMatcher(labels.MatchEqual, "__name__", metric))
	for set.Next() {
		for it := set.At().Iterator(nil); it.Next() != chunkenc.ValNone; {
			n++
		}
	}
	return n
}

func TestFlightRecorder(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		<-time.After(100 * time.Microsecond) // synctest's clock: beats fall on its whole seconds, the watch beside them
		began := time.Now().Truncate(time.Second)
		host := &stalledHost{&collectors.MapRoot{}, began.Add(20*time.Second + 300*time.Millisecond), 0.9}
		store := storage.NewMemory(storage.Options{Interval: time.Second, Now: time.Now})
		o := newOptions()
		o.paths.Procfs = "" // without the kernel's triggers
		m := machine{pageSize: 4096, clockTicks: 100}
		f := newFlight(flightConfig{
			o, m, host, time.Now, store, func() time.Duration { return 0 }, slog.New(slog.DiscardHandler),
		})
		sampler, err := collectors.New(collectors.Config{
			Root: host, Sources: append(m.sources(), f.burst), Sink: f.sink, Interval: time.Second, Now: time.Now,
		})
		if err != nil {
			t.Fatal(err)
		}
		f.sampler = sampler
		ctx, cancel := context.WithTimeout(t.Context(), 200*time.Second)
		defer cancel()
		done := make(chan bool)
		go func() { f.run(ctx); close(done) }()
		if err := sampler.Run(ctx); err != context.DeadlineExceeded {
			t.Errorf("sampler: %v", err)
		}
		<-done
		synctest.Wait()

		second := func(n int) time.Time { return began.Add(time.Duration(n) * time.Second) }
		for _, c := range []struct {
			second int
			metric string
			want   int
		}{
			{10, "node_vmstat_nr_dirty", 1},
			{20, "node_vmstat_nr_dirty", 7}, // one beat, pre-roll at .25 and .5, and from .6 on the burst
			{20, "stallmark_burst_active", 5},
			{30, "node_vmstat_nr_dirty", 10},
			{150, "node_vmstat_nr_dirty", 1},
		} {
			if got := samplesIn(t, store, c.metric, second(c.second), second(c.second+1)); got != c.want {
				t.Errorf("%s in second %d: %d samples, want %d", c.metric, c.second, got, c.want)
			}
		}
		if s := f.burst.Status(); s.Bursts != 1 || s.Active {
			t.Errorf("status %+v", s)
		}
		if lost := store.Status().LostBeats; lost != 0 {
			t.Errorf("%d beats were refused: the pre-roll came out of order", lost)
		}
		events, err := store.EventsIn(ctx, began, second(200), model.EventSelf)
		if err != nil || len(events) != 2 {
			t.Errorf("events %v, %v; want the beginning and the end of the burst", events, err)
		}
	})
}

func TestPrerollIsForTheFirstBeatOnly(t *testing.T) {
	ring := burst.NewRing([]string{"proc/vmstat"}, time.Minute, 1<<20)
	root := &collectors.MapRoot{Files: map[string][]byte{"proc/vmstat": []byte("nr_dirty 5\n")}}
	store := storage.NewMemory(storage.Options{Interval: time.Second, Now: time.Now})
	s := &prerollSink{Sink: store, ring: ring, sources: prerollSources(machine{pageSize: 4096, clockTicks: 100})}
	series := model.NewSeries("x")
	beat := func(ms int) {
		s.Append(model.Batch{At: epoch.UnixMilli() + int64(ms), Samples: []model.Sample{{Series: series, Value: 1}}})
	}
	take := func(ms int) { ring.Take(root, epoch.Add(time.Duration(ms)*time.Millisecond)) }
	s.wanted.Store(true)
	take(-500)
	beat(0) // the very first: there is no beat before
	take(250)
	take(500)
	take(1100) // after the beat that comes next
	beat(1000)
	s.wanted.Store(true)
	take(1500)
	beat(2000)
	take(2500)
	beat(3000)
	if n := samplesIn(t, store, "node_vmstat_nr_dirty", epoch.Add(-time.Minute), epoch.Add(time.Minute)); n != 2 {
		t.Errorf("%d readings, want the two between the second beat and the third", n)
	}
	if lost := store.Status().LostBeats; lost != 0 {
		t.Errorf("%d beats lost", lost)
	}
	if n := s.samples.Load(); n != 4 {
		t.Errorf("%d samples counted, want 4", n)
	}
}
