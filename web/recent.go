package web

import (
	"context"
	"slices"
	"sync"
	"time"

	"github.com/prometheus/prometheus/model/labels"
	"github.com/prometheus/prometheus/promql"
)

// Bounds of what is kept of live charts: how many expressions, for how long
// after the last look, and how many steps at the end are asked for again since
// their samples may come late.
const (
	maxRecent    = 200
	recentFor    = time.Minute
	recentSettle = 10
)

// recent keeps the results of live charts: the next look asks for the steps that
// are new, not for the whole window.
type recent struct {
	mu    sync.Mutex
	lines map[recentKey]recentLine
}

type recentKey struct {
	expr string
	step time.Duration
}

// recentLine is the result over [from, to]. It is replaced, never changed.
type recentLine struct {
	from, to time.Time
	matrix   promql.Matrix
}

// ranger evaluates PromQL at every step of a span.
type ranger func(ctx context.Context, expr string, from, to time.Time, step time.Duration) (promql.Matrix, error)

// query evaluates an expression over a window that moves on. From is a multiple
// of step. The caller may change the matrix, not its points.
func (r *recent) query(ctx context.Context, ask ranger, expr string, from, to time.Time, step time.Duration) (promql.Matrix, error) {
	key := recentKey{expr, step}
	r.mu.Lock()
	known, ok := r.lines[key]
	r.mu.Unlock()
	start := known.to.Add(-recentSettle * step).Truncate(step)
	if !ok || from.Before(known.from) || to.Before(known.to) || !start.After(from) {
		known, start = recentLine{}, from
	}
	asked := watched(ctx)
	fresh, err := ask(asked, expr, start, to, step)
	if err != nil {
		return nil, err
	}
	line := recentLine{from, to, joined(known.matrix, fresh, from.UnixMilli(), start.UnixMilli())}
	if isMissing(asked) {
		Missing(ctx) // it is asked for again
	} else {
		r.keep(key, line)
	}
	return slices.Clone(line.matrix), nil
}

// keep stores a line and drops those that nobody looks at any more.
func (r *recent) keep(key recentKey, line recentLine) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.lines == nil {
		r.lines = map[recentKey]recentLine{}
	}
	r.lines[key] = line
	if len(r.lines) <= maxRecent/2 {
		return
	}
	for k, l := range r.lines {
		if line.to.Sub(l.to) > recentFor || len(r.lines) > maxRecent && k != key {
			delete(r.lines, k)
		}
	}
}

// joined are the points of known in [from, start) followed by those of fresh,
// series by series.
func joined(known, fresh promql.Matrix, from, start int64) promql.Matrix {
	if len(known) == 0 {
		return fresh
	}
	out := slices.Clone(fresh)
	for _, old := range known {
		points := between(old.Floats, from, start)
		if len(points) == 0 {
			continue
		}
		k := slices.IndexFunc(out, func(s promql.Series) bool { return labels.Equal(s.Metric, old.Metric) })
		if k < 0 {
			out = append(out, promql.Series{Metric: old.Metric, Floats: points})
			continue
		}
		out[k].Floats = slices.Concat(points, out[k].Floats)
	}
	return out
}

// between are the points with times in [from, to).
func between(points []promql.FPoint, from, to int64) []promql.FPoint {
	at := func(p promql.FPoint, t int64) int {
		switch {
		case p.T < t:
			return -1
		case p.T > t:
			return 1
		}
		return 0
	}
	i, _ := slices.BinarySearchFunc(points, from, at)
	k, _ := slices.BinarySearchFunc(points, to, at)
	return slices.Clip(points[i:max(i, k)])
}
