package storage

import (
	"context"
	"testing"
	"time"

	"stallmark/storage/model"
)

// TestExtentAfterARestart reaches back to the samples of the run before, whether
// they are in its journal, in blocks, or in hours that began before them.
func TestExtentAfterARestart(t *testing.T) {
	series := []*model.Series{model.NewSeries("g")}
	for name, beats := range map[string]int64{"half a minute": 30, "some minutes": 400, "over an hour": 4000} {
		path := dbPath(t)
		const first = base + 25*60*1000
		s := openTest(t, path)
		for i := range beats {
			s.Append(beatOf(first+i*1000, series, gauge(i)))
		}
		s.drained(t)
		s.shut(t)
		s = openTest(t, path)
		s.drained(t)
		oldest, newest := s.Extent(context.Background())
		if oldest.UnixMilli() != first || newest.Before(oldest.Add(time.Duration(beats-90)*time.Second)) {
			t.Errorf("%s: from %d s to %v, want 0", name, (oldest.UnixMilli()-first)/1000, newest.Sub(oldest))
		}
	}
}
