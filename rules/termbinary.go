package rules

import (
	"context"

	"github.com/prometheus/prometheus/promql/parser"
)

// binary is the term of an operator between two expressions.
func (p *prover) binary(n *parser.BinaryExpr, at times) term {
	l, r := p.compile(n.LHS, at), p.compile(n.RHS, at)
	switch n.Op {
	case parser.LAND:
		return func(ctx context.Context, p *prover) bounds {
			b := l(ctx, p)
			if b.empty() || r(ctx, p).empty() {
				return nothing()
			}
			return b
		}
	case parser.LOR:
		return func(ctx context.Context, p *prover) bounds { return l(ctx, p).or(r(ctx, p)) }
	case parser.LUNLESS:
		return l
	}
	if m := n.VectorMatching; m != nil && (m.FillValues.LHS != nil || m.FillValues.RHS != nil) {
		return fixed(anything()) // a side may do without the other
	}
	count := resultCount(n)
	if n.Op.IsComparisonOperator() {
		return comparison(n, l, r, count)
	}
	return func(ctx context.Context, p *prover) bounds {
		a, b := l(ctx, p), r(ctx, p)
		return arithmetic(n.Op, count(a, b), a, b)
	}
}

// resultCount is how many series an operator gives, as bounds without values.
func resultCount(n *parser.BinaryExpr) func(l, r bounds) bounds {
	l, r := n.LHS.Type() == parser.ValueTypeScalar, n.RHS.Type() == parser.ValueTypeScalar
	many := n.VectorMatching != nil && n.VectorMatching.Card != parser.CardOneToOne
	return func(a, b bounds) bounds {
		switch {
		case r:
			return a
		case l:
			return b
		case many && !a.empty() && !b.empty():
			return bounds{series: max(a.series, b.series)}
		}
		return bounds{series: min(a.series, b.series)}
	}
}

// comparison keeps the values of which it is true (with bool, says so by 1 and
// 0): those on the left, or beside a scalar those of the vector.
func comparison(n *parser.BinaryExpr, l, r term, count func(l, r bounds) bounds) term {
	scalars := n.LHS.Type() == parser.ValueTypeScalar
	return func(ctx context.Context, p *prover) bounds {
		a, b := l(ctx, p), r(ctx, p)
		num := count(a, b)
		could := possible(n.Op, a, b)
		switch {
		case n.ReturnBool && could:
			return num.of(0, 1)
		case n.ReturnBool:
			return num.of(0, 0)
		case !could:
			return nothing()
		case scalars:
			return num.of(b.low, b.high)
		}
		return num.of(a.low, a.high)
	}
}
