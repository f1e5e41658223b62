package web

import (
	"slices"
	"time"

	"github.com/prometheus/prometheus/promql/parser"
)

// coarse rewrites an expression for steps that are longer than its ranges, so
// that no sample between two steps is left out: ranges are lengthened to the
// step, and a plain gauge is read through fold, which is max_over_time or
// min_over_time. Rates then are means over a step, gauges keep their extremes.
// Subqueries stay as they are: at every step they look at their own span.
//
// Selectors that match several names stay too, since a fold drops the name by
// which their series differ. What cannot be parsed is returned as it is; the
// query then says what is wrong with it.
func coarse(p parser.Parser, expr string, step time.Duration, fold string) string {
	tree, err := p.ParseExpr(expr)
	if err != nil {
		return expr
	}
	type edit struct {
		from, to int
		text     string
	}
	var edits []edit
	parser.Inspect(tree, func(node parser.Node, path []parser.Node) error {
		if slices.ContainsFunc(path, func(n parser.Node) bool { _, sub := n.(*parser.SubqueryExpr); return sub }) {
			return nil
		}
		pos := parser.Node.PositionRange
		switch n := node.(type) {
		case *parser.MatrixSelector:
			if n.Range < step {
				n.Range = step
				edits = append(edits, edit{int(pos(n).Start), int(pos(n).End), n.String()})
			}
		case *parser.VectorSelector:
			if _, inRange := parent(path).(*parser.MatrixSelector); inRange || n.Name == "" || n.OriginalOffset != 0 || n.Timestamp != nil || n.StartOrEnd != 0 {
				return nil
			}
			edits = append(edits, edit{int(pos(n).Start), int(pos(n).End), fold + "(" + n.String() + "[" + step.String() + "])"})
		}
		return nil
	})
	slices.SortFunc(edits, func(a, b edit) int { return b.from - a.from })
	for _, e := range edits {
		expr = expr[:e.from] + e.text + expr[e.to:]
	}
	return expr
}

func parent(path []parser.Node) parser.Node {
	if len(path) == 0 {
		return nil
	}
	return path[len(path)-1]
}
