package rules

import (
	"time"

	"github.com/prometheus/prometheus/promql/parser"
)

// minBeats is how many beats the shortest range covers: rate needs two samples
// in it, and one beat may be late or lost.
const minBeats = 3

// widen lengthens, in place, every range below the least to the least, so that
// a file may say rate(x[3s]) and work at any interval. Steps of subqueries stay:
// they are time, not samples.
func widen(expr parser.Expr, least time.Duration) {
	parser.Inspect(expr, func(node parser.Node, _ []parser.Node) error {
		switch n := node.(type) {
		case *parser.MatrixSelector:
			n.Range = max(n.Range, least)
		case *parser.SubqueryExpr:
			n.Range = max(n.Range, least)
		}
		return nil
	})
}

// longestRange is the longest range in an expression.
func longestRange(expr parser.Expr) (longest time.Duration) {
	parser.Inspect(expr, func(node parser.Node, _ []parser.Node) error {
		switch n := node.(type) {
		case *parser.MatrixSelector:
			longest = max(longest, n.Range)
		case *parser.SubqueryExpr:
			longest = max(longest, n.Range)
		}
		return nil
	})
	return longest
}

// metricNames lists the names of the metrics that an expression reads, as far
// as they are named plainly.
func metricNames(expr parser.Expr) []string {
	var names []string
	seen := map[string]bool{}
	parser.Inspect(expr, func(node parser.Node, _ []parser.Node) error {
		if n, ok := node.(*parser.VectorSelector); ok && n.Name != "" && !seen[n.Name] {
			seen[n.Name] = true
			names = append(names, n.Name)
		}
		return nil
	})
	return names
}
