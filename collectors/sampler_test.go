package collectors

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"stallmark/storage/model"
)

// fakeSource calls collect and counts.
type fakeSource struct {
	name    string
	collect func(*Out) error
}

func (f *fakeSource) Name() string                   { return f.name }
func (f *fakeSource) Provides() []string             { return []string{"test_" + f.name} }
func (f *fakeSource) Collect(_ Root, out *Out) error { return f.collect(out) }

// sinkRecord keeps everything it gets.
type sinkRecord struct {
	batches  []model.Batch
	facts    []model.Fact
	events   []model.Event
	coverage []model.Coverage
}

func (s *sinkRecord) Append(b model.Batch) {
	s.batches = append(s.batches, model.Batch{At: b.At, Samples: slices.Clone(b.Samples)})
}
func (s *sinkRecord) Fact(f model.Fact)             { s.facts = append(s.facts, f) }
func (s *sinkRecord) Event(e model.Event)           { s.events = append(s.events, e) }
func (s *sinkRecord) Coverage(c []model.Coverage)   { s.coverage = append(s.coverage, c...) }
func (s *sinkRecord) values(name string) []float64  { return valuesOf(s.batches, name) }
func (s *sinkRecord) lastCoverage() *model.Coverage { return &s.coverage[len(s.coverage)-1] }

func valuesOf(batches []model.Batch, name string) []float64 {
	var vs []float64
	for _, b := range batches {
		for _, s := range b.Samples {
			if s.Series.Name == name {
				vs = append(vs, s.Value)
			}
		}
	}
	return vs
}

// counting is a source with one counter.
func counting(name string) *fakeSource {
	s, n := model.NewSeries("test_"+name), 0.0
	return &fakeSource{name, func(out *Out) error {
		n++
		out.Add(s, n)
		return nil
	}}
}

func newSampler(t *testing.T, sink Sink, interval time.Duration, sources ...Source) *Sampler {
	t.Helper()
	s, err := New(Config{Sources: sources, Sink: sink, Interval: interval, Now: time.Now})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func TestSamplerKeepsTheBeat(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		sink := &sinkRecord{}
		s := newSampler(t, sink, time.Second, counting("a"))
		ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second+time.Millisecond)
		defer cancel()
		if err := s.Run(ctx); !errors.Is(err, context.DeadlineExceeded) {
			t.Fatalf("Run: %v", err)
		}
		synctest.Wait()
		if got := sink.values("test_a"); len(got) != 10 || got[9] != 10 {
			t.Errorf("values %v, want 1..10", got)
		}
		for _, b := range sink.batches {
			if b.At%1000 != 0 {
				t.Errorf("beat at %d ms, want a multiple of the interval", b.At)
			}
		}
	})
}

func TestSamplerSkipsASourceThatHangs(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		sink := &sinkRecord{}
		release := make(chan struct{})
		series, calls := model.NewSeries("test_slow"), 0
		slow := &fakeSource{"slow", func(out *Out) error {
			calls++
			if calls == 3 {
				<-release
			}
			out.Add(series, float64(calls))
			return nil
		}}
		s := newSampler(t, sink, time.Second, slow, counting("good"))
		ctx, cancel := context.WithTimeout(t.Context(), 12*time.Second+time.Millisecond)
		defer cancel()
		time.AfterFunc(8*time.Second+100*time.Millisecond, func() { close(release) })
		_ = s.Run(ctx)
		synctest.Wait()

		if got := sink.values("test_good"); len(got) != 12 {
			t.Errorf("the other source gave %d values, want 12", len(got))
		}
		got := sink.values("test_slow")
		if len(got) != 7 || !model.IsStale(got[2]) || got[3] != 4 {
			t.Errorf("slow values %v, want 1 2 stale 4 5 6 7", got)
		}
		i := slices.IndexFunc(sink.coverage, func(c model.Coverage) bool { return c.State == model.SourceFailed })
		if i < 0 || !strings.Contains(sink.coverage[i].Detail, "no answer since") {
			t.Errorf("coverage %+v, want the hanging source named", sink.coverage)
		}
		if last := sink.lastCoverage(); last.Source != "slow" || last.State != model.SourceOK {
			t.Errorf("last coverage %+v, want slow to be ok again", last)
		}
	})
}

func TestSamplerCountsLostBeats(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		sink := &sinkRecord{}
		s := newSampler(t, sink, time.Second, counting("a"))
		beats := 0
		s.cfg.AfterBeat = func(context.Context, time.Time) {
			if beats++; beats == 2 {
				time.Sleep(3500 * time.Millisecond)
			}
		}
		ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second+time.Millisecond)
		defer cancel()
		_ = s.Run(ctx)
		synctest.Wait()
		lost := sink.values("stallmark_sampler_beats_lost_total")
		// At 5.5 s the beat of 5 s is late, those of 3 and 4 s are lost.
		if late := sink.values("stallmark_sampler_lateness_seconds"); lost[len(lost)-1] != 2 || late[2] != 0.5 || len(late) != 8 {
			t.Errorf("beats lost %v, want 2 at the end; late %v", lost, late)
		}
	})
}

func TestSamplerChangesItsIntervalAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		sink := &sinkRecord{}
		s := newSampler(t, sink, time.Second, counting("a"))
		ctx, cancel := context.WithTimeout(t.Context(), 6*time.Second+time.Millisecond)
		defer cancel()
		start := time.Now()
		time.AfterFunc(1250*time.Millisecond, func() { _ = s.SetInterval(100 * time.Millisecond) })
		time.AfterFunc(1950*time.Millisecond, func() {
			_ = s.SetInterval(5 * time.Second)
			_ = s.SetInterval(2 * time.Second) // the last one counts
		})
		_ = s.Run(ctx)
		synctest.Wait()

		var at []int64
		for _, b := range sink.batches {
			at = append(at, b.At-start.UnixMilli())
		}
		want := []int64{1000, 1300, 1400, 1500, 1600, 1700, 1800, 1900, 2000, 4000, 6000}
		if !slices.Equal(at, want) {
			t.Errorf("beats at %v ms, want %v", at, want)
		}
		if lost := sink.values("stallmark_sampler_beats_lost_total"); lost[len(lost)-1] != 0 {
			t.Errorf("beats lost %v, want none", lost)
		}
	})
}

func TestSamplerCountsBeatsLostBeforeAChange(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		sink := &sinkRecord{}
		s := newSampler(t, sink, time.Second, counting("a"))
		s.cfg.AfterBeat = func(context.Context, time.Time) {
			if len(sink.batches) == 1 {
				_ = s.SetInterval(500 * time.Millisecond)
				time.Sleep(2700 * time.Millisecond) // over the beat at 2 s
			}
		}
		ctx, cancel := context.WithTimeout(t.Context(), 4*time.Second+time.Millisecond)
		defer cancel()
		_ = s.Run(ctx)
		synctest.Wait()
		lost := sink.values("stallmark_sampler_beats_lost_total")
		if lost[len(lost)-1] != 1 {
			t.Errorf("beats lost %v, want the one at 2 s", lost)
		}
		if err := s.SetInterval(MinInterval - 1); err == nil {
			t.Error("want an error for an interval under 100 ms")
		}
	})
}

func TestSamplerRefusesShortInterval(t *testing.T) {
	if _, err := New(Config{Interval: 99 * time.Millisecond}); err == nil {
		t.Error("want an error for an interval under 100 ms")
	}
}

func TestCollectEndsMissingSeriesAndStatesGaps(t *testing.T) {
	a, b := model.NewSeries("test_a"), model.NewSeries("test_b", "device", "vda")
	beat := 0
	src := &fakeSource{"x", func(out *Out) error {
		beat++
		out.Add(a, float64(beat))
		if beat != 2 {
			out.Add(b, float64(beat))
			return nil
		}
		return Partial("vda is gone", "")
	}}
	sink := &sinkRecord{}
	s := newSampler(t, sink, time.Second, src)
	for i := range 3 {
		s.Collect(t.Context(), time.Unix(int64(i), 0))
	}
	got := sink.values("test_b")
	if len(got) != 3 || got[0] != 1 || !model.IsStale(got[1]) || got[2] != 3 {
		t.Errorf("test_b %v, want 1 stale 3", got)
	}
	var states []model.SourceState
	for _, c := range sink.coverage {
		states = append(states, c.State)
	}
	want := []model.SourceState{model.SourceOK, model.SourcePartial, model.SourceOK}
	if !slices.Equal(states, want) {
		t.Errorf("coverage %v, want %v", states, want)
	}
	if len(sink.events) != 2 || sink.events[0].Kind != model.EventSource {
		t.Errorf("events %+v, want two changes of state", sink.events)
	}
}

func TestOutTellsChangedFactsOnce(t *testing.T) {
	out := NewOut("settings")
	steps := []struct {
		value         string
		facts, events int
	}{{"1", 1, 0}, {"1", 0, 0}, {"2", 1, 1}, {"2", 0, 0}}
	for i, step := range steps {
		out.Reset(time.Unix(int64(i), 0))
		out.Fact("sysctl.vm.swappiness", step.value)
		if len(out.Facts()) != step.facts || len(out.Events()) != step.events {
			t.Errorf("step %d: %d facts and %d events, want %d and %d",
				i, len(out.Facts()), len(out.Events()), step.facts, step.events)
		}
	}
	out.Forget("sysctl.")
	out.Reset(time.Unix(9, 0))
	out.Fact("sysctl.vm.swappiness", "3")
	if len(out.Events()) != 0 {
		t.Error("a forgotten fact came back as a change")
	}
}
