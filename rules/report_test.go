package rules

import (
	"context"
	"encoding/json"
	"errors"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"stallmark/storage/model"
)

// cause is a signature over one metric of its own, with a quiet line.
func cause(t *testing.T, id, metric, more string) *Signature {
	t.Helper()
	return signature(t, id, strings.ReplaceAll(strings.Replace(level, "Too high", "Title of "+id, 1), "level", metric)+
		"quiet: {expr: "+metric+", unit: count, text: '"+id+" reached {{.Value}}{{with .Labels.device}} on {{.}}{{end}}'}\n"+more)
}

// replay is the report on the first n seconds.
func replay(t *testing.T, pack *Pack, src Source, n int) model.Report {
	t.Helper()
	r, err := NewEngine(pack, src, time.Second).Replay(t.Context(), second(0), second(n))
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func whys(rs []model.RuledOut) string {
	var out []string
	for _, r := range rs {
		out = append(out, r.Signature+": "+r.Why)
	}
	return strings.Join(out, " | ")
}

func TestReport(t *testing.T) {
	pack := packOf(
		cause(t, "fault", "a", "explains: [noise]\ndifferential: [calm-two]"),
		cause(t, "calm-one", "b", ""),
		cause(t, "calm-two", "c", ""),
		cause(t, "blind", "d", ""),
		cause(t, "almost", "e", ""),
		signature(t, "noise", strings.ReplaceAll(strings.Replace(level, "cause", "symptom", 1), "level", "n")),
	)
	src := data(t, `a 0x9 20x30`, `b{device="x"} 1 7 1x40`, `b{device="y"} 2x40`, `c 3x9 8 3x40`, `e 0x39 20`, `n 0x11 20x28`)
	src.coverage = []model.Coverage{{Source: "dee", State: model.SourceDenied, Detail: "no permission", Mend: "grant it", Provides: []string{"d"}}}
	r := replay(t, pack, src, 40)
	if len(r.Findings) != 2 || r.Findings[0].Signature != "fault" {
		t.Fatalf("got findings %+v", r.Findings)
	}
	if len(r.Incidents) != 1 || r.Incidents[0].Root != r.Findings[0].ID || len(r.Incidents[0].Findings) != 2 {
		t.Errorf("got incidents %+v", r.Incidents)
	}
	// The worst over the window, not only the last; its own differential first.
	// What holds at this very moment is not ruled out: who can say?
	if got, want := whys(r.RuledOut), "calm-two: calm-two reached 8 | calm-one: calm-one reached 7 on x"; got != want {
		t.Errorf("ruled out %q, want %q", got, want)
	}
	want := []model.Unknown{
		{
			Signature: "almost", Title: "Title of almost", Layer: model.LayerCause, Severity: model.SeverityCritical,
			Why: "its condition holds, but not yet for the 2s after which it counts", Mend: "watch for longer",
		},
		{
			Signature: "blind", Title: "Title of blind", Layer: model.LayerCause, Severity: model.SeverityCritical,
			Why: "dee is denied: no permission (no d)", Mend: "grant it",
		},
	}
	if !reflect.DeepEqual(r.Unknown, want) {
		t.Errorf("got unknown %+v, want %+v", r.Unknown, want)
	}
	if len(r.Coverage) != 1 || r.Coverage[0].Source != "dee" {
		t.Errorf("got coverage %+v", r.Coverage)
	}
	if got, want := whys(r.Findings[0].RuledOut), "calm-two: calm-two reached 8 | calm-one: calm-one reached 2 on y"; !strings.HasPrefix(got, want) {
		t.Errorf("the finding rules out %q, want first %q (over its own span)", got, want)
	}
}

// A rate over ten seconds of which three have passed rules nothing out.
func TestReportRulesNothingOutTooEarly(t *testing.T) {
	slow := strings.Replace(level, "level > 10", "rate(level[10s]) > 10", 1)
	if slow == level {
		t.Fatalf("no condition to replace in %s", level)
	}
	src := data(t, `level 0x60`)
	for _, c := range []struct {
		from, to int
		want     string // why it is unknown, empty if it is ruled out
	}{
		{0, 0, "watched for 0s only, ruling it out takes 12s"},
		{0, 3, "watched for 3s only, ruling it out takes 12s"},
		{0, 12, ""},
		{30, 33, ""}, // the data go further back than the window
	} {
		pack := packOf(signature(t, "slow", slow))
		r, err := NewEngine(pack, src, time.Second).Replay(t.Context(), second(c.from), second(c.to))
		if err != nil {
			t.Fatal(err)
		}
		var why string
		for _, u := range r.Unknown {
			why += u.Why
		}
		if why != c.want || (len(r.RuledOut) == 1) != (c.want == "") {
			t.Errorf("%d to %d s: unknown %q, want %q; ruled out %q", c.from, c.to, why, c.want, whys(r.RuledOut))
		}
	}
}

// A cause that fired during a finding is not ruled out for it afterwards.
func TestFindingRemembersOtherCauses(t *testing.T) {
	pack := packOf(cause(t, "one", "a", ""), cause(t, "two", "b", ""))
	r := replay(t, pack, data(t, `a 0x9 20x40`, `b 0x14 20x4 0x30`), 45)
	for _, f := range r.Findings {
		if len(f.RuledOut) > 0 {
			t.Errorf("%s rules out %q, which fired during it", f.Signature, whys(f.RuledOut))
		}
	}
}

// A cause that is measured only later is ruled out by what is measured then,
// and by its worst value from there on.
func TestFindingRulesOutWhatIsMeasuredLater(t *testing.T) {
	pack := packOf(cause(t, "one", "a", ""), cause(t, "late", "b", ""))
	e := NewEngine(pack, data(t, `a 0x9 20x40`, `b _x19 4x5 6x3 5x20`), time.Second)
	next := 0
	for _, c := range []struct {
		beat int
		want string
	}{{18, ""}, {23, "late: late reached 4"}, {28, "late: late reached 6"}, {40, "late: late reached 6"}} {
		steps(t, e, next, c.beat)
		next = c.beat + 1
		open := e.Open()
		if len(open) != 1 || whys(open[0].RuledOut) != c.want {
			t.Errorf("beat %d: got %v, want %q ruled out", c.beat, open, c.want)
		}
	}
}

func TestReportSlicesAreNeverNull(t *testing.T) {
	for name, r := range map[string]model.Report{
		"empty":     replay(t, packOf(), &memSource{}, 3),
		"a finding": replay(t, packOf(signature(t, "too-high", level)), data(t, `level 20x9`), 9),
	} {
		text, err := json.Marshal(r)
		if err != nil {
			t.Fatal(err)
		}
		var shown map[string]any
		if err := json.Unmarshal(text, &shown); err != nil {
			t.Fatal(err)
		}
		if strings.Contains(strings.ReplaceAll(string(text), `"ended":null`, ""), "null") {
			t.Errorf("%s: null in %s", name, text)
		}
	}
	r, err := NewEngine(packOf(), &memSource{}, time.Second).Report(t.Context(), second(0), second(9), []model.Finding{{ID: "x", Started: second(1)}})
	if text, _ := json.Marshal(r); err != nil || strings.Contains(strings.ReplaceAll(string(text), `"ended":null`, ""), "null") {
		t.Errorf("null in %s (%v)", text, err)
	}
}

func TestReportTakesTheFindingsOfTheWindow(t *testing.T) {
	e := NewEngine(packOf(), &memSource{}, time.Second)
	r, err := e.Report(t.Context(), second(100), second(200), []model.Finding{
		f("s-after", 201, -1), f("s-during", 150, 160), f("s-into", 50, 100), f("s-before", 10, 99), f("s-open", 20, -1),
	})
	if err != nil {
		t.Fatal(err)
	}
	var ids []string
	for _, x := range r.Findings {
		ids = append(ids, x.ID)
	}
	if got := strings.Join(ids, " "); got != "s-open s-into s-during" {
		t.Errorf("got %s", got)
	}
}

// Without the store there is no verdict, but the findings are still there.
func TestReportWithoutTheStore(t *testing.T) {
	e := NewEngine(packOf(cause(t, "one", "a", "")), brokenSource{&memSource{}}, time.Second)
	r, err := e.Report(t.Context(), second(0), second(9), []model.Finding{f("s1", 1, 2)})
	if !errors.Is(err, errBroken) || len(r.Findings) != 1 || len(r.RuledOut) != 0 {
		t.Errorf("got %+v, %v", r, err)
	}
}

// Live and replay give the same findings, for every shipped signature.
func TestReplayIsTheSameAsLive(t *testing.T) {
	for _, s := range loadBuiltIn(t).Signatures {
		i := slices.IndexFunc(s.Tests, func(c TestCase) bool { return c.Expect == ExpectFiring })
		if i < 0 {
			continue // TestShippedSignaturesAreTested says so
		}
		src, n, err := s.Tests[i].source()
		if err != nil {
			t.Fatal(err)
		}
		live := latest(steps(t, NewEngine(packOf(s), src, time.Second), 0, n-1))
		sortFindings(live)
		r := replay(t, packOf(s), src, n-1)
		if len(live) == 0 || !reflect.DeepEqual(inWindow(live, second(0), second(n)), r.Findings) {
			t.Errorf("%s, %s: live %+v, replayed %+v", s.ID, s.Tests[i].Name, live, r.Findings)
		}
	}
}

func TestReplayStopsWhenAsked(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := NewEngine(packOf(), &memSource{}, time.Second).Replay(ctx, second(0), second(1e6)); err == nil {
		t.Error("no error after it was cancelled")
	}
}

// A metric is missing when it never was, has fallen silent for long, or has
// been ended; a short silence is not missing.
func TestUnknown(t *testing.T) {
	for _, c := range []struct {
		name, series string
		at           int
		unknown      bool
	}{
		{"measured", `a 0x60`, 50, false},
		{"never measured", `b 0x60`, 50, true},
		{"silent for 20 s", `a 0x29 _x30`, 49, false},
		{"silent for 31 s", `a 0x9 _x50`, 40, true},
		{"ended", `a 0x9 stale _x30`, 12, true},
		{"ended and back", `a 0x9 stale 0x30`, 12, false},
		{"one of two ended", `a{device="x"} 0x9 stale _x30|a{device="y"} 0x40`, 12, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			src := data(t, strings.Split(c.series, "|")...)
			r, err := NewEngine(packOf(cause(t, "one", "a", "")), src, time.Second).Report(t.Context(), second(0), second(c.at), nil)
			if err != nil {
				t.Fatal(err)
			}
			if (len(r.Unknown) == 1) != c.unknown || (len(r.RuledOut) == 1) == c.unknown {
				t.Errorf("got unknown %v, ruled out %v", r.Unknown, r.RuledOut)
			}
		})
	}
}

func TestNeedsMayBeAlternatives(t *testing.T) {
	s := signature(t, "one", strings.Replace(level, "needs: [level]", "needs: ['level(_v2)?']", 1))
	for series, unknown := range map[string]int{`level_v2 1x9`: 0, `level 1x9`: 0, `level_v3 1x9`: 1} {
		r := replay(t, packOf(s), data(t, series), 9)
		if len(r.Unknown) != unknown {
			t.Errorf("%s: got %v", series, r.Unknown)
		}
	}
}

func TestExplainMissing(t *testing.T) {
	coverage := []model.Coverage{
		{Source: "vmstat", State: model.SourceOK, Provides: []string{"node_vmstat_"}},
		{Source: "pressure", State: model.SourceAbsent, Detail: "PSI is off", Mend: "boot with psi=1", Provides: []string{"node_pressure_"}},
		{Source: "all", State: model.SourceFailed, Provides: []string{"node_"}},
	}
	for _, c := range []struct {
		missing   []string
		why, mend string
	}{
		{[]string{"node_vmstat_x"}, "vmstat is read, but has no node_vmstat_x", ""},
		{
			[]string{"node_pressure_a", "node_pressure_b"},
			"pressure is absent: PSI is off (no node_pressure_a, node_pressure_b)", "boot with psi=1",
		},
		{[]string{"node_load1"}, "all is failed (no node_load1)", ""},
		{[]string{"jvm_x", "node_vmstat_x"}, "nothing here measures jvm_x; vmstat is read, but has no node_vmstat_x", ""},
	} {
		why, mend := explainMissing(c.missing, coverage)
		if why != c.why || mend != c.mend {
			t.Errorf("%v: got %q and %q, want %q and %q", c.missing, why, mend, c.why, c.mend)
		}
	}
}
