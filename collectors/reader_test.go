package collectors

import (
	"context"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"stallmark/storage/model"
)

// sleeping is a source that takes its time and gives one sample.
func sleeping(name string, takes time.Duration) *fakeSource {
	series := model.NewSeries("test_" + name)
	return &fakeSource{name, func(out *Out) error {
		time.Sleep(takes)
		out.Add(series, 1)
		return nil
	}}
}

func TestSamplerAsksSlowSourcesAllAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var sources []Source
		for i := range 20 {
			sources = append(sources, sleeping(fmt.Sprint("s", i), 40*time.Millisecond)) // 800 ms one after another
		}
		sink := &sinkRecord{}
		s := newSampler(t, sink, time.Second, sources...)
		ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second+500*time.Millisecond)
		defer cancel()
		_ = s.Run(ctx)
		synctest.Wait()
		for i := range sources {
			if got := sink.values(fmt.Sprint("test_s", i)); len(got) != 5 {
				t.Errorf("source %d gave %d values, want 5", i, len(got))
			}
		}
	})
}

func TestSamplerAsksCalmSourcesInOrder(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		running, most := 0, 0
		var sources []Source
		for i := range 5 {
			sources = append(sources, &fakeSource{fmt.Sprint("s", i), func(*Out) error {
				running++
				most = max(most, running)
				time.Sleep(time.Millisecond)
				running--
				return nil
			}})
		}
		s := newSampler(t, &sinkRecord{}, time.Second, sources...)
		ctx, cancel := context.WithTimeout(t.Context(), 3*time.Second+500*time.Millisecond)
		defer cancel()
		_ = s.Run(ctx)
		if most != 1 {
			t.Errorf("%d sources at a time, want one after another", most)
		}
	})
}

func TestSamplerBearsManyThatHang(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		release := make(chan struct{})
		var sources []Source
		for i := range 6 {
			beat, series := 0, model.NewSeries(fmt.Sprint("test_s", i))
			sources = append(sources, &fakeSource{fmt.Sprint("s", i), func(out *Out) error {
				if beat++; beat == 1+i/2 { // two more hang in each of three beats
					<-release
				}
				out.Add(series, 1)
				return nil
			}})
		}
		sink := &sinkRecord{}
		s := newSampler(t, sink, time.Second, append(sources, counting("good"))...)
		ctx, cancel := context.WithTimeout(t.Context(), 8*time.Second+500*time.Millisecond)
		defer cancel()
		time.AfterFunc(5*time.Second+700*time.Millisecond, func() { close(release) })
		_ = s.Run(ctx)
		synctest.Wait()
		if got := sink.values("test_good"); len(got) != 8 {
			t.Errorf("the other source gave %d values, want 8", len(got))
		}
		for i := range sources {
			healthy := 0
			for _, v := range sink.values(fmt.Sprint("test_s", i)) {
				if !model.IsStale(v) {
					healthy++
				}
			}
			if want := i/2 + 3; healthy != want { // before it hung, and in the beats at 6, 7 and 8 s
				t.Errorf("source %d gave %d values, want %d", i, healthy, want)
			}
		}
	})
}

func TestSamplerStoresNothingOnceItIsEnded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		sink := &sinkRecord{}
		s := newSampler(t, sink, time.Second, counting("a"))
		ctx, cancel := context.WithCancel(t.Context())
		s.beat(ctx, time.Now(), 0)
		cancel()
		synctest.Wait()
		s.beat(ctx, time.Now(), 0)
		if len(sink.batches) != 1 {
			t.Errorf("%d batches, want the one before the end", len(sink.batches))
		}
	})
}
