package collectors

import (
	"testing"
	"time"
)

func TestPunctuality(t *testing.T) {
	s := &Sampler{}
	if got := s.Punctuality(); got != (Punctuality{}) {
		t.Errorf("before the first beat: %+v", got)
	}
	for i := range 100 {
		s.punctual.beat(time.Duration(i+1)*time.Millisecond, 3)
	}
	s.punctual.beat(-time.Second, 3) // the clock was set back
	s.punctual.unanswered()
	got := s.Punctuality()
	if got.Beats != 101 || got.Lost != 3 || got.Unanswered != 1 || got.Max != 100*time.Millisecond {
		t.Errorf("%+v", got)
	}
	for _, p := range []struct{ got, want time.Duration }{{got.P50, 50 * time.Millisecond}, {got.P99, 99 * time.Millisecond}} {
		if p.got < p.want || p.got > p.want*9/8 {
			t.Errorf("a percentile of %v, want %v or up to an eighth more", p.got, p.want)
		}
	}
}

func TestBucketsHoldWhatTheySay(t *testing.T) {
	last := -1
	for d := time.Duration(0); d < time.Hour; d = d*17/16 + 1 {
		i := bucketOf(d)
		if i < last || d > boundOf(i) || i > 0 && d <= boundOf(i-1) {
			t.Fatalf("%d ns in bucket %d, (%d, %d]", d, i, boundOf(i-1), boundOf(i))
		}
		last = i
	}
	if i := bucketOf(1<<63 - 1); i >= len(punctual{}.buckets) {
		t.Errorf("bucket %d of the longest", i)
	}
}
