package postmortem

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/prometheus/promql"

	"stallmark/storage/model"
)

// flat answers every question with a value before a time and another after it.
type flat struct {
	turn int64 // milliseconds
	err  error
}

func (f flat) Range(_ context.Context, _ string, from, to time.Time, step time.Duration) (promql.Matrix, error) {
	var points []promql.FPoint
	for at := from; !at.After(to); at = at.Add(step) {
		v := 41.0
		if at.UnixMilli() >= f.turn {
			v = 0
		}
		points = append(points, promql.FPoint{T: at.UnixMilli(), F: v})
	}
	return promql.Matrix{{Floats: points}}, f.err
}

func reportOf(in Input) model.Report {
	return model.Report{
		Window: model.Window{From: at(0), To: at(600)}, Findings: in.Findings, Incidents: []model.Incident{in.Incident},
		RuledOut: in.RuledOut, Unknown: in.Unknown,
	}
}

func TestIncident(t *testing.T) {
	in := throttled()
	in.Findings[3].Evidence[1].Expr = "rate(pauses[3s])"
	events := []model.Event{{From: at(130), To: at(130), Kind: model.EventSetting, Attrs: map[string]string{"key": "sysctl.vm.dirty_bytes", "old": "0", "new": "1"}}}
	about := About{Host: "h", Version: "v", Now: at(600), Interval: time.Second}
	for _, id := range []string{"c", "s", "m"} {
		got, ok, err := Incident(t.Context(), flat{turn: at(130).UnixMilli()}, about, reportOf(in), id, events)
		if !ok || err != nil || !strings.Contains(got, "Writers seen waiting: 41 before, 0 after (gone)") {
			t.Errorf("%s: %v, %v\n%s", id, ok, err, got)
		}
	}
	if _, ok, _ := Incident(t.Context(), flat{}, about, reportOf(in), "x", nil); ok {
		t.Error("a finding of no incident has one")
	}
	got, ok, err := Incident(t.Context(), flat{err: errors.New("no disk")}, about, reportOf(in), "c", events)
	if !ok || err == nil || !strings.Contains(got, "## Evidence") {
		t.Errorf("with an error the rest is not written: %v, %v", ok, err)
	}
}

func TestAll(t *testing.T) {
	about := About{Host: "h|x", Version: "v", Now: at(600), Interval: time.Second}
	got, err := All(t.Context(), flat{}, about, reportOf(throttled()), nil)
	if err != nil || strings.Count(got, "# Post-mortem") != 1 {
		t.Errorf("%v\n%s", err, got)
	}
	calm := model.Report{
		Window: model.Window{From: at(0), To: at(60)}, RuledOut: []model.RuledOut{{Signature: "a", Why: "3 ms"}},
		Unknown: []model.Unknown{{Signature: "b", Why: "PSI is off"}}, NotApplicable: []model.NotApplicable{{Signature: "c", Why: "no watched broker"}},
	}
	got, err = All(t.Context(), flat{}, about, calm, nil)
	for _, want := range []string{`# h\|x: no known stall`, "- a: 3 ms", "- b: PSI is off", "- c: no watched broker"} {
		if err != nil || !strings.Contains(got, want) {
			t.Errorf("%q is not in (%v)\n%s", want, err, got)
		}
	}
}
