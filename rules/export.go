package rules

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/prometheus/prometheus/promql/parser"
	"go.yaml.in/yaml/v3"
)

// scrapesInRange is how many scrapes a rate must cover: two samples, though one
// scrape fails and the range begins just after another.
const scrapesInRange = 4

// Exported is a pack as a rule file of Prometheus and of those that read the
// same (Thanos, Mimir, VictoriaMetrics).
type Exported struct {
	YAML    []byte
	Rules   int
	Widened []Note // what looks back longer than here
	Left    []Note // what cannot be run at that interval, and why
}

// Note says something about one signature.
type Note struct{ Signature, Text string }

type alertFile struct {
	Groups []alertGroup `yaml:"groups"`
}

type alertGroup struct {
	Name     string      `yaml:"name"`
	Interval string      `yaml:"interval"`
	Rules    []alertRule `yaml:"rules"`
}

type alertRule struct {
	Alert         string            `yaml:"alert"`
	Expr          string            `yaml:"expr"`
	For           string            `yaml:"for,omitempty"`
	KeepFiringFor string            `yaml:"keep_firing_for,omitempty"`
	Labels        map[string]string `yaml:"labels"`
	Annotations   map[string]string `yaml:"annotations"`
}

// Export translates the conditions of a pack into alerts for a ruler that
// scrapes so often. Ranges are widened to four scrapes where that changes only
// how sharp the condition is; a signature that looks at single seconds is left
// out and named. Evidence, confidence and incidents stay here.
func Export(pack *Pack, scrape time.Duration) (Exported, error) {
	var out Exported
	group := alertGroup{Name: "stallmark", Interval: promDuration(scrape), Rules: []alertRule{}}
	for _, s := range pack.Signatures {
		expr, widened, err := translate(s.When, scrape)
		if err != nil {
			out.Left = append(out.Left, Note{s.ID, err.Error()})
			continue
		}
		if len(widened) > 0 {
			out.Widened = append(out.Widened, Note{s.ID, strings.Join(widened, ", ")})
		}
		group.Rules = append(group.Rules, alertOf(s, expr, scrape))
	}
	out.Rules = len(group.Rules)
	var b bytes.Buffer
	fmt.Fprintf(&b, "# %d signatures of Stallmark %s as alerts, for a scrape interval of %s.\n", out.Rules, pack.Version(), group.Interval)
	for _, n := range out.Widened {
		fmt.Fprintf(&b, "# %s looks back longer: %s\n", n.Signature, n.Text)
	}
	for _, n := range out.Left {
		fmt.Fprintf(&b, "# left out: %s: %s\n", n.Signature, n.Text)
	}
	enc := yaml.NewEncoder(&b)
	enc.SetIndent(2)
	err := enc.Encode(alertFile{[]alertGroup{group}})
	out.YAML = b.Bytes()
	return out, err
}

func alertOf(s *Signature, expr string, scrape time.Duration) alertRule {
	r := alertRule{
		Alert: alertName(s.ID), Expr: expr,
		Labels:      map[string]string{"severity": string(s.Severity), "layer": string(s.Layer), "signature": s.ID},
		Annotations: map[string]string{"summary": untemplated(s.Title), "description": untemplated(s.What)},
	}
	if s.For > 0 {
		r.For = promDuration(max(s.For, scrape))
	}
	if s.KeepFiringFor > 0 {
		r.KeepFiringFor = promDuration(max(s.KeepFiringFor, scrape))
	}
	return r
}

// promDuration writes a time as rule files have it.
func promDuration(d time.Duration) string {
	if d%time.Second != 0 {
		return fmt.Sprintf("%dms", d.Milliseconds())
	}
	return fmt.Sprintf("%ds", int(d.Seconds()))
}

// alertName is StallmarkDirtyThrottling for dirty-throttling.
func alertName(id string) string {
	name := "Stallmark"
	for part := range strings.SplitSeq(id, "-") {
		if part != "" {
			name += strings.ToUpper(part[:1]) + part[1:]
		}
	}
	return name
}

// untemplated keeps a text from being read as a template by the ruler.
func untemplated(s string) string { return strings.ReplaceAll(s, "{{", "{{`{{`}}") }

// Functions that mean the same over a longer range, only less sharply; and those
// that count samples, which come more often here than to a ruler.
func widenable(function string) bool {
	switch function {
	case "rate", "irate", "deriv", "max_over_time", "min_over_time", "avg_over_time", "last_over_time", "present_over_time",
		"quantile_over_time":
		return true
	}
	return false
}

func countsSamples(function string) bool {
	switch function {
	case "count_over_time", "sum_over_time", "changes", "resets":
		return true
	}
	return false
}

// translate widens the ranges of an expression for a scrape interval, and says
// which; an error says why it cannot be run at it.
func translate(text string, scrape time.Duration) (string, []string, error) {
	expr, err := newParser().ParseExpr(text)
	if err != nil {
		return "", nil, err
	}
	var widened []string
	var errs []error
	least := scrapesInRange * scrape
	note := func(function, was, is string) {
		if text := function + " " + was + " -> " + is; !slices.Contains(widened, text) {
			widened = append(widened, text)
		}
	}
	parser.Inspect(expr, func(node parser.Node, path []parser.Node) error {
		switch n := node.(type) {
		case *parser.SubqueryExpr:
			switch function := calledWith(path); {
			case n.Step >= scrape && n.Range >= least:
			case widenable(function):
				was := fmt.Sprintf("%s:%s", promDuration(n.Range), promDuration(n.Step))
				n.Range, n.Step = max(n.Range, least), max(n.Step, scrape)
				note(function, was, fmt.Sprintf("%s:%s", promDuration(n.Range), promDuration(n.Step)))
			default:
				errs = append(errs, fmt.Errorf("%s looks at every %v", function, n.Step))
			}
		case *parser.VectorSelector:
			if n.OriginalOffset != 0 && n.OriginalOffset.Abs() < 2*scrape {
				errs = append(errs, fmt.Errorf("it compares with %v ago", n.OriginalOffset))
			}
		case *parser.MatrixSelector:
			switch function := calledWith(path); {
			case countsSamples(function):
				errs = append(errs, fmt.Errorf("%s counts samples, of which a ruler sees fewer", function))
			case n.Range >= least:
			case widenable(function):
				note(function, promDuration(n.Range), promDuration(least))
				n.Range = least
			default:
				errs = append(errs, fmt.Errorf("%s over %v means something else over %v", function, n.Range, least))
			}
		}
		return nil
	})
	if len(errs) > 0 {
		return "", nil, errors.Join(errs[:1]...)
	}
	return expr.Pretty(0), widened, nil
}

// calledWith is the function that takes the node whose path it is.
func calledWith(path []parser.Node) string {
	if len(path) == 0 {
		return ""
	}
	if call, ok := path[len(path)-1].(*parser.Call); ok {
		return call.Func.Name
	}
	return ""
}
