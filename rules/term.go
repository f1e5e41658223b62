package rules

import (
	"context"
	"fmt"

	"github.com/prometheus/prometheus/promql"
	"github.com/prometheus/prometheus/promql/parser"
)

// term gives the bounds of an expression, or a part of one, at the prover's
// beat.
type term func(ctx context.Context, p *prover) bounds

// fixed is a term that does not depend on the data.
func fixed(b bounds) term {
	return func(context.Context, *prover) bounds { return b }
}

// compile makes the term of an expression that is evaluated at the times. What
// it does not know can be anything.
func (p *prover) compile(expr parser.Expr, at times) term {
	switch n := expr.(type) {
	case *parser.NumberLiteral:
		return fixed(exactly(n.Val))
	case *parser.ParenExpr:
		return p.compile(n.Expr, at)
	case *parser.UnaryExpr:
		return p.unary(n, at)
	case *parser.BinaryExpr:
		return p.binary(n, at)
	case *parser.AggregateExpr:
		return p.aggregate(n, at)
	case *parser.Call:
		return p.call(n, at)
	case *parser.VectorSelector:
		return p.selector(n, at, "")
	}
	return fixed(anything())
}

func (p *prover) unary(n *parser.UnaryExpr, at times) term {
	inner := p.compile(n.Expr, at)
	if n.Op != parser.SUB {
		return inner
	}
	return func(ctx context.Context, p *prover) bounds {
		b := inner(ctx, p)
		return b.of(-b.high, -b.low)
	}
}

// selector is the leaf that reads a selector's newest samples. function is the
// innermost one around it.
func (p *prover) selector(n *parser.VectorSelector, at times, function string) term {
	if !plain(n) {
		return fixed(anything())
	}
	l := &leaf{matchers: n.LabelMatchers, times: at, span: (minBeats * p.query.interval).Milliseconds()}
	l.hints.Func = function
	return p.share(l, n.String())
}

// plain reports whether a selector reads at the time of the evaluation.
func plain(n *parser.VectorSelector) bool {
	return n.OriginalOffset == 0 && n.OriginalOffsetExpr == nil && n.Timestamp == nil && n.StartOrEnd == 0 &&
		!n.Anchored && !n.Smoothed
}

// share is the term of a leaf, or of one that reads the same.
func (p *prover) share(l *leaf, text string) term {
	if l.times.reach > 0 {
		l.hints.Step = l.times.step
	}
	key := fmt.Sprintf("%d %d %s %s", l.times.reach, l.times.step, l.hints.Func, text)
	if known := p.leaves[key]; known != nil {
		l = known
	}
	p.leaves[key] = l
	return l.bounds
}

// overRange are the functions over a range that the prover calls itself: they
// give one number for a series, and take numbers besides.
var overRange = map[string]bool{
	"rate": true, "irate": true, "increase": true, "delta": true, "idelta": true, "deriv": true,
	"resets": true, "changes": true,
	"avg_over_time": true, "min_over_time": true, "max_over_time": true, "sum_over_time": true,
	"count_over_time": true, "last_over_time": true, "present_over_time": true,
	"stddev_over_time": true, "stdvar_over_time": true, "quantile_over_time": true,
}

// ranged is the leaf of a function over a selector's range.
func (p *prover) ranged(n *parser.Call, m *parser.MatrixSelector, at times) term {
	v, ok := m.VectorSelector.(*parser.VectorSelector)
	if !ok || !plain(v) || m.RangeExpr != nil || !overRange[n.Func.Name] {
		return fixed(anything())
	}
	l := &leaf{
		matchers: v.LabelMatchers, times: at, span: m.Range.Milliseconds(),
		function: promql.FunctionCalls[n.Func.Name], args: n.Args,
	}
	l.hints.Func, l.hints.Range = n.Func.Name, l.span
	for _, arg := range n.Args {
		if arg == parser.Expr(m) {
			continue
		}
		number, ok := arg.(*parser.NumberLiteral)
		if !ok {
			return fixed(anything())
		}
		l.params = append(l.params, promql.Vector{{F: number.Val}})
	}
	return p.share(l, n.String())
}

// aggregate leaves the groups aside: there may be one, or as many as series.
func (p *prover) aggregate(n *parser.AggregateExpr, at times) term {
	inner := p.compile(n.Expr, at)
	single := len(n.Grouping) == 0 && !n.Without
	return func(ctx context.Context, p *prover) bounds {
		b := inner(ctx, p)
		members := b.series
		if single {
			b.series = min(b.series, 1)
		}
		switch n.Op {
		case parser.SUM:
			return b.sum(members)
		case parser.AVG:
			return b.loose(1)
		case parser.MIN, parser.MAX:
			return b
		case parser.COUNT:
			return b.of(1, float64(members))
		case parser.GROUP:
			return b.of(1, 1)
		}
		b.series = members
		return b.unmeasured()
	}
}
