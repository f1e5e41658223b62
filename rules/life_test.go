package rules

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"stallmark/storage/model"
)

// Beats are one letter a second: T true, f false, - no beat at all.
func TestLife(t *testing.T) {
	for _, c := range []struct {
		name       string
		hold, keep time.Duration
		beats      string
		want       string // i inactive, p pending, F firing, a beat each; - no beat
	}{
		{"calm", 2 * time.Second, 0, "ffff", "iiii"},
		{"fires after its time", 2 * time.Second, 0, "fTTTT", "ippFF"},
		{"fires at once without a time", 0, 0, "fTf", "iFi"},
		{"too short to fire", 3 * time.Second, 0, "TTTfTT", "pppipp"},
		{"flapping before it fires begins again", 2 * time.Second, 5 * time.Second, "TTfTTfTT", "ppippipp"},
		{"flapping inside keep_firing_for is one finding", time.Second, 3 * time.Second, "TTffTfffTT", "pFFFFFFFFF"},
		{"silence longer than keep_firing_for", time.Second, 3 * time.Second, "TTffffff", "pFFFFiii"},
		{"keep_firing_for 0 resolves at once", time.Second, 0, "TTfTT", "pFipF"},
		{"a short gap in the data while pending", 4 * time.Second, 0, "TT--TT", "pp--FF"},
		{"a long gap in the data while pending", 4 * time.Second, 0, "TT-----TTTTT", "pp-----ppppF"},
		{"a gap in the data is silence", time.Second, 3 * time.Second, "TT-----f", "pF-----i"},
	} {
		t.Run(c.name, func(t *testing.T) {
			tm := timing{hold: c.hold, keep: c.keep, interval: time.Second}
			var l life
			var got strings.Builder
			for i, b := range c.beats {
				if b == '-' {
					got.WriteByte('-')
					continue
				}
				l.advance(testStart().Add(time.Duration(i)*time.Second), b == 'T', tm)
				got.WriteByte("ipF"[l.phase])
			}
			if got.String() != c.want {
				t.Errorf("%s:\n got %s\nwant %s", c.beats, got.String(), c.want)
			}
		})
	}
}

func TestLifeSaysWhatHappened(t *testing.T) {
	tm := timing{hold: time.Second, interval: time.Second}
	var l life
	var got []change
	for i, holds := range []bool{true, true, true, false, true, false} {
		got = append(got, l.advance(testStart().Add(time.Duration(i)*time.Second), holds, tm))
	}
	want := []change{unchanged, fired, unchanged, resolved, unchanged, dropped}
	for i := range want {
		if got[i] != want[i] {
			t.Errorf("beat %d: got change %d, want %d", i, got[i], want[i])
		}
	}
}

// A beat that comes a little early still counts as being on time, or a jitter
// of a millisecond would cost a whole interval.
func TestLifeBearsJitter(t *testing.T) {
	tm := timing{hold: 2 * time.Second, interval: time.Second}
	var l life
	start := testStart()
	l.advance(start.Add(3*time.Millisecond), true, tm)
	l.advance(start.Add(1001*time.Millisecond), true, tm)
	if c := l.advance(start.Add(2001*time.Millisecond), true, tm); c != fired {
		t.Errorf("2 ms early: got change %d, want fired", c)
	}
}

func TestLifeBroken(t *testing.T) {
	tm := timing{hold: 0, keep: 4 * time.Second, interval: time.Second}
	l := life{phase: firing, last: testStart()}
	if l.broken(testStart().Add(4*time.Second), tm) {
		t.Error("4 s without a beat are bridged by keep_firing_for 4s")
	}
	if !l.broken(testStart().Add(5*time.Second), tm) {
		t.Error("5 s without a beat are another stall")
	}
}

func TestLifeFollowsAClockThatIsSetBack(t *testing.T) {
	tm := timing{keep: 2 * time.Second, interval: time.Second}
	l := life{phase: firing, since: testStart(), last: testStart().Add(time.Hour)}
	back := testStart().Add(10 * time.Second)
	l.rewind(back)
	if c := l.advance(back.Add(3*time.Second), false, tm); c != resolved {
		t.Errorf("3 s of silence after the jump: got change %d, want resolved", c)
	}
}

// A condition that looks back holds on after the stall: its end is told as soon
// as it is sure, and taken back should the stall go on.
func TestTheEndIsToldBeforeItIsResolved(t *testing.T) {
	text := strings.Replace(level, "when: level > 10", "when: max_over_time(level[20s]) > 10\nextent: level > 10", 1)
	src := data(t, `level 0x9 20x9 0x9 20x9 0x60`) // 10 to 19 and 30 to 39
	e := NewEngine(packOf(signature(t, "too-high", text)), src, time.Second)
	all := steps(t, e, 0, 80)
	ends := map[int]string{}
	for at, fs := range all {
		for _, f := range fs {
			ends[at] = fmt.Sprintf("%s %d", f.State, until(f))
		}
	}
	for at, want := range map[int]string{12: "firing -1", 23: "firing 19", 30: "firing -1", 43: "firing 39"} {
		if ends[at] != want {
			t.Errorf("at %d: %q, want %q; all %v", at, ends[at], want, ends)
		}
	}
	if got := latest(all); len(got) != 1 || got[0].State != model.StateResolved || until(got[0]) != 39 {
		t.Errorf("got %+v, want one that ended at 39", got)
	}
}
