package rules

import (
	"strings"
	"testing"
	"time"

	"github.com/prometheus/prometheus/model/labels"
	"github.com/prometheus/prometheus/promql"
)

// recorded judges the beats and gives what a store that keeps the quiet values
// would have of them, each as of the beat before.
func recorded(t *testing.T, e *Engine, from, to int) []*memSeries {
	t.Helper()
	series := map[string]*memSeries{}
	var out []*memSeries
	for i := from; i <= to; i++ {
		for _, v := range e.Quiet(second(i)) {
			key := v.Labels.String()
			if series[key] == nil {
				series[key] = &memSeries{labels: v.Labels}
				out = append(out, series[key])
			}
			series[key].points = append(series[key].points, promql.FPoint{T: second(i).UnixMilli(), F: v.Value})
		}
		steps(t, e, i, i)
	}
	return out
}

// A new engine, as after a restart, says the same from the series of quiet
// values, from the samples, or from both.
func TestReportFromQuietSeriesSaysTheSame(t *testing.T) {
	low := signature(t, "low", level+"quiet: {expr: b, text: 'down to {{.Value}}', op: '<'}\n")
	labelled := signature(t, "labelled", level+"quiet: {expr: d, text: '{{.Labels.device}} has {{.Value}}'}\n")
	pack := packOf(cause(t, "one", "a", ""), low, labelled)
	lines := []string{
		`a 1x200 7 1x2000`, `a{device="x"} 2x700 9 2x2000`, `b 5x300 3 5x2000`, `level 0x2300`,
		`d{device="sda"} 1x900 8 1x2000`, `d{device="sdb"} 2x1200 6 2x2000`,
	}
	for _, begun := range []int{0, 600, 1500} {
		src := data(t, lines...)
		for _, s := range recorded(t, NewEngine(pack, src, time.Second), begun, 2000) {
			src.add(s)
		}
		for _, w := range [][2]int{{0, 2000}, {800, 2000}, {240, 1980}, {1000, 1980}} {
			got, err := NewEngine(pack, src, time.Second).Report(t.Context(), second(w[0]), second(w[1]), nil)
			if err != nil {
				t.Fatal(err)
			}
			want, err := NewEngine(pack, data(t, lines...), time.Second).Report(t.Context(), second(w[0]), second(w[1]), nil)
			if err != nil {
				t.Fatal(err)
			}
			if whys(got.RuledOut) != whys(want.RuledOut) || len(got.RuledOut) != 3 {
				t.Errorf("from %d, %v: got %q, want %q", begun, w, whys(got.RuledOut), whys(want.RuledOut))
			}
		}
	}
}

// What the series say is not evaluated again, and only what is older is.
func TestQuietSeriesAreTaken(t *testing.T) {
	pack := packOf(cause(t, "one", "a", ""))
	src := data(t, `a 1x100 50 1x3000`, `level 0x3100`)
	s := &memSeries{labels: labels.FromStrings(metricName, QuietMetric, quietSignature, "one")}
	for i := 300; i <= 3000; i++ {
		s.points = append(s.points, promql.FPoint{T: second(i).UnixMilli(), F: 42})
	}
	src.add(s)
	for from, want := range map[int]string{120: "42", 0: "50"} {
		r, err := NewEngine(pack, src, time.Second).Report(t.Context(), second(from), second(3000), nil)
		if err != nil || !strings.Contains(whys(r.RuledOut), want) {
			t.Errorf("from %d: %q, %v; want %s", from, whys(r.RuledOut), err, want)
		}
	}
}

// Values of a minute that is over, or of an engine that stands still, are not
// given.
func TestQuietIsOfThePresentMinute(t *testing.T) {
	e := NewEngine(packOf(cause(t, "one", "a", "")), data(t, `a 1x10 7 1x200`, `level 0x300`), time.Second)
	steps(t, e, 0, 65)
	for at, want := range map[int]float64{66: 1, 124: 1} {
		got := e.Quiet(second(at))
		if len(got) != 1 || got[0].Value != want || got[0].Labels.String() != `{__name__="stallmark_quiet_worst", signature="one"}` {
			t.Errorf("at %d: %v", at, got)
		}
	}
	if got := e.Quiet(second(125)); got != nil {
		t.Errorf("an engine that stands still gives %v", got)
	}
}
