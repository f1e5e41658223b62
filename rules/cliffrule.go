package rules

import (
	_ "embed"
	"sync"
	"time"

	"go.yaml.in/yaml/v3"

	"github.com/prometheus/prometheus/promql/parser"
)

//go:embed cliffs.yaml
var cliffFile []byte

// cliffRule is one entry of cliffs.yaml.
type cliffRule struct {
	id, title, signature string
	value, unit          string
	over                 time.Duration
	falls                bool // small values are the bad ones
	steps                []cliffStep
	lasts, lastsSays     string
}

// cliffStep is a point where something happens.
type cliffStep struct{ edge, says string }

// cliffRules reads the file once. A test holds that it has no mistake.
var cliffRules = sync.OnceValue(func() []*cliffRule {
	rules, _ := parseCliffs("cliffs.yaml", cliffFile)
	return rules
})

func parseCliffs(file string, data []byte) ([]*cliffRule, []Problem) {
	r := &reader{file: file}
	n := r.parse(data)
	if n == nil {
		return nil, r.problems
	}
	var out []*cliffRule
	r.list(n, func(n *yaml.Node) { out = append(out, r.cliff(n)) })
	sortProblems(r.problems)
	if len(r.problems) > 0 {
		return nil, r.problems
	}
	return out, nil
}

func (r *reader) cliff(n *yaml.Node) *cliffRule {
	c := &cliffRule{}
	vector := parser.ValueTypeVector
	r.mapping(n, map[string]func(*yaml.Node){
		"id":        func(n *yaml.Node) { c.id = r.id(n) },
		"title":     func(n *yaml.Node) { c.title = r.text(n) },
		"signature": func(n *yaml.Node) { c.signature = r.id(n) },
		"value":     func(n *yaml.Node) { c.value = r.promql(n, vector) },
		"unit":      func(n *yaml.Node) { c.unit = r.word(n, units()...) },
		"over":      func(n *yaml.Node) { c.over = r.duration(n, 10*time.Second, time.Hour) },
		"falls":     func(n *yaml.Node) { c.falls = r.word(n, "true", "false") == "true" },
		"steps": func(n *yaml.Node) {
			r.list(n, func(n *yaml.Node) {
				var s cliffStep
				r.mapping(n, map[string]func(*yaml.Node){
					"edge": func(n *yaml.Node) { s.edge = r.promql(n, vector) },
					"says": func(n *yaml.Node) { s.says = r.text(n) },
				})
				r.require(n, "edge", "says")
				c.steps = append(c.steps, s)
			})
		},
		"lasts": func(n *yaml.Node) {
			r.mapping(n, map[string]func(*yaml.Node){
				"rate": func(n *yaml.Node) { c.lasts = r.promql(n, vector) },
				"says": func(n *yaml.Node) { c.lastsSays = r.text(n) },
			})
			r.require(n, "rate", "says")
		},
	})
	r.require(n, "id", "title", "signature", "value", "unit", "over", "steps")
	return c
}
