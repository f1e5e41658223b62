package rules

import (
	"math"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/prometheus/prometheus/model/labels"
	"github.com/prometheus/prometheus/model/value"
	"github.com/prometheus/prometheus/promql"
	"github.com/prometheus/prometheus/promql/parser"
)

// randomSeries is a minute of a counter or gauge with whatever may happen to
// one: gaps, jitter, a restart, an end, odd values.
func randomSeries(r *rand.Rand, ls labels.Labels) *memSeries {
	s := &memSeries{labels: ls}
	step, v := float64(r.IntN(4))*math.Pow(10, float64(r.IntN(7)-2)), float64(r.IntN(1000))
	odd := []float64{0, math.NaN(), math.Inf(1), math.Inf(-1), -5, math.Float64frombits(value.StaleNaN)}
	at := testStart()
	for range 60 {
		at = at.Add(time.Second)
		v += step
		one := v
		switch r.IntN(60) {
		case 0:
			continue
		case 1:
			v = 0
		case 2, 3:
			one = odd[r.IntN(len(odd))]
		case 4:
			step = -step / 2
		}
		s.points = append(s.points, promql.FPoint{T: at.UnixMilli() + r.Int64N(90), F: one})
	}
	return s
}

// writer writes random expressions over the series a, b and c.
type writer struct{ *rand.Rand }

func (w writer) pick(texts ...string) string { return texts[w.IntN(len(texts))] }

func (w writer) selector() string {
	return w.pick("a", "b", "c", "none", `a{x="1"}`, `{__name__=~"a|b"}`, "b offset 3s")
}

func (w writer) number() string { return w.pick("0", "1", "0.5", "3", "-2", "1000", "1e9") }

func (w writer) scalar(depth int) string {
	switch w.IntN(max(depth, 1)) {
	case 0:
		return w.number()
	case 1:
		return "scalar(" + w.vector(depth-1) + ")"
	}
	return "(" + w.scalar(depth-1) + w.pick(" + ", " - ", " * ", " / ", " > bool ", " != bool ") + w.scalar(depth-1) + ")"
}

func (w writer) vector(depth int) string {
	if depth <= 0 {
		return w.pick(w.selector(), w.overRange()+"("+w.selector()+w.pick("[3s]", "[5s]", "[10s]")+")")
	}
	one, two := w.vector(depth-1), w.vector(depth-1-w.IntN(depth))
	arithmetic, compare := w.pick(" + ", " - ", " * ", " / ", " ^ ", " % "), w.pick(" > ", " >= ", " < ", " <= ", " == ", " != ")
	set := w.pick(" and ", " or ", " unless ")
	over := w.pick("avg", "min", "max", "sum", "count", "last", "stddev", "present") + "_over_time"
	switch w.IntN(13) {
	case 0:
		return "(" + one + arithmetic + w.pick("", "on (x) ", "ignoring (x) ", "on (x) group_left ") + two + ")"
	case 1:
		return "(" + one + compare + w.pick("", "bool ", "on (x) ", "on (x) group_right ") + two + ")"
	case 2:
		return "(" + one + set + w.pick("", "on () ", "on (x) ", "ignoring (x) ") + two + ")"
	case 3:
		return "(" + one + arithmetic + w.scalar(depth) + ")"
	case 4:
		return "(" + w.scalar(depth) + arithmetic + one + ")"
	case 5:
		return "(" + one + compare + w.pick("", "bool ") + w.scalar(depth) + ")"
	case 6:
		return "(" + w.scalar(depth) + compare + one + ")"
	case 7:
		return w.pick("sum", "avg", "min", "max", "count", "group", "stddev") + w.pick("", " by (x) ", " without (x) ") + "(" + one + ")"
	case 8:
		return w.pick("clamp_min", "clamp_max", "clamp_min", "round") + "(" + one + ", " + w.scalar(depth-1) + ")"
	case 9:
		return w.pick("-", "abs", "sqrt", "absent", "ceil") + "(" + one + ")"
	case 10:
		return w.pick("vector(", "vector(2 * ") + w.scalar(depth) + ")"
	case 11:
		return "quantile_over_time(" + w.pick("0.5, ", "0.9, ", "2, ") + w.pick("("+one+")[10s:2s]", "a[10s]") + ")"
	}
	return w.pick(over, over, "rate", "deriv") + "((" + one + ")" + w.pick("[10s:1s]", "[6s:]", "[7s:2s]") + ")"
}

func (w writer) overRange() string {
	return w.pick("rate", "irate", "increase", "delta", "idelta", "deriv", "changes", "resets",
		"avg_over_time", "min_over_time", "max_over_time", "sum_over_time", "count_over_time", "last_over_time",
		"stddev_over_time", "stdvar_over_time", "present_over_time")
}

// randomHost has two series of every metric that the expressions name, with the
// labels that they match on.
func randomHost(t *testing.T, exprs []string, seed uint64) *memSource {
	t.Helper()
	r := rand.New(rand.NewPCG(seed, 2))
	src, seen := &memSource{}, map[string]bool{}
	for _, expr := range exprs {
		parsed, err := newParser().ParseExpr(expr)
		if err != nil {
			t.Fatal(err)
		}
		parser.Inspect(parsed, func(n parser.Node, _ []parser.Node) error {
			sel, ok := n.(*parser.VectorSelector)
			if !ok {
				return nil
			}
			names, b := []string{sel.Name}, labels.NewBuilder(labels.EmptyLabels())
			for _, m := range sel.LabelMatchers {
				switch {
				case m.Name == metricName && sel.Name == "":
					names = m.SetMatches()
				case m.Type == labels.MatchEqual:
					b.Set(m.Name, m.Value)
				case len(m.SetMatches()) > 0:
					b.Set(m.Name, m.SetMatches()[0])
				}
			}
			for _, name := range names {
				for _, device := range []string{"sda", "sdb"}[:1+r.IntN(2)] {
					ls := b.Set(metricName, name).Set("device", device).Labels()
					if !seen[ls.String()] {
						seen[ls.String()] = true
						src.add(randomSeries(r, ls))
					}
				}
			}
			return nil
		})
	}
	return src
}
