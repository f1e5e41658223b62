package view

import (
	"fmt"
	"math"
	"strings"
	"testing"
	"time"
)

func TestPartsPath(t *testing.T) {
	for _, c := range []struct {
		parts []float64
		want  string
	}{
		{nil, ""},
		{[]float64{0, 0}, ""},
		{[]float64{1}, "M0 10V0H64V10z"},
		{[]float64{1, 1, 0, 0.001}, "M0 10V0H32V10zM48 10V9H64V10z"},
		{[]float64{0.999, math.NaN()}, "M0 10V1H32V10z"},
	} {
		if got := partsPath(c.parts); got != c.want {
			t.Errorf("%v draws %q, want %q", c.parts, got, c.want)
		}
	}
}

func TestShareText(t *testing.T) {
	for _, c := range []struct {
		a, b int64
		want string
	}{
		{0, 100, "0 %"}, {1, 1000, "< 1 %"}, {999, 1000, "> 99 %"}, {1000, 1000, "100 %"}, {345, 1000, "34 %"}, {0, 0, "–"},
	} {
		if got := strings.ReplaceAll(shareText(c.a, c.b), "\u00a0", " "); got != c.want {
			t.Errorf("%d of %d is %q, want %q", c.a, c.b, got, c.want)
		}
	}
}

// TestPageCacheFolds shows 2,000 segments in bounded room, loses none from the
// totals, and never hides what moved.
func TestPageCacheFolds(t *testing.T) {
	at := minute(15)
	var files []DataFile
	for p := range 200 {
		for i := range 10 {
			f := DataFile{Process: "kafka", Pid: 1, Store: "/d", Path: fmt.Sprintf("t-%03d/%020d.log", p, i), Age: ageOld, Size: 100, Resident: 10, Before: at.Add(-time.Minute), At: at}
			if p == 137 && i == 4 {
				f.Filled = 5
			}
			files = append(files, f)
		}
	}
	page := NewPageCache(Page{Window: window()}, files, nil)
	if len(page.Brokers) != 1 {
		t.Fatalf("%d brokers", len(page.Brokers))
	}
	b := page.Brokers[0]
	if !strings.Contains(b.Say, "2,000 files") || b.Totals[0].Files != "2000" {
		t.Errorf("the totals are %q, %+v", b.Say, b.Totals)
	}
	if b.Logs[0].Name != "t-137" || len(b.Logs[0].Shown[5].Notes) == 0 {
		t.Errorf("the log that is read comes not first: %s %+v", b.Logs[0].Name, b.Logs[0].Shown)
	}
	if n := len(b.Logs) + len(b.Rest) + b.Unlisted; n != 200 || len(b.Rest) > logsListed {
		t.Errorf("%d pictures, %d lines, %d counted", len(b.Logs), len(b.Rest), b.Unlisted)
	}
}

// TestLongLogIsAStrip puts a log of 1,000 segments in one strip and shows those
// that matter one by one.
func TestLongLogIsAStrip(t *testing.T) {
	var files []DataFile
	for i := range 1000 {
		f := DataFile{Path: fmt.Sprintf("commitlog/%020d", i), Age: ageOld, Size: 100, At: minute(1)}
		switch {
		case i == 999:
			f.Age, f.Resident = ageActive, 40
		case i == 500:
			f.Before, f.Dropped = minute(0), 100
		}
		files = append(files, f)
	}
	l := cacheLog(files, "x")
	if len(l.Strip) > stripColumns || len(l.Strip) < stripColumns/2 || l.Strip[len(l.Strip)-1].Age != ageActive {
		t.Errorf("a strip of %d columns, the last %+v", len(l.Strip), l.Strip[len(l.Strip)-1])
	}
	if len(l.Shown) != 2 || l.Shown[0].Age != ageActive || !strings.HasSuffix(l.Shown[1].Name, "500") || l.More != 998 {
		t.Errorf("%d further; shown: %+v", l.More, l.Shown)
	}
}
