package rules

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"stallmark/storage/model"
)

func TestStretches(t *testing.T) {
	for name, c := range map[string]struct{ list, others, without, common []stretch }{
		"nothing":  {nil, []stretch{{1, 2}}, nil, nil},
		"apart":    {[]stretch{{1, 2}}, []stretch{{3, 4}}, []stretch{{1, 2}}, nil},
		"touching": {[]stretch{{1, 3}}, []stretch{{3, 4}}, []stretch{{1, 3}}, nil},
		"middle":   {[]stretch{{0, 9}}, []stretch{{2, 3}, {5, 6}}, []stretch{{0, 2}, {3, 5}, {6, 9}}, []stretch{{2, 3}, {5, 6}}},
		"whole":    {[]stretch{{2, 3}, {4, 5}}, []stretch{{0, 9}}, nil, []stretch{{2, 3}, {4, 5}}},
		"edges":    {[]stretch{{2, 6}}, []stretch{{0, 3}, {5, 9}}, []stretch{{3, 5}}, []stretch{{2, 3}, {5, 6}}},
		"several":  {[]stretch{{0, 4}, {6, 9}}, []stretch{{3, 7}}, []stretch{{0, 3}, {7, 9}}, []stretch{{3, 4}, {6, 7}}},
	} {
		if got := without(c.list, c.others); !slices.Equal(got, c.without) {
			t.Errorf("%s: without %v, want %v", name, got, c.without)
		}
		if got := common(c.list, c.others); !slices.Equal(got, c.common) {
			t.Errorf("%s: common %v, want %v", name, got, c.common)
		}
	}
}

// What was not measured during the window but is at its end was not ruled out.
func TestASourceThatWasMissingMeanwhile(t *testing.T) {
	const rest = `fault 0x399`
	for name, c := range map[string]struct {
		series []string
		want   string
	}{
		"all along":          {[]string{`b 3x399`}, "ruled out: b reached 3"},
		"a short silence":    {[]string{`b 3x199 _x5 3x195`}, "ruled out: b reached 3"},
		"a part":             {[]string{`b 3x199 stale _x19 3x180`}, "ruled out: b reached 3, not measured from 00:03:19 to 00:03:40"},
		"much of it":         {[]string{`b 3x199 stale _x99 3x99`}, "unknown: not measured from 00:03:19 to 00:05:00: bee is denied: why (no b), mend"},
		"in parts":           {[]string{`b 3x99 _x60 3x40 _x60 3x140`}, "unknown: not measured for 2m2s in 2 parts, first from 00:01:39 to 00:02:40: bee"},
		"from the beginning": {[]string{`b _x200 3x199`}, "unknown: not measured from 00:00:00 to 00:03:20: bee"},
		"another has it":     {[]string{`b{x="1"} 3x199 stale _x99 3x99`, `b{x="2"} _x180 3x219`}, "ruled out: b reached 3"},
		"only just missing":  {[]string{`b 3x385 stale`}, "unknown: bee is denied: why (no b), mend"},
	} {
		t.Run(name, func(t *testing.T) {
			src := data(t, append(c.series, rest)...)
			src.coverage = []model.Coverage{{Source: "bee", State: model.SourceDenied, Detail: "why", Mend: "mend", Provides: []string{"b"}}}
			r := replay(t, packOf(cause(t, "fault", "fault", ""), cause(t, "b", "b", "")), src, 399)
			if name == "only just missing" {
				r = replay(t, packOf(cause(t, "fault", "fault", ""), cause(t, "b", "b", "")), src, 399+20)
			}
			if got := outcomeOf(r, "b"); !strings.HasPrefix(got, c.want) {
				t.Errorf("%q, want %q", got, c.want)
			}
		})
	}
}

func outcomeOf(r model.Report, id string) string {
	for _, o := range r.RuledOut {
		if o.Signature == id {
			return "ruled out: " + o.Why
		}
	}
	for _, u := range r.Unknown {
		if u.Signature == id {
			return fmt.Sprintf("unknown: %s, %s", u.Why, u.Mend)
		}
	}
	return ""
}

// A short time is enough if something was wrong just then.
func TestASourceThatWasMissingDuringAFinding(t *testing.T) {
	src := data(t, `fault 0x199 20x20 0x179`, `b 3x199 stale _x19 3x180`)
	r := replay(t, packOf(cause(t, "fault", "fault", ""), cause(t, "b", "b", "")), src, 399)
	if got := outcomeOf(r, "b"); !strings.HasPrefix(got, "unknown: not measured from 00:03:19 to 00:03:40: nothing here measures b") {
		t.Error(got)
	}
}

// Where nothing at all was measured the recorder did not run: that is another
// matter, and makes nothing unknown.
func TestTheRecorderDidNotRun(t *testing.T) {
	src := data(t, `fault _x100 0x99 _x100 0x99`, `b _x100 3x99 _x100 3x99`)
	r := replay(t, packOf(cause(t, "fault", "fault", ""), cause(t, "b", "b", "")), src, 399)
	if got := outcomeOf(r, "b"); got != "ruled out: b reached 3" {
		t.Error(got)
	}
}

// What needs a broker needs it while there is one.
func TestGapsOfWhatDoesNotApply(t *testing.T) {
	const broker = `info{role="broker"} _x200 1x199`
	for used, want := range map[string]string{
		`used _x200 3x199`:          "ruled out: 3 in use",
		`used _x250 3x149`:          "unknown: not measured from 00:03:20 to 00:04:10",
		`used _x200 3x50 _x60 3x89`: "unknown: not measured from 00:04:10 to 00:05:11",
	} {
		r := replay(t, packOf(cause(t, "fault", "fault", ""), signature(t, "full", gated)), data(t, broker, used, `fault 0x399`), 399)
		if got := outcomeOf(r, "full"); !strings.HasPrefix(got, want) {
			t.Errorf("%s: %q, want %q", used, got, want)
		}
	}
}
