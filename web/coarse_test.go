package web

import (
	"testing"
	"time"

	"github.com/prometheus/prometheus/promql/parser"
)

func TestCoarse(t *testing.T) {
	p := parser.NewParser(parser.Options{})
	for _, c := range []struct{ expr, want string }{
		{`node_procs_blocked`, `max_over_time(node_procs_blocked[1m0s])`},
		{`rate(a_total{device="sda"}[3s])`, `rate(a_total{device="sda"}[1m])`},
		{`100 * rate(a[2m]) / b{x=~"y|z"}`, `100 * rate(a[2m]) / max_over_time(b{x=~"y|z"}[1m0s])`},
		{`(a + b) * scalar(c)`, `(max_over_time(a[1m0s]) + max_over_time(b[1m0s])) * scalar(max_over_time(c[1m0s]))`},
		{`avg_over_time((a > bool b)[10s:1s])`, `avg_over_time((a > bool b)[10s:1s])`},
		{`sum({__name__=~"a|b"})`, `sum({__name__=~"a|b"})`},
		{`a offset 5m`, `a offset 5m`},
		{`vector(100)`, `vector(100)`},
		{`a +`, `a +`},
	} {
		got := coarse(p, c.expr, time.Minute, "max_over_time")
		if got != c.want {
			t.Errorf("coarse(%s) = %s, want %s", c.expr, got, c.want)
		}
		if _, err := p.ParseExpr(got); err != nil && c.expr != `a +` {
			t.Errorf("coarse(%s) = %s: %v", c.expr, got, err)
		}
	}
}

// TestPanelsParse holds every expression of the page to PromQL, fine and coarse.
func TestPanelsParse(t *testing.T) {
	p := parser.NewParser(parser.Options{})
	var all []string
	devices := matcher([]string{`sd"a`, `nvme0n1`, `a|b`})
	for _, panel := range append(append(hostPanels(devices), diskPanels(devices)...), ownPanels()...) {
		for _, l := range append(panel.lines, panel.limits...) {
			all = append(all, l.expr)
		}
	}
	for _, expr := range all {
		for _, e := range []string{expr, coarse(p, expr, time.Hour, "min_over_time")} {
			if _, err := p.ParseExpr(e); err != nil {
				t.Errorf("%s: %v", e, err)
			}
		}
	}
}
