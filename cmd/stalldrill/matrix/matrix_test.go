package matrix

import (
	"context"
	"errors"
	"reflect"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"stallmark/cmd/stalldrill/drill"
	"stallmark/cmd/stalldrill/work"
	"stallmark/storage/model"
)

var began = time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)

func after(seconds float64) time.Time {
	return began.Add(time.Duration(seconds * float64(time.Second)))
}

// provoked is a drill of 20 s that went well, prepared for 10 s.
func provoked(truth ...string) drill.Result {
	return drill.Result{
		Mode: "m", Truth: truth, Also: []string{"also"}, Prepared: after(-10), Began: began, Ended: after(20), Provoked: true,
	}
}

// said is a root finding of the layer of causes from so many seconds on.
func said(signature string, severity model.Severity, from float64, change ...func(*Said)) Said {
	s := Said{Root: true, First: after(from + 3), Finding: model.Finding{
		ID: signature, Signature: signature, Layer: model.LayerCause, Severity: severity, Confidence: model.Confirmed, Started: after(from),
	}}
	for _, f := range change {
		f(&s)
	}
	return s
}

func until(seconds float64) func(*Said) {
	return func(s *Said) { end := after(seconds); s.Finding.Ended = &end }
}
func explained(s *Said) { s.Root = false }
func mechanism(s *Said) { s.Finding.Layer = model.LayerMechanism }

func TestJudge(t *testing.T) {
	critical, warning, info := model.SeverityCritical, model.SeverityWarning, model.SeverityInfo
	harmless := provoked()
	harmless.Harmless = true
	for _, tt := range []struct {
		name  string
		res   drill.Result
		said  []Said
		kinds []Kind
		wrong int
	}{
		{"the cause", provoked("a"), []Said{said("a", critical, 2)}, []Kind{Wanted}, 0},
		{"one of two causes", provoked("a", "b"), []Said{said("b", warning, 2)}, []Kind{Wanted}, 0},
		{"nothing", provoked("a"), nil, nil, 1},
		{"a cause that weighs little", provoked("a"), []Said{said("a", info, 2), said("x", info, 2)}, []Kind{Wanted, Beside}, 0},
		{"another root", provoked("a"), []Said{said("a", critical, 2), said("x", warning, 4)}, []Kind{Wanted, Untrue}, 1},
		{"only another", provoked("a"), []Said{said("x", warning, 4)}, []Kind{Untrue}, 2},
		{"what may be beside", provoked("a"), []Said{said("a", critical, 2), said("also", critical, 3)}, []Kind{Wanted, Beside}, 0},
		{"under the cause", provoked("a"), []Said{said("a", critical, 2), said("x", critical, 3, explained)}, []Kind{Wanted, Beside}, 0},
		{"a mechanism", provoked("a"), []Said{said("a", critical, 2), said("x", warning, 3, mechanism)}, []Kind{Wanted, Beside}, 0},
		{"of others", provoked("a"), []Said{said("a", critical, 2), said("cpu", warning, 3)}, []Kind{Wanted, Beside}, 0},
		{"there before", provoked("a"), []Said{said("x", critical, -60), said("a", critical, 2)}, []Kind{Earlier, Wanted}, 0},
		{"of the preparation", provoked("a"), []Said{said("x", critical, -8, until(3)), said("a", critical, 2)}, []Kind{Earlier, Wanted}, 0},
		{"begun by the preparation, and on", provoked("a"), []Said{said("x", critical, -8), said("a", critical, 2)}, []Kind{Untrue, Wanted}, 1},
		{"over before", provoked("a"), []Said{said("x", critical, -8, until(-1)), said("a", critical, 2)}, []Kind{Wanted}, 0},
		{"begun after", provoked("a"), []Said{said("a", critical, 2), said("x", critical, 21)}, []Kind{Wanted}, 0},
		{"the kernel is not to blame", provoked(), []Said{said("x", warning, 2)}, []Kind{Untrue}, 1},
		{"harmless, and nothing", harmless, nil, nil, 0},
		{"harmless, and critical", harmless, []Said{said("x", critical, 2, mechanism)}, []Kind{Untrue}, 1},
		{"harmless, and a mechanism", harmless, []Said{said("x", warning, 2, mechanism)}, []Kind{Beside}, 0},
		{"harmless, and another cause", harmless, []Said{said("x", warning, 2)}, []Kind{Untrue}, 1},
	} {
		v := Judge(tt.res, tt.said, []string{"cpu"})
		var kinds []Kind
		for _, w := range v.Said {
			kinds = append(kinds, w.Kind)
		}
		if !slices.Equal(kinds, tt.kinds) || len(v.Wrong) != tt.wrong || v.Right != (tt.wrong == 0) || v.Spoilt != "" {
			t.Errorf("%s: %v, wrong %q, spoilt %q; want %v and %d wrong", tt.name, kinds, v.Wrong, v.Spoilt, tt.kinds, tt.wrong)
		}
	}
}

func TestDrillsThatProveNothing(t *testing.T) {
	cut, unseen := provoked("a"), provoked("a")
	cut.Cut = "interrupted"
	unseen.Provoked = false
	for want, res := range map[string]drill.Result{"did not begin": {Mode: "m"}, "ended early": cut, "no sign": unseen} {
		if v := Judge(res, nil, nil); !strings.Contains(v.Spoilt, want) {
			t.Errorf("spoilt %q, want %q", v.Spoilt, want)
		}
	}
}

// fake is a recorder that says something from a time on.
type fake struct {
	said    []model.Finding
	from    time.Time
	asked   atomic.Int32
	stopped bool
	kept    bool
	err     error
}

func (f *fake) Report(_ context.Context, _, to time.Time) (model.Report, error) {
	f.asked.Add(1)
	r := model.Report{}
	for _, found := range f.said {
		if to.Before(f.from) {
			break
		}
		r.Findings = append(r.Findings, found)
		r.Incidents = append(r.Incidents, model.Incident{Root: found.ID, Findings: []string{found.ID}})
	}
	return r, f.err
}

func (f *fake) Stop(keep bool) (string, error) {
	f.stopped, f.kept = true, keep
	if keep {
		return "kept.tar.zst", nil
	}
	return "", nil
}

// drilled is a drill of 10 s after 5 s of preparation.
func drilled(_ context.Context, m drill.Mode) (drill.Result, error) {
	row := func(operation, phase string, p99 float64) work.Row {
		return work.Row{Operation: operation, Phase: phase, Wait: work.Felt{P99: p99}}
	}
	res := drill.Result{
		Mode: m.Name, Truth: m.Truth, Harmless: m.Harmless, Provoked: true, Prepared: time.Now(),
		Victim: []work.Row{row("append", "before", 1), row("append", "drill", 20), row("fsync", "before", 3), row("fsync", "drill", 4)},
	}
	time.Sleep(5 * time.Second)
	res.Began = time.Now()
	time.Sleep(10 * time.Second)
	res.Ended = time.Now()
	return res, nil
}

func TestRunAsksWhileTheDrillGoesOn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var recorders []*fake
		var done Matrix
		c := Config{
			Modes: []drill.Mode{{Name: "a", Truth: []string{"a"}}, {Name: "idle", Harmless: true}}, Times: 2, Gap: time.Second,
			Drill: drilled, Log: t.Logf, Done: func(v Verdict) error { done = append(done, v); return nil },
			Start: func(context.Context, string) (Recorder, error) {
				now := time.Now()
				f := &fake{from: now.Add(8 * time.Second), said: []model.Finding{
					{ID: "1", Signature: "a", Layer: model.LayerCause, Severity: model.SeverityCritical, Started: now.Add(6 * time.Second)},
				}}
				recorders = append(recorders, f)
				return f, nil
			},
		}
		m, err := Run(t.Context(), c)
		if err != nil || len(m) != 4 {
			t.Fatalf("%d verdicts, %v", len(m), err)
		}
		if !reflect.DeepEqual(done, m) {
			t.Errorf("handed on %+v of %+v", done, m)
		}
		if wrong, spoilt := m.Wrong(); wrong != 2 || spoilt != 0 {
			t.Errorf("%d wrong, %d spoilt; want the two of idle", wrong, spoilt)
		}
		if got := m[0].Said[0].Seconds; got != 3 {
			t.Errorf("said after %v s, want 3", got)
		}
		for i, r := range recorders {
			if wrong := i%2 == 1; !r.stopped || r.kept != wrong || (m[i].Kept != "") != wrong {
				t.Errorf("recorder %d: stopped %v, kept %v as %q", i, r.stopped, r.kept, m[i].Kept)
			}
		}
		var b strings.Builder
		m.Print(&b)
		for _, want := range []string{
			"| a        | 2 of 2 | *2: 3.0, 3.0 s |", "| idle     | 0 of 2 | !2: 3.0, 3.0 s |", "| append 1.0 ms, 20.0 ms  |",
			"recording: kept.tar.zst", "4 drills, 2 wrong, 0 prove nothing",
		} {
			if !strings.Contains(b.String(), want) {
				t.Errorf("printed\n%s\nwithout %q", b.String(), want)
			}
		}
	})
}

func TestRunEndsWhenSomethingFails(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		broken := errors.New("broken")
		mode := drill.Mode{Name: "a", Truth: []string{"a"}}
		rec := &fake{err: broken}
		start := func(context.Context, string) (Recorder, error) { return rec, nil }
		c := Config{Modes: []drill.Mode{mode}, Times: 1, Start: start, Drill: drilled, Log: t.Logf}
		if m, err := Run(t.Context(), c); !errors.Is(err, broken) || len(m) != 0 || !rec.stopped {
			t.Errorf("a recorder that does not answer: %v, %v, stopped %v", m, err, rec.stopped)
		}
		rec.err = nil
		c.Drill = func(context.Context, drill.Mode) (drill.Result, error) {
			return drill.Result{Mode: "a"}, errors.New("too little memory")
		}
		if m, err := Run(t.Context(), c); err != nil || m[0].Spoilt != "too little memory" {
			t.Errorf("a drill that could not begin: %+v, %v", m, err)
		}
		c.Drill = func(ctx context.Context, m drill.Mode) (drill.Result, error) {
			res, _ := drilled(ctx, m)
			res.Restored.Problems = []string{"vm.dirty_bytes"}
			return res, nil
		}
		if _, err := Run(t.Context(), c); err == nil || !strings.Contains(err.Error(), "NOT RESTORED") {
			t.Errorf("a setting that was not restored: %v", err)
		}
		ended, cancel := context.WithCancel(t.Context())
		cancel()
		if m, err := Run(ended, c); err == nil || len(m) != 0 {
			t.Errorf("interrupted: %v, %v", m, err)
		}
	})
}
