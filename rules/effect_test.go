package rules

import (
	"strings"
	"testing"
	"time"

	"stallmark/storage/model"
)

// setting is an event of a changed setting.
func setting(at int, key, old, now string) model.Event {
	return model.Event{From: second(at), To: second(at), Kind: model.EventSetting, Attrs: map[string]string{"key": key, "old": old, "new": now}}
}

// stall is a finding with one witness over a counter and one confirmation over a
// gauge.
func stall(from, to int) model.Finding {
	zero, ten := 0.0, 10.0
	f := model.Finding{
		ID: "f", Started: second(from), Subject: map[string]string{"device": "a"},
		Evidence: []model.Evidence{
			{Title: "Pauses", Expr: `rate(pauses{device="a"}[3s])`, Unit: "per_second", Role: model.RoleWitness, Threshold: &zero},
			{Title: "Level", Expr: "level", Unit: "percent", Role: model.RoleConfirms, Threshold: &ten},
			{Title: "Aside", Expr: "level", Unit: "percent", Role: model.RoleContext},
		},
	}
	if to >= 0 {
		end := second(to)
		f.Ended = &end
	}
	return f
}

func TestEffects(t *testing.T) {
	src := data(t,
		`pauses{device="a"} 0+41x59 2419x60`, `pauses{device="b"} 0+9x119`,
		`level{device="a"} 50x59 30x60`, `level{device="b"} 90x119`)
	q := NewQuery(src, time.Second)
	for name, c := range map[string]struct {
		events []model.Event
		f      model.Finding
		now    int
		want   []string
	}{
		"it ended the pauses": {
			[]model.Event{setting(60, "sysctl.vm.dirty_bytes", "0", "268435456")},
			stall(5, 62), 119,
			[]string{"since 00:01:00 UTC: Pauses 41/s -> 0/s (gone)", "since 00:01:00 UTC: Level 50 % -> 30 % (less)"},
		},
		"too early to say":      {[]model.Event{setting(60, "k", "0", "1")}, stall(5, -1), 64, []string{"nothing measured"}},
		"nothing changed by it": {[]model.Event{setting(30, "k", "0", "1")}, stall(5, -1), 55, []string{"Pauses 39.6/s -> 41/s (same)", "Level 50 % -> 50 % (same)"}},
		"long before":           {[]model.Event{setting(2, "k", "0", "1")}, stall(90, -1), 119, nil},
		"long after":            {[]model.Event{setting(100, "k", "0", "1")}, stall(5, 20), 119, nil},
		"another kind":          {[]model.Event{{From: second(60), To: second(60), Kind: model.EventSelf, Text: "x"}}, stall(5, -1), 119, nil},
		"two at once": {
			[]model.Event{setting(60, "k", "0", "1"), setting(60, "l", "0", "1")},
			stall(5, 62), 119,
			[]string{"Pauses 41/s -> 0/s (gone)", "Level 50 % -> 30 % (less)"},
		},
		"the next one ends its time": {
			[]model.Event{setting(40, "k", "0", "1"), setting(60, "k", "1", "0")},
			stall(5, -1), 119,
			[]string{"Pauses 39.9/s -> 41/s (same)", "Level 50 % -> 50 % (same)", "Pauses 41/s -> 0/s (gone)", "Level 50 % -> 30 % (less)"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := Effects(t.Context(), q, c.f, c.events, second(c.now), time.Second)
			if err != nil {
				t.Fatal(err)
			}
			var all []string
			for _, e := range got {
				if len(e.Measures) == 0 {
					all = append(all, "nothing measured")
				}
				for _, m := range e.Measures {
					all = append(all, m.Text+" ("+m.Change+")")
				}
			}
			if len(all) != len(c.want) {
				t.Fatalf("got %q, want %q", all, c.want)
			}
			for i := range all {
				if !strings.HasSuffix(all[i], c.want[i]) {
					t.Errorf("got %q, want %q", all[i], c.want[i])
				}
			}
		})
	}
}

func TestChangeOf(t *testing.T) {
	limit, low := 10.0, 3.0
	high := model.Evidence{Threshold: &limit}
	small := model.Evidence{Threshold: &limit, Value: &low, State: model.EvidenceHolds}
	moving := model.Evidence{Threshold: &limit, Limit: "x"}
	for name, c := range map[string]struct {
		e             model.Evidence
		before, after scatter
		want          string
	}{
		"gone":                {high, scatter{9, 50, 0}, scatter{9, 2, 0}, MeasureGone},
		"come":                {high, scatter{9, 2, 0}, scatter{9, 50, 0}, MeasureCome},
		"less, still over it": {high, scatter{9, 50, 0}, scatter{9, 30, 0}, MeasureLess},
		"more":                {high, scatter{9, 20, 0}, scatter{9, 30, 0}, MeasureMore},
		"within the scatter":  {high, scatter{9, 50, 20}, scatter{9, 2, 10}, MeasureSame},
		"hardly":              {high, scatter{9, 10.3, 0}, scatter{9, 9.9, 0}, MeasureSame},
		"small is bad: gone":  {small, scatter{9, 3, 0}, scatter{9, 60, 0}, MeasureGone},
		"small is bad: come":  {small, scatter{9, 60, 0}, scatter{9, 3, 0}, MeasureCome},
		"the threshold moves": {moving, scatter{9, 50, 0}, scatter{9, 2, 0}, MeasureLess},
	} {
		if got := changeOf(c.e, c.before, c.after); got != c.want {
			t.Errorf("%s: %s, want %s", name, got, c.want)
		}
	}
}
