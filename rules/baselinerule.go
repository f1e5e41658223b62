package rules

import (
	"go.yaml.in/yaml/v3"

	"github.com/prometheus/prometheus/promql/parser"
)

// BaselineRule says what is learned of quiet hours: each series of the
// expression has a baseline of its own, by its labels.
type BaselineRule struct {
	Name string
	Expr string
	Unit string
}

func (r *reader) baseline(n *yaml.Node) BaselineRule {
	var b BaselineRule
	r.mapping(n, map[string]func(*yaml.Node){
		"name": func(n *yaml.Node) { b.Name = r.id(n) },
		"expr": func(n *yaml.Node) { b.Expr = r.promql(n, parser.ValueTypeVector) },
		"unit": func(n *yaml.Node) { b.Unit = r.word(n, units()...) },
	})
	r.require(n, "name", "expr", "unit")
	return b
}
