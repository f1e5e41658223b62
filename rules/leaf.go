package rules

import (
	"context"
	"math"

	"github.com/prometheus/prometheus/model/labels"
	"github.com/prometheus/prometheus/model/value"
	"github.com/prometheus/prometheus/promql"
	"github.com/prometheus/prometheus/promql/parser"
	promstorage "github.com/prometheus/prometheus/storage"
	"github.com/prometheus/prometheus/tsdb/chunkenc"
)

// times are those at which an expression is evaluated for one beat, in
// milliseconds: the multiples of step in the reach before the beat, as in a
// subquery, or without reach the beat alone.
type times struct{ reach, step int64 }

// first is the earliest of the times.
func (t times) first(at int64) int64 {
	if t.reach == 0 {
		return at
	}
	first := (at - t.reach) / t.step * t.step
	if first <= at-t.reach {
		first += t.step
	}
	return first
}

// count is how many they are at most.
func (t times) count() int { return int(t.reach/t.step) + 1 }

// leaf is a selector, or a function over a selector's range: what is read from
// the storage. Its bounds are exact.
type leaf struct {
	matchers []*labels.Matcher
	hints    promstorage.SelectHints // but for the times
	times    times
	span     int64 // milliseconds that one value looks back; what is just so old is out

	function promql.FunctionCall // nil for a selector
	params   []promql.Vector
	args     parser.Expressions

	turn uint64 // for which last was read
	last bounds
}

// bounds reads the leaf once a beat.
func (l *leaf) bounds(ctx context.Context, p *prover) bounds {
	if l.turn != p.turn {
		l.turn, l.last = p.turn, l.read(ctx, p)
	}
	return l.last
}

// read gives anything where the engine may see something else: what has failed
// or is incomplete now may be there a moment later.
func (l *leaf) read(ctx context.Context, p *prover) bounds {
	first := l.times.first(p.at)
	hints := l.hints
	hints.Start, hints.End = first-l.span+1, p.at
	q, err := p.query.src.Querier(hints.Start, hints.End)
	if err != nil {
		return anything()
	}
	defer q.Close()
	set, out := q.Select(ctx, false, &hints, l.matchers...), nothing()
	for set.Next() {
		p.walk = set.At().Iterator(p.walk)
		if !p.load(l.function == nil) {
			return anything()
		}
		if p.read != nil {
			*p.read += int64(len(p.points))
		}
		out = out.or(l.series(p, first))
	}
	if set.Err() != nil || len(set.Warnings()) > 0 {
		return anything()
	}
	return out
}

// load takes the samples of a series, with its end markers if they are wanted.
// It reports false for what is no plain number.
func (p *prover) load(markers bool) bool {
	p.points = p.points[:0]
	for {
		switch p.walk.Next() {
		case chunkenc.ValFloat:
			if t, v := p.walk.At(); markers || !value.IsStaleNaN(v) {
				p.points = append(p.points, promql.FPoint{T: t, F: v})
			}
		case chunkenc.ValNone:
			return p.walk.Err() == nil
		default:
			return false
		}
	}
}

// series is the bounds of the loaded series over the leaf's times.
func (l *leaf) series(p *prover, first int64) bounds {
	out := nothing()
	from, to := 0, 0
	for at := first; at <= p.at; at += l.times.step {
		for to < len(p.points) && p.points[to].T <= at {
			to++
		}
		for from < to && p.points[from].T <= at-l.span {
			from++
		}
		if v, ok := l.value(p, p.points[from:to], at); ok {
			out = out.with(v)
		}
	}
	return out
}

// value is the leaf's value at a time, from the samples it looks back on.
func (l *leaf) value(p *prover, points []promql.FPoint, at int64) (float64, bool) {
	if len(points) == 0 {
		return math.NaN(), false
	}
	if l.function == nil {
		v := points[len(points)-1].F
		return v, !value.IsStaleNaN(v)
	}
	p.matrix[0].Floats = points
	p.helper.Ts = at
	out, _ := l.function(l.params, p.matrix, l.args, &p.helper)
	p.helper.Out = out[:0]
	if len(out) == 0 {
		return math.NaN(), false
	}
	return out[0].F, true
}
