package rules

import (
	"slices"

	"github.com/prometheus/prometheus/promql/parser"
)

// cloneExpr copies a parsed expression. The engine hangs the series it selects
// onto the nodes, and rewrites some of them, so each query needs a tree of its
// own; a copy costs a sixth of parsing (BenchmarkParse). Literals are shared:
// nobody writes to them. It reports false for a node that it does not know.
func cloneExpr(expr parser.Expr) (parser.Expr, bool) {
	switch n := expr.(type) {
	case nil:
		return nil, true
	case *parser.NumberLiteral, *parser.StringLiteral:
		return n, true
	case *parser.VectorSelector:
		c := *n
		return &c, n.OriginalOffsetExpr == nil
	case *parser.MatrixSelector:
		c := *n
		return &c, cloneInto(&c.VectorSelector) && n.RangeExpr == nil
	case *parser.SubqueryExpr:
		c := *n
		plain := n.RangeExpr == nil && n.StepExpr == nil && n.OriginalOffsetExpr == nil
		return &c, cloneInto(&c.Expr) && plain
	case *parser.ParenExpr:
		c := *n
		return &c, cloneInto(&c.Expr)
	case *parser.UnaryExpr:
		c := *n
		return &c, cloneInto(&c.Expr)
	case *parser.BinaryExpr:
		c := *n
		return &c, cloneInto(&c.LHS) && cloneInto(&c.RHS)
	case *parser.AggregateExpr:
		c := *n
		return &c, cloneInto(&c.Expr) && cloneInto(&c.Param)
	case *parser.Call:
		c := *n
		c.Args = slices.Clone(n.Args)
		for i := range c.Args {
			if !cloneInto(&c.Args[i]) {
				return nil, false
			}
		}
		return &c, true
	}
	return nil, false
}

// cloneInto replaces the expression at p by its copy.
func cloneInto(p *parser.Expr) bool {
	if *p == nil {
		return true
	}
	c, ok := cloneExpr(*p)
	*p = c
	return ok
}
