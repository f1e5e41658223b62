package rules

import (
	"sync"
	"time"

	"github.com/prometheus/prometheus/model/labels"
	"github.com/prometheus/prometheus/promql"
)

// The book is read by windows of at least bookWindow, which may begin up to a
// minute earlier for it, and goes back bookSpan.
const (
	bookWindow = 10 * time.Minute
	bookSpan   = 24 * time.Hour
)

// quietBook keeps the worst quiet value of each signature in each minute that
// was judged. With it a live page that rules causes out over its window costs
// next to nothing; evaluating forty signatures over every beat of an hour costs
// most of a second (BenchmarkReport).
type quietBook struct {
	mu    sync.Mutex
	first time.Time // of the beats that are in it
	last  time.Time
	worst map[string][]minuteWorst // by signature, in time order
}

// minuteWorst is the worst value in one minute, and the series that had it.
type minuteWorst struct {
	minute int64 // since the epoch
	value  float64
	labels labels.Labels
}

func minuteOf(at time.Time) int64 { return at.Unix() / 60 }

// begin says that a beat is judged. A hole in the beats, or a clock that was
// set back, begins a new book: what it has no beats of it cannot speak for.
func (k *quietBook) begin(at time.Time) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.worst == nil || at.Before(k.last) || at.Sub(k.last) > time.Minute {
		k.first, k.worst = at, map[string][]minuteWorst{}
	}
	if oldest := at.Add(-bookSpan); k.first.Before(oldest) {
		k.first = oldest
	}
	k.last = at
}

// enter takes a signature's worst value at a beat.
func (k *quietBook) enter(s *Signature, at time.Time, v *promql.Sample) {
	k.mu.Lock()
	defer k.mu.Unlock()
	page, minute := k.worst[s.ID], minuteOf(at)
	entry := minuteWorst{minute, v.F, v.Metric}
	switch n := len(page); {
	case n == 0 || page[n-1].minute != minute:
		page = append(page, entry)
	case s.Quiet.Op.Further(v.F, page[n-1].value):
		page[n-1] = entry
	}
	// Whole hours are dropped at a time, so that this costs nothing a beat.
	if old := minuteOf(at.Add(-bookSpan)); page[0].minute < old-60 {
		i := 0
		for i < len(page) && page[i].minute < old {
			i++
		}
		page = append([]minuteWorst(nil), page[i:]...)
	}
	k.worst[s.ID] = page
}

// between is a signature's worst value in a window, and whether the book can
// speak for the whole of it.
func (k *quietBook) between(s *Signature, from, to time.Time) (worst *promql.Sample, ok bool) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.worst == nil || to.Sub(from) < bookWindow || from.Before(k.first) {
		return nil, false
	}
	// It is for windows up to now. Others would take in what came after them.
	if to.After(k.last.Add(time.Minute)) || minuteOf(to) < minuteOf(k.last) {
		return nil, false
	}
	first, last := minuteOf(from), minuteOf(to)
	for _, e := range k.worst[s.ID] {
		if e.minute >= first && e.minute <= last && (worst == nil || s.Quiet.Op.Further(e.value, worst.F)) {
			worst = &promql.Sample{F: e.value, Metric: e.labels}
		}
	}
	return worst, true
}
