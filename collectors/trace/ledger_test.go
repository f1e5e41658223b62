package trace

import (
	"fmt"
	"slices"
	"testing"
	"time"
)

const ms = uint64(time.Millisecond)

// pointOf finds a point by wait and role.
func pointOf(wait string, r role) *point {
	for i := range points {
		if points[i].wait == wait && points[i].role == r {
			return &points[i]
		}
	}
	return nil
}

func begin(tid int, at uint64) moment {
	return moment{point: pointOf("reclaim", roleBegin), pid: 1, tid: tid, time: at * ms}
}

func end(tid int, at uint64) moment {
	return moment{point: pointOf("reclaim", roleEnd), pid: 1, tid: tid, time: at * ms}
}

// run notes moments and says what pair and progress tell at a time.
func run(l *ledger, now uint64, moments ...moment) (told []string) {
	for _, m := range moments {
		l.note(m)
	}
	tell := func(w wait) {
		done := ""
		if w.done {
			done = "."
		}
		told = append(told, fmt.Sprintf("%d:%d+%d%s", w.tid, w.lasted.Milliseconds(), w.part.Milliseconds(), done))
	}
	l.pair(now*ms, tell)
	l.progress(now*ms, tell)
	slices.Sort(told)
	return told
}

func TestLedgerPairs(t *testing.T) {
	tests := map[string]struct {
		moments []moment
		now     uint64
		want    string
	}{
		"a wait":                          {[]moment{begin(1, 10), end(1, 25)}, 100, "[1:15+15.]"},
		"two threads":                     {[]moment{begin(1, 10), begin(2, 11), end(1, 25), end(2, 12)}, 100, "[1:15+15. 2:1+1.]"},
		"the end was read before":         {[]moment{end(1, 25), begin(1, 10)}, 100, "[1:15+15.]"},
		"an end alone":                    {[]moment{end(1, 25)}, 100, "[]"},
		"two ends":                        {[]moment{begin(1, 10), end(1, 25), end(1, 30)}, 100, "[1:15+15.]"},
		"under way":                       {[]moment{begin(1, 10)}, 100, "[1:90+90]"},
		"a begin after a begin":           {[]moment{begin(1, 10), begin(1, 50), end(1, 60)}, 100, "[1:10+10.]"},
		"what is later waits":             {[]moment{begin(1, 10), end(1, 101)}, 100, "[1:90+90]"},
		"kinds do not mix":                {[]moment{begin(1, 10), {point: pointOf("compaction", roleEnd), tid: 1, time: 12 * ms}}, 20, "[1:10+10]"},
		"a pause":                         {[]moment{{point: pointOf("dirty_throttle", rolePause), tid: 3, time: 5 * ms, pause: 40 * time.Millisecond}}, 9, "[3:40+40.]"},
		"no pause":                        {[]moment{{point: pointOf("dirty_throttle", rolePause), tid: 3, time: 5 * ms, pause: -1}}, 9, "[]"},
		"without a clock all is taken":    {[]moment{begin(1, 10), end(1, 1000)}, 0, "[1:990+990.]"},
		"without a clock nothing is told": {[]moment{begin(1, 10)}, 0, "[]"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			if got := fmt.Sprint(run(newLedger(), tt.now, tt.moments...)); got != tt.want {
				t.Errorf("%s, want %s", got, tt.want)
			}
		})
	}
}

func TestLedgerTellsLongWaitsBitByBit(t *testing.T) {
	l := newLedger()
	steps := []struct {
		now     uint64
		moments []moment
		want    string
	}{
		{1000, []moment{begin(1, 400)}, "[1:600+600]"},
		{2000, nil, "[1:1600+1000]"},
		{3000, []moment{end(1, 2100), begin(1, 3001)}, "[1:1700+100.]"},
		{4000, nil, "[1:999+999]"},
	}
	for i, s := range steps {
		if got := fmt.Sprint(run(l, s.now, s.moments...)); got != s.want {
			t.Errorf("step %d: %s, want %s", i, got, s.want)
		}
	}
	l.forget()
	if got := run(l, 5000, end(1, 4500)); len(got) != 0 {
		t.Errorf("after forgetting: %v", got)
	}
}

func TestLedgerIsBounded(t *testing.T) {
	l := newLedger()
	for tid := range 3 * maxUnderWay {
		l.note(begin(tid, 1))
	}
	l.pair(0, func(wait) {})
	if len(l.under) > maxUnderWay || len(l.held) != 0 {
		t.Errorf("%d under way, %d held", len(l.under), len(l.held))
	}
}
