package rules

import (
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/common/model"
	"github.com/prometheus/prometheus/model/rulefmt"
	"github.com/prometheus/prometheus/promql/parser"
)

// Prometheus' own reader of rule files takes what is exported, and no range in
// it is too short for the interval.
func TestExportIsAcceptedByPrometheus(t *testing.T) {
	pack := loadBuiltIn(t)
	for _, scrape := range []time.Duration{time.Second, 15 * time.Second, time.Minute} {
		out, err := Export(pack, scrape)
		if err != nil {
			t.Fatal(err)
		}
		groups, errs := rulefmt.Parse(out.YAML, false, model.UTF8Validation, newParser(), slog.New(slog.DiscardHandler))
		if len(errs) > 0 || len(groups.Groups) != 1 || len(groups.Groups[0].Rules) != out.Rules {
			t.Fatalf("%v: %v\n%s", scrape, errs, out.YAML)
		}
		if out.Rules+len(out.Left) != len(pack.Signatures) || out.Rules < len(pack.Signatures)/2 {
			t.Errorf("%v: %d rules, %d left out of %d: %v", scrape, out.Rules, len(out.Left), len(pack.Signatures), out.Left)
		}
		for _, r := range groups.Groups[0].Rules {
			expr, err := newParser().ParseExpr(r.Expr)
			if err != nil {
				t.Fatal(err)
			}
			parser.Inspect(expr, func(node parser.Node, _ []parser.Node) error {
				if n, ok := node.(*parser.MatrixSelector); ok && n.Range < scrapesInRange*scrape {
					t.Errorf("%v: %s: a range of %v", scrape, r.Alert, n.Range)
				}
				return nil
			})
			if r.For > 0 && time.Duration(r.For) < scrape {
				t.Errorf("%v: %s: for %v", scrape, r.Alert, r.For)
			}
		}
	}
}

func TestTranslate(t *testing.T) {
	for name, c := range map[string]struct{ in, out, widened, err string }{
		"a rate":             {"rate(x[3s]) > 5", "rate(x[1m]) > 5", "rate 3s -> 60s", ""},
		"long enough":        {"rate(x[2m]) > 5", "rate(x[2m]) > 5", "", ""},
		"no range":           {"x > 5", "x > 5", "", ""},
		"since a minute ago": {"x - min_over_time(x[30s]) > 0", "x - min_over_time(x[1m]) > 0", "min_over_time 30s -> 60s", ""},
		"twice the same":     {"rate(x[3s]) + rate(y[3s])", "rate(x[1m]) + rate(y[1m])", "rate 3s -> 60s", ""},
		"every second":       {"max_over_time(x[30s:1s]) > 5", "max_over_time(x[1m:15s]) > 5", "max_over_time 30s:1s -> 60s:15s", ""},
		"seconds counted":    {"count_over_time((x > 1)[30s:1s]) > 5", "", "", "count_over_time looks at every 1s"},
		"step by default":    {"sum_over_time(x[30s:]) > 5", "", "", "sum_over_time looks at every 0s"},
		"coarse subquery":    {"max_over_time(x[10m:1m]) > 5", "max_over_time(x[10m:1m]) > 5", "", ""},
		"an increase":        {"increase(x[3s]) > 5", "", "", "increase over 3s means something else"},
		"samples counted":    {"count_over_time(x[10m]) > 5", "", "", "count_over_time counts samples"},
		"a short offset":     {"x - x offset 5s", "", "", "it compares with 5s ago"},
		"not PromQL":         {"x >", "", "", "1:4"},
	} {
		out, widened, err := translate(c.in, 15*time.Second)
		if err != nil {
			if c.err == "" || !strings.Contains(err.Error(), c.err) {
				t.Errorf("%s: %v, want %q", name, err, c.err)
			}
			continue
		}
		if out = strings.Join(strings.Fields(out), " "); out != c.out || strings.Join(widened, ", ") != c.widened || c.err != "" {
			t.Errorf("%s: %q, %q, want %q, %q %q", name, out, widened, c.out, c.widened, c.err)
		}
	}
}

func TestExportedTextIsNoTemplate(t *testing.T) {
	s := signature(t, "odd", strings.Replace(level, "The level is too high.", `"{{ .Labels }} and }}"`, 1))
	out, err := Export(packOf(s), 15*time.Second)
	if err != nil {
		t.Fatal(err)
	}
	if _, errs := rulefmt.Parse(out.YAML, false, model.UTF8Validation, newParser(), slog.New(slog.DiscardHandler)); len(errs) > 0 {
		t.Errorf("%v\n%s", errs, out.YAML)
	}
	if !strings.Contains(string(out.YAML), "{{`{{`}} .Labels") {
		t.Errorf("%s", out.YAML)
	}
}
