package rules

import (
	"context"

	"github.com/prometheus/prometheus/promql/parser"
)

// call is the term of a function.
func (p *prover) call(n *parser.Call, at times) term {
	for _, arg := range n.Args {
		switch m := arg.(type) {
		case *parser.MatrixSelector:
			return p.ranged(n, m, at)
		case *parser.SubqueryExpr:
			return p.subquery(n, m, at)
		}
	}
	args := make([]term, len(n.Args))
	for i, arg := range n.Args {
		if v, ok := arg.(*parser.VectorSelector); ok {
			args[i] = p.selector(v, at, n.Func.Name)
		} else {
			args[i] = p.compile(arg, at)
		}
	}
	switch n.Func.Name {
	case "vector", "scalar":
		return func(ctx context.Context, p *prover) bounds {
			b := args[0](ctx, p)
			b.series = 1 // scalar has a value, NaN if need be
			return b
		}
	case "clamp_min":
		return func(ctx context.Context, p *prover) bounds {
			b, least := args[0](ctx, p), args[1](ctx, p)
			return b.of(max(b.low, least.low), max(b.high, least.high))
		}
	case "clamp_max":
		return func(ctx context.Context, p *prover) bounds {
			b, most := args[0](ctx, p), args[1](ctx, p)
			return b.of(min(b.low, most.low), min(b.high, most.high))
		}
	case "abs", "ceil", "floor", "round", "sqrt", "ln", "exp", "sort", "sort_desc", "label_replace":
		return func(ctx context.Context, p *prover) bounds { return args[0](ctx, p).unmeasured() }
	}
	return fixed(anything())
}

// subquery is the term of a function over a subquery: its argument has bounds
// over all the times at once.
func (p *prover) subquery(n *parser.Call, q *parser.SubqueryExpr, at times) term {
	step := q.Step
	if step == 0 {
		step = p.query.interval
	}
	inside := times{reach: at.reach + q.Range.Milliseconds(), step: step.Milliseconds()}
	if q.OriginalOffset != 0 || q.Timestamp != nil || q.StartOrEnd != 0 || inside.step <= 0 {
		return fixed(anything())
	}
	inner := p.compile(q.Expr, inside)
	name := n.Func.Name
	if name == "quantile_over_time" && !aShare(n.Args[0]) {
		return fixed(anything())
	}
	return func(ctx context.Context, p *prover) bounds {
		b := inner(ctx, p)
		switch name {
		case "min_over_time", "max_over_time", "last_over_time":
			return b
		case "avg_over_time", "quantile_over_time":
			return b.loose(1)
		case "sum_over_time":
			return b.sum(inside.count())
		case "count_over_time":
			return b.of(1, float64(inside.count()))
		case "stddev_over_time":
			return b.spread()
		}
		if overRange[name] {
			return b.unmeasured()
		}
		return anything()
	}
}

// aShare reports whether an expression is a number from 0 to 1.
func aShare(e parser.Expr) bool {
	number, ok := e.(*parser.NumberLiteral)
	return ok && number.Val >= 0 && number.Val <= 1
}
