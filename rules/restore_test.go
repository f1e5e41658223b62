package rules

import (
	"strings"
	"testing"
	"time"

	"stallmark/storage/model"
)

// A restart: the engine is new, the store and the findings are not.
func TestRestore(t *testing.T) {
	evidence := level + `
evidence:
  - {title: level, expr: level, unit: count, threshold: 10, role: confirms}
`
	for _, c := range []struct {
		name, series string
		down, up     int // beats without an engine
		spans        [][2]int
		sameID       bool
		peak         float64
	}{
		{"it goes on", `level 0x9 90x4 20x60`, 20, 23, [][2]int{{10, -1}}, true, 90},
		{"it goes on after rates have come back", `level 0x9 90x4 20x60`, 20, 40, [][2]int{{10, -1}}, true, 90},
		{"it ended while nobody looked", `level 0x9 90x4 20x9 0x60`, 20, 30, [][2]int{{10, 24}}, true, 90},
		{"nobody recorded, and then it holds", `level 0x9 90x4 20x5 _x29 20x60`, 20, 50, [][2]int{{10, -1}}, true, 90},
		{"nobody recorded, and then it does not hold", `level 0x9 90x4 20x5 _x29 0x60`, 20, 50, [][2]int{{10, 22}}, true, 90},
		{"nobody recorded for too long", `level 0x9 90x4 20x5 _x800 20x60`, 20, 825, [][2]int{{10, 22}, {825, -1}}, false, 90},
	} {
		t.Run(c.name, func(t *testing.T) {
			src := data(t, c.series)
			pack := packOf(signature(t, "too-high", evidence))
			before := latest(steps(t, NewEngine(pack, src, time.Second), 0, c.down))
			if len(before) != 1 {
				t.Fatalf("got %d findings before the restart", len(before))
			}
			e := NewEngine(pack, src, time.Second)
			e.Restore(before)
			if open := e.Open(); len(open) != 1 || open[0].ID != before[0].ID {
				t.Errorf("open right after the restart: %+v", open)
			}
			all := latest(append([][]model.Finding{before}, steps(t, e, c.up, c.up+40)...))
			var got [][2]int
			for _, f := range all {
				got = append(got, [2]int{since(f), until(f)})
			}
			if len(got) != len(c.spans) {
				t.Fatalf("got spans %v, want %v", got, c.spans)
			}
			for i := range got {
				// A start is found anew at most an interval late.
				if got[i] != c.spans[i] {
					t.Errorf("got spans %v, want %v", got, c.spans)
				}
			}
			first := all[0]
			if num(first.Evidence[0].Value) != c.peak || first.Confidence != model.Likely {
				t.Errorf("got %v, %s: the values of before the restart are lost", num(first.Evidence[0].Value), first.Confidence)
			}
		})
	}
}

// The end of a stall that was over before the restart is that of its extent.
func TestRestoreEndsWithTheExtent(t *testing.T) {
	text := strings.Replace(level, "when: level > 10", "when: max_over_time(level[10s]) > 10\nextent: level > 10", 1)
	src := data(t, `level 0x9 20x9 0x60`)
	pack := packOf(signature(t, "too-high", text))
	before := latest(steps(t, NewEngine(pack, src, time.Second), 0, 15))
	e := NewEngine(pack, src, time.Second)
	e.Restore(before)
	all := latest(append([][]model.Finding{before}, steps(t, e, 40, 60)...))
	if len(all) != 1 || since(all[0]) != 10 || until(all[0]) != 19 {
		t.Errorf("got %+v, want one finding from 10 to 19", all)
	}
}

// For the first beats after a restart rates are missing; that must not end it.
func TestRestoreWaitsForRates(t *testing.T) {
	s := signature(t, "too-high", `
title: t
layer: cause
severity: critical
needs: [c]
when: rate(c[3s]) > 10
for: 2s
what: w
`)
	src := data(t, `c 0+0x9 0+20x20 _x9 500+20x40`)
	pack := packOf(s)
	before := latest(steps(t, NewEngine(pack, src, time.Second), 0, 25))
	e := NewEngine(pack, src, time.Second)
	e.Restore(before)
	all := latest(append([][]model.Finding{before}, steps(t, e, 36, 60)...))
	if len(all) != 1 || all[0].State != model.StateFiring {
		t.Errorf("got %+v, want the one finding still firing", all)
	}
}

func TestRestoreOfASignatureThatIsGone(t *testing.T) {
	e := NewEngine(packOf(), &memSource{}, time.Second)
	e.Restore([]model.Finding{
		{ID: "x", Signature: "gone", State: model.StateFiring, Started: second(1)},
		{ID: "y", Signature: "gone", State: model.StateResolved, Started: second(1)},
	})
	fs := latest(steps(t, e, 5, 7))
	if len(fs) != 1 || fs[0].ID != "x" || fs[0].State != model.StateResolved || fs[0].Ended == nil {
		t.Errorf("got %+v, want x resolved", fs)
	}
}

// A reload of the pack: a new engine takes over what is open.
func TestRestoreIntoAnotherPack(t *testing.T) {
	src := data(t, `level 0x9 20x60`)
	old := NewEngine(packOf(signature(t, "too-high", level)), src, time.Second)
	steps(t, old, 0, 20)
	changed := signature(t, "too-high", level+"evidence:\n  - {title: new, expr: level, threshold: 1, role: confirms}\n")
	e := NewEngine(packOf(changed), src, time.Second)
	e.Restore(old.Open())
	fs := latest(steps(t, e, 21, 25))
	if len(fs) != 1 || fs[0].ID != old.Open()[0].ID || len(fs[0].Evidence) != 1 || num(fs[0].Evidence[0].Value) != 20 {
		t.Errorf("got %+v, want the same finding with the new evidence", fs)
	}
}
