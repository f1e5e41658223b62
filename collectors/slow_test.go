package collectors

import (
	"context"
	"slices"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
)

// TestSlowBeatsSayWhy has beats that are late because of a source, of one that hangs,
// and of the sink.
func TestSlowBeatsSayWhy(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var beat atomic.Int32 // a source that hangs reads it while others go on
		long := &fakeSource{"long", func(*Out) error {
			if beat.Add(1) == 2 {
				time.Sleep(70 * time.Millisecond)
			}
			return nil
		}}
		hanging := &fakeSource{"hanging", func(*Out) error {
			if beat.Load() == 4 {
				time.Sleep(900 * time.Millisecond)
			}
			return nil
		}}
		s := newSampler(t, &sinkRecord{}, time.Second, counting("a"), long, hanging)
		s.cfg.AfterBeat = func(context.Context, time.Time) {
			if beat.Load() == 6 {
				time.Sleep(1200 * time.Millisecond)
			}
		}
		var got []Slow
		s.cfg.Slow = func(b Slow) {
			b.Hanging = slices.Clone(b.Hanging)
			got = append(got, b)
		}
		ctx, cancel := context.WithTimeout(t.Context(), 8*time.Second+500*time.Millisecond)
		defer cancel()
		_ = s.Run(ctx)
		if len(got) != 4 {
			t.Fatalf("%d slow beats: %+v", len(got), got)
		}
		if b := got[0]; b.Source != "long" || b.Took != 70*time.Millisecond || b.Asking != b.Took || b.Late != 0 {
			t.Errorf("a source that took long: %+v", b)
		}
		if b := got[1]; !slices.Equal(b.Hanging, []string{"hanging"}) || b.Asking != 500*time.Millisecond {
			t.Errorf("one that hangs: %+v", b)
		}
		if b := got[2]; b.Handing != 1200*time.Millisecond || b.Asking != 0 {
			t.Errorf("what follows: %+v", b)
		}
		if b := got[3]; b.Late != 200*time.Millisecond || !b.At.Equal(got[2].At.Add(time.Second)) {
			t.Errorf("the beat after it: %+v", b)
		}
	})
}
