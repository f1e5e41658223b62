package rules

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/prometheus/prometheus/model/value"
	promstorage "github.com/prometheus/prometheus/storage"
	"github.com/prometheus/prometheus/tsdb/chunkenc"

	"stallmark/storage/model"
)

const (
	// maxGapWindow is the longest window of which the holes in the needs are
	// looked for: beyond it that reads too much.
	maxGapWindow = 24 * time.Hour
	// fineGapWindow is the longest window of which every sample is looked at. Of a
	// longer one a point a minute is enough (storage gives those from coarseHint
	// on), and a silence of less than three minutes is none.
	fineGapWindow  = 15 * time.Minute
	coarseHint     = 5 * time.Minute
	coarsePatience = 3 * time.Minute
	// gapShare of a window without what a signature needs makes it unknown. Less
	// is said beside its value.
	gapShare = 0.1
)

// stretch is a span of time, in milliseconds.
type stretch struct{ from, to int64 }

func lengthOf(list []stretch) (ms int64) {
	for _, s := range list {
		ms += s.to - s.from
	}
	return ms
}

// without is what of a list is in none of others. Both are in order of time.
func without(list, others []stretch) []stretch {
	var out []stretch
	for _, s := range list {
		for _, o := range others {
			if o.to <= s.from || o.from >= s.to {
				continue
			}
			if o.from > s.from {
				out = append(out, stretch{s.from, o.from})
			}
			if s.from = o.to; s.from >= s.to {
				break
			}
		}
		if s.from < s.to {
			out = append(out, s)
		}
	}
	return out
}

// common is what is in both lists.
func common(a, b []stretch) []stretch { return without(a, without(a, b)) }

// gaps knows where in a window what was not measured.
type gaps struct {
	beat     *beat
	window   stretch
	patience int64 // of silence that is none, milliseconds
	step     time.Duration
	of       map[string][]stretch // by need
	off      []stretch            // nothing was measured at all: the recorder did not run
}

// gapsIn looks at everything that the signatures of a pack need.
func gapsIn(ctx context.Context, b *beat, pack *Pack, from time.Time) (*gaps, error) {
	step, patience := b.query.interval, max(5*time.Second, 5*b.query.interval)
	if b.at.Sub(from) > fineGapWindow {
		step, patience = max(step, coarseHint), max(patience, coarsePatience)
	}
	g := &gaps{
		beat: b, window: stretch{from.UnixMilli(), b.at.UnixMilli()}, step: step,
		patience: patience.Milliseconds(), of: map[string][]stretch{},
	}
	g.off = []stretch{g.window}
	for _, s := range pack.Signatures {
		for _, need := range s.Needs {
			if _, known := g.of[need]; known {
				continue
			}
			missing, err := g.look(ctx, need)
			if err != nil {
				return nil, err
			}
			g.of[need] = missing
			g.off = common(g.off, missing)
		}
	}
	return g, nil
}

// look finds where a metric has no series that is alive. Usually the first
// series tells that there is no such time.
func (g *gaps) look(ctx context.Context, need string) ([]stretch, error) {
	m, err := g.beat.query.needMatchers(need)
	if err != nil {
		return nil, err
	}
	q, err := g.beat.src.Querier(g.window.from, g.window.to)
	if err != nil {
		return nil, err
	}
	defer q.Close()
	missing := []stretch{g.window}
	hints := &promstorage.SelectHints{Start: g.window.from, End: g.window.to, Step: g.step.Milliseconds()}
	if g.step >= coarseHint {
		hints.Range = hints.Step // points as they are: a value is not to stand for its minute
	}
	set := q.Select(ctx, false, hints, m...)
	var it chunkenc.Iterator
	for len(missing) > 0 && set.Next() {
		it = set.At().Iterator(it)
		missing = slices.DeleteFunc(without(missing, g.alive(it)), func(s stretch) bool { return s.to-s.from <= g.patience })
	}
	return missing, set.Err()
}

// alive is where a series has samples, with no more than the patience between
// them.
func (g *gaps) alive(it chunkenc.Iterator) []stretch {
	var out []stretch
	open := false
	for it.Next() == chunkenc.ValFloat {
		t, v := it.At()
		if t < g.window.from || t > g.window.to {
			continue
		}
		switch last := len(out) - 1; {
		case value.IsStaleNaN(v):
			open = false
		case open && t-out[last].to <= g.patience:
			out[last].to = t
		default:
			out, open = append(out, stretch{t, t}), true
		}
	}
	return out
}

// within is where in the window a signature applied and something that it needs
// was not measured, while other things were; and what that was.
func (g *gaps) within(ctx context.Context, s *Signature) (missing []stretch, needs []string, err error) {
	where := []stretch{g.window}
	if s.Applies != nil {
		if where, err = g.applied(ctx, s.Applies.Expr); err != nil {
			return nil, nil, err
		}
	}
	for _, need := range s.Needs {
		here := slices.DeleteFunc(without(common(where, g.of[need]), g.off), func(h stretch) bool { return h.to-h.from <= g.patience })
		if len(here) == 0 {
			continue
		}
		needs = append(needs, need)
		missing = append(missing, without(here, missing)...)
		slices.SortFunc(missing, func(a, b stretch) int { return cmp.Compare(a.from, b.from) })
	}
	return missing, needs, nil
}

// applied is where an expression had a result.
func (g *gaps) applied(ctx context.Context, expr string) ([]stretch, error) {
	from := time.UnixMilli(g.window.from)
	step := max(g.beat.query.interval, g.beat.at.Sub(from)/maxExact)
	m, err := g.beat.query.Range(ctx, expr, from, g.beat.at, step)
	if err != nil {
		return nil, err
	}
	rest := []stretch{g.window}
	for _, s := range m {
		var own []stretch
		for _, p := range s.Floats {
			if n := len(own); n > 0 && p.T-own[n-1].to <= g.patience {
				own[n-1].to = p.T
			} else {
				own = append(own, stretch{p.T, p.T})
			}
		}
		rest = without(rest, own)
	}
	return without([]stretch{g.window}, rest), nil
}

// partly judges a signature that can be judged at the end of the window by what
// was not measured in it: unknown if that is much of the window or lies in a
// finding; else what is to be said beside its value.
func (e *Engine) partly(ctx context.Context, g *gaps, s *Signature, r model.Report) (*model.Unknown, string, error) {
	missing, needs, err := g.within(ctx, s)
	if err != nil || len(missing) == 0 {
		return nil, "", wrap(s.ID, err)
	}
	total := lengthOf(missing)
	watched := g.window.to - g.window.from - lengthOf(g.off)
	first := missing[0]
	when := fmt.Sprintf("not measured from %s to %s", clockOf(first.from), clockOf(first.to))
	if len(missing) > 1 {
		when = fmt.Sprintf("not measured for %v in %d parts, first from %s to %s",
			time.Duration(total/1000)*time.Second, len(missing), clockOf(first.from), clockOf(first.to))
	}
	if float64(total) < gapShare*float64(watched) && !coincides(missing, r.Findings) {
		return nil, when, nil
	}
	coverage, err := e.src.CoverageAt(ctx, time.UnixMilli((first.from+first.to)/2).UTC())
	if err != nil {
		return nil, "", wrap(s.ID, err)
	}
	u := newUnknown(s)
	why, mend := explainMissing(needs, coverage)
	u.Why, u.Mend = when+": "+why, mend
	return u, "", nil
}

func clockOf(ms int64) string { return time.UnixMilli(ms).UTC().Format(time.TimeOnly) }

// coincides reports whether any finding goes on in one of the stretches.
func coincides(list []stretch, findings []model.Finding) bool {
	for _, f := range findings {
		for _, s := range list {
			if f.Started.UnixMilli() < s.to && (f.Ended == nil || f.Ended.UnixMilli() > s.from) {
				return true
			}
		}
	}
	return false
}
