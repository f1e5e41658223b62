package rules

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/prometheus/prometheus/model/labels"
	"github.com/prometheus/prometheus/promql"

	"stallmark/storage/model"
)

// The book is read by windows of at least bookWindow, which may begin up to a
// minute earlier for it, and goes back bookSpan.
const (
	bookWindow = 10 * time.Minute
	bookSpan   = 24 * time.Hour
)

// maxQuietEvery is how far apart the readings of quiet values may be.
const maxQuietEvery = 5 * time.Second

// quietBook keeps the worst quiet value of each signature in each minute that
// was judged, from readings a few seconds apart. With it a live page that rules
// causes out over its window costs next to nothing; evaluating forty signatures
// over every beat of an hour costs most of a second (BenchmarkReport).
type quietBook struct {
	mu    sync.Mutex
	first time.Time // of the beats that are in it
	last  time.Time
	worst map[string][]minuteWorst // by signature, in time order
	read  map[string]time.Time     // last reading, by signature
}

// minuteWorst is the worst value in one minute, and the series that had it.
type minuteWorst struct {
	minute int64 // since the epoch
	value  float64
	labels labels.Labels
}

func minuteOf(at time.Time) int64 { return at.Unix() / 60 }

// noteQuiet enters the quiet values of the causes that are known, as far as
// they are due and can be the worst of their minute.
func (e *Engine) noteQuiet(ctx context.Context, b *beat) error {
	e.book.begin(b.at)
	var errs []error
	for _, s := range e.pack.Signatures {
		if m := e.meter(b, s); m.off || s.Layer != model.LayerCause || s.Quiet == nil || !e.book.due(s, b.at, e.quietEvery(s)) {
			continue
		}
		now, known := b.bounds(ctx, s.Quiet.Expr), e.book.current(s, b.at)
		if now.empty() || known != nil && !s.Quiet.Op.mayExceed(now, *known) {
			continue
		}
		// A need that cannot be read was reported when the signature was judged.
		if missing, err := b.missing(ctx, s); err != nil || len(missing) > 0 {
			continue
		}
		v, err := b.instant(ctx, s.Quiet.Expr)
		if err != nil {
			errs = append(errs, fmt.Errorf("%s: quiet: %w", s.ID, err))
			continue
		}
		if worst := furthest(v, nil, s.Quiet.Op); worst != nil {
			e.book.enter(s, b.at, worst)
		}
	}
	return errors.Join(errs...)
}

// quietEvery is how often a signature's quiet value is read: half as often as
// it looks back, so that whatever lasts less than that is in one reading as a
// whole. What looks back on nothing is read at every beat. Beats jitter: half an
// interval early counts as in time.
func (e *Engine) quietEvery(s *Signature) time.Duration {
	return min(e.prover.lookback(s.Quiet.Expr)/2, maxQuietEvery) - e.interval/2
}

// begin says that a beat is judged. A hole in the beats, or a clock that was
// set back, begins a new book: what it has no beats of it cannot speak for.
func (k *quietBook) begin(at time.Time) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.worst == nil || at.Before(k.last) || at.Sub(k.last) > time.Minute {
		k.first, k.worst, k.read = at, map[string][]minuteWorst{}, map[string]time.Time{}
	}
	if oldest := at.Add(-bookSpan); k.first.Before(oldest) {
		k.first = oldest
	}
	k.last = at
}

// due reports whether the last reading of a signature is so long ago, and
// notes that one is made.
func (k *quietBook) due(s *Signature, at time.Time, every time.Duration) bool {
	k.mu.Lock()
	defer k.mu.Unlock()
	if last, ok := k.read[s.ID]; ok && at.Sub(last) < every {
		return false
	}
	k.read[s.ID] = at
	return true
}

// current is a signature's worst value in the minute of a beat, nil without.
func (k *quietBook) current(s *Signature, at time.Time) *float64 {
	k.mu.Lock()
	defer k.mu.Unlock()
	if page := k.worst[s.ID]; len(page) > 0 && page[len(page)-1].minute == minuteOf(at) {
		return &page[len(page)-1].value
	}
	return nil
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
