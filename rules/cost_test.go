package rules

import (
	"fmt"
	"strings"
	"testing"
)

// dear reads what it is given for ten minutes back, from every series there is.
const dear = `
title: Dear
layer: cause
severity: critical
needs: [level]
when: %s
quiet: {expr: level, unit: count, text: "level {{.Value}}"}
what: It reads too much.
`

// wideSource is a source of so many series of 700 samples.
func wideSource(t *testing.T, n int) *memSource {
	t.Helper()
	series := []string{`level 3x700`}
	for i := range n {
		series = append(series, fmt.Sprintf(`many{n="%d"} 20x700`, i))
	}
	return data(t, series...)
}

func TestADearSignatureIsSwitchedOff(t *testing.T) {
	src := wideSource(t, 400)
	for name, c := range map[string]struct {
		when     string
		builtIn  bool
		off      bool
		findings int
	}{
		"dear":                   {"count(max_over_time(many[10m])) > 1", false, true, 1},
		"dear, a subquery":       {"max_over_time(level[10m:1s]) > 100 or count(avg_over_time(many[5m:1s])) > 1", false, true, 1},
		"dear, proven by bounds": {"max_over_time(many[10m]) > 100", false, true, 0},
		"one of ours":            {"count(max_over_time(many[10m])) > 1", true, false, 1},
		"cheap":                  {"count(many) > 1", false, false, 1},
	} {
		t.Run(name, func(t *testing.T) {
			s := signature(t, "dear", fmt.Sprintf(dear, c.when))
			s.BuiltIn = c.builtIn
			other := cause(t, "other", "level", "")
			e := NewEngine(packOf(s, other), src, judgeEvery)
			fs := latest(steps(t, e, 650, 665))
			if len(fs) != c.findings {
				t.Fatalf("findings %+v", fs)
			}
			if c.findings > 0 && c.off != (fs[0].Ended != nil) {
				t.Errorf("switched off, its finding ended: %v", fs[0].Ended)
			}
			r, err := e.Report(t.Context(), second(600), second(665), fs)
			if err != nil {
				t.Fatal(err)
			}
			off := len(r.Unknown) == 1 && strings.HasPrefix(r.Unknown[0].Why, "it is switched off: it read up to") && strings.Contains(r.Unknown[0].Mend, "SIGHUP")
			if off != c.off {
				t.Errorf("unknown: %+v", r.Unknown)
			}
			if got := whys(r.RuledOut); !strings.Contains(got, "other: ") {
				t.Errorf("the others suffer: %s", got)
			}
		})
	}
}

// A beat now and then over the budget, say the first of a finding, is forgiven.
func TestSeldomDearIsForgiven(t *testing.T) {
	var m meter
	for range 100 {
		m.beat = maxCost + 1
		m.close(true)
		m.beat = 5
		m.close(true)
	}
	if m.off {
		t.Error("switched off by every second beat")
	}
	for range costTries {
		m.beat = maxCost + 1
		m.close(true)
	}
	if !m.off || m.peak != maxCost+1 {
		t.Errorf("%+v", m)
	}
}

func TestCosts(t *testing.T) {
	e := NewEngine(packOf(signature(t, "dear", fmt.Sprintf(dear, "count(max_over_time(many[10m])) > 100")), cause(t, "other", "level", "")), wideSource(t, 50), judgeEvery)
	steps(t, e, 650, 655)
	list := e.Costs()
	if len(list) != 2 || list[0].Signature != "dear" || list[0].Mean < 20_000 || list[0].Budget != maxCost || list[0].Off || list[1].Mean > 100 {
		t.Errorf("%+v", list)
	}
}
