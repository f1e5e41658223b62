package web

import (
	"testing"

	"github.com/prometheus/prometheus/promql/parser"
)

func TestPatternsOfExpressions(t *testing.T) {
	p := parser.NewParser(parser.Options{})
	for _, c := range []struct {
		expr     string
		yes, not string
	}{
		{`increase(stallmark_log_matches_total{pattern="a"}[3s]) > 0`, "a", "b"},
		{`sum(increase(stallmark_log_matches_total{pattern=~"rocketmq-stats-(get|put)"}[2m]))`, "rocketmq-stats-get", "rocketmq-stats-getx"},
		{`x + on () stallmark_log_match_seconds_max{pattern!="a"}`, "b", "a"},
		{`stallmark_gc_pause_seconds_max`, "", "a"},
		{`stallmark_log_matches_total{`, "", "a"},
		{`stallmark_log_matches_total{source="x"}`, "", "a"},
	} {
		test := patternTest(p, []string{c.expr})
		if got := test != nil && test(c.yes); got != (c.yes != "") {
			t.Errorf("%s: %q is %v", c.expr, c.yes, got)
		}
		if test != nil && test(c.not) {
			t.Errorf("%s: %q passes", c.expr, c.not)
		}
	}
}
