package rules

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	promstorage "github.com/prometheus/prometheus/storage"

	"stallmark/storage/model"
)

func TestEngineFindsSpans(t *testing.T) {
	for _, c := range []struct {
		name, series string
		extra        string
		spans        [][2]int // since, until
	}{
		{"calm", `level 0x30`, "", nil},
		{"one stall", `level 0x9 20x9 0x10`, "", [][2]int{{10, 19}}},
		{"still going on", `level 0x9 20x20`, "", [][2]int{{10, -1}}},
		{"too short", `level 0x9 20x1 0x18`, "", nil},
		{"flapping is one", `level 0x9 20x4 0x1 20x3 0x10`, "", [][2]int{{10, 20}}},
		{"two stalls", `level 0x4 20x4 0x9 20x4 0x9`, "", [][2]int{{5, 9}, {20, 24}}},
		{"a gap in the data shorter than is bridged", `level 0x4 20x4 _x2 20x4 0x9`, "", [][2]int{{5, 16}}},
		{"the series ends", `level 0x4 20x4 stale _x9`, "", [][2]int{{5, 9}}},
		{
			"a window is judged, the extent finds the stall",
			`level 0x9 20x4 0x20`, "when: max_over_time(level[10s]) > 10\nextent: level > 10",
			[][2]int{{10, 14}},
		},
		{
			"the extent is followed back over short gaps only",
			`level 20x1 0x7 20x1 0x1 20x8 0x9`, "when: min_over_time(level[4s]) > 10\nextent: level > 10\nlookback: 20s",
			[][2]int{{10, 22}},
		},
		{
			"the extent is followed back no further than lookback",
			`level 20x30`, "when: level > 10 and on() vector(time()) > 1767225620\nextent: level > 10\nlookback: 5s",
			[][2]int{{16, -1}},
		},
		{
			"the extent is not followed back into the finding before",
			`level 0x4 20x2 0x9 20x2 0x9`,
			"extent: level >= 0\nlookback: 20s",
			[][2]int{{0, 10}, {11, 23}},
		},
		{
			"no beat with extent: the beats of when",
			`level 0x9 20x9 0x10`, "extent: level > 100",
			[][2]int{{10, 19}},
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			text := level
			for line := range strings.Lines(level) {
				if key, _, _ := strings.Cut(line, ":"); strings.Contains("\n"+c.extra, "\n"+key+":") {
					text = strings.Replace(text, line, "", 1)
				}
			}
			s := signature(t, "too-high", text+c.extra)
			e := NewEngine(packOf(s), data(t, c.series), time.Second)
			var got [][2]int
			for _, f := range latest(steps(t, e, 0, 30)) {
				got = append(got, [2]int{since(f), until(f)})
			}
			if len(got) != len(c.spans) {
				t.Fatalf("got spans %v, want %v", got, c.spans)
			}
			for i := range got {
				if got[i] != c.spans[i] {
					t.Errorf("got spans %v, want %v", got, c.spans)
				}
			}
		})
	}
}

// A condition that holds must be seen at most 2 s after its `for`.
func TestEngineIsPrompt(t *testing.T) {
	e := NewEngine(packOf(signature(t, "too-high", level)), data(t, `level 0x9 20x20`), time.Second)
	for i, fs := range steps(t, e, 0, 20) {
		if len(fs) > 0 {
			if i > 10+2+2 {
				t.Errorf("true from 10 s with for: 2s, out at %d s", i)
			}
			return
		}
	}
	t.Error("nothing came out")
}

func TestEngineSubjects(t *testing.T) {
	src := data(t,
		`level{device="a"} 0x4 20x4 stale _x20`,
		`level{device="b"} 0x6 20x23`,
		`level{device="c"} 0x30`,
	)
	e := NewEngine(packOf(signature(t, "too-high", level)), src, time.Second)
	fs := latest(steps(t, e, 0, 29))
	if len(fs) != 2 {
		t.Fatalf("got %d findings, want 2", len(fs))
	}
	if a := fs[0]; a.Subject["device"] != "a" || a.State != model.StateResolved || until(a) != 9 {
		t.Errorf("a vanished at 10 s: got %v %s until %d, want resolved at 9", a.Subject, a.State, until(a))
	}
	if b := fs[1]; b.Subject["device"] != "b" || b.State != model.StateFiring || b.Ended != nil {
		t.Errorf("b goes on: got %v %s", b.Subject, b.State)
	}
	if _, has := fs[0].Subject["__name__"]; has {
		t.Error("the subject has the metric's name")
	}
	if fs[0].ID == fs[1].ID {
		t.Error("two subjects have the same id")
	}
}

func TestEnginePendingIsNoFinding(t *testing.T) {
	e := NewEngine(packOf(signature(t, "too-high", level)), data(t, `level 0x9 20x20`), time.Second)
	if out := latest(steps(t, e, 0, 11)); len(out) != 0 {
		t.Fatalf("pending came out: %v", out)
	}
	if p := e.Pending(); len(p) != 1 || p[0].State != model.StatePending || since(p[0]) != 10 {
		t.Errorf("got pending %+v", p)
	}
	steps(t, e, 12, 13)
	if len(e.Pending()) != 0 || len(e.Open()) != 1 {
		t.Errorf("got %d pending, %d open, want 0 and 1", len(e.Pending()), len(e.Open()))
	}
}

// Without one of its inputs a signature says nothing, whatever `when` gives.
func TestEngineNeedsItsInputs(t *testing.T) {
	s := signature(t, "too-high", strings.Replace(level, "needs: [level]", "needs: [level, other]", 1))
	if fs := latest(steps(t, NewEngine(packOf(s), data(t, `level 20x30`), time.Second), 0, 20)); len(fs) != 0 {
		t.Errorf("got %+v without an input", fs)
	}
	if fs := latest(steps(t, NewEngine(packOf(s), data(t, `level 20x30`, `other 0x30`), time.Second), 0, 20)); len(fs) != 1 {
		t.Errorf("got %d findings with all inputs, want 1", len(fs))
	}
}

// Nothing new, nothing out.
func TestEngineEmitsOnlyChanges(t *testing.T) {
	s := signature(t, "too-high", level+`
evidence:
  - {title: level, expr: level, unit: count, threshold: 10, role: confirms}
`)
	e := NewEngine(packOf(s), data(t, `level 0x9 20x5 30 20x14`), time.Second)
	var at []int
	for i, fs := range steps(t, e, 0, 25) {
		if len(fs) > 0 {
			at = append(at, i)
		}
	}
	if len(at) != 2 || at[0] != 12 || at[1] != 16 {
		t.Errorf("came out at %v s, want 12 (fired) and 16 (a higher value)", at)
	}
}

func TestEngineJudgesOnceASecond(t *testing.T) {
	e := NewEngine(packOf(signature(t, "too-high", level)), data(t, `level 20x30`), 100*time.Millisecond)
	counting := &countingSource{Source: e.src}
	e.src = counting
	for i := range 20 {
		if _, err := e.Step(t.Context(), testStart().Add(time.Duration(i)*100*time.Millisecond)); err != nil {
			t.Fatal(err)
		}
	}
	if counting.queriers != 2 {
		t.Errorf("20 beats of 100 ms read %d times, want 2", counting.queriers)
	}
}

type countingSource struct {
	Source
	queriers int
}

func (s *countingSource) Querier(mint, maxt int64) (promstorage.Querier, error) {
	s.queriers++
	return s.Source.Querier(mint, maxt)
}

// A signature that fails keeps its state and does not stop the others.
func TestEngineGoesOnAfterAnError(t *testing.T) {
	bad := signature(t, "bad", strings.Replace(level, "when: level > 10", "when: level * on (device) group_left other > 10", 1))
	good := signature(t, "good", level)
	src := data(t, `level{device="a"} 20x30`, `other{device="a",x="1"} 1x30`, `other{device="a",x="2"} 1x30`)
	e := NewEngine(packOf(bad, good), src, time.Second)
	var out []model.Finding
	var err error
	for i := range 5 {
		var fs []model.Finding
		if fs, err = e.Step(t.Context(), second(i)); len(fs) > 0 {
			out = append(out, fs...)
		}
	}
	if err == nil || !strings.Contains(err.Error(), "bad: ") {
		t.Errorf("got error %v, want one that names the signature", err)
	}
	if len(out) == 0 || out[0].Signature != "good" {
		t.Errorf("got %v, want a finding of the other signature", out)
	}
}

type brokenSource struct{ Source }

var errBroken = errors.New("the store does not answer")

func (brokenSource) Querier(int64, int64) (promstorage.Querier, error) { return nil, errBroken }

// Losing the store for a few beats must not end a finding.
func TestEngineKeepsStateWhileTheStoreIsAway(t *testing.T) {
	src := data(t, `level 20x40`)
	e := NewEngine(packOf(signature(t, "too-high", level)), src, time.Second)
	steps(t, e, 0, 5)
	e.src = brokenSource{src}
	e.query = NewQuery(e.src, time.Second)
	if _, err := e.Step(t.Context(), second(6)); !errors.Is(err, errBroken) {
		t.Fatalf("got error %v, want %v", err, errBroken)
	}
	e.src, e.query = src, NewQuery(src, time.Second)
	for i, fs := range steps(t, e, 7, 12) {
		for _, f := range fs {
			if f.State != model.StateFiring {
				t.Errorf("beat %d: %s", 7+i, f.State)
			}
		}
	}
	if len(e.Open()) != 1 {
		t.Errorf("got %d open findings, want 1", len(e.Open()))
	}
}

func TestEngineBoundsSubjects(t *testing.T) {
	var series []string
	for i := range maxSubjects + 20 {
		series = append(series, `level{device="d`+strings.Repeat("x", i)+`"} 20x5`)
	}
	e := NewEngine(packOf(signature(t, "too-high", level)), data(t, series...), time.Second)
	var err error
	for i := range 4 {
		_, err = e.Step(context.Background(), second(i))
	}
	if err == nil || len(e.Open()) != maxSubjects {
		t.Errorf("got %d open findings and error %v, want %d and an error", len(e.Open()), err, maxSubjects)
	}
}

func TestEngineFollowsAClockThatIsSetBack(t *testing.T) {
	e := NewEngine(packOf(signature(t, "too-high", level)), data(t, `level 0x9 20x20 0x30`), time.Second)
	if _, err := e.Step(t.Context(), second(4000)); err != nil {
		t.Fatal(err)
	}
	fs := latest(steps(t, e, 0, 50))
	if len(fs) != 1 || since(fs[0]) != 10 || until(fs[0]) != 30 {
		t.Errorf("got %+v, want one finding from 10 to 30", fs)
	}
}

// A finding that is open when the clock is set back is ended by silence, and
// not when the clock has caught up.
func TestEngineEndsFindingsAfterTheClockWasSetBack(t *testing.T) {
	e := NewEngine(packOf(signature(t, "too-high", level)), data(t, `level 0x2990 20x30`), time.Second)
	steps(t, e, 3000, 3005)
	if len(e.Open()) != 1 {
		t.Fatal("it does not fire")
	}
	fs := latest(steps(t, e, 100, 110))
	if len(fs) != 1 || fs[0].State != model.StateResolved {
		t.Errorf("got %+v, want it resolved", fs)
	}
}
