package rules

import (
	"testing"
	"time"

	"github.com/prometheus/prometheus/promql"

	"stallmark/storage/model"
)

// A report out of the book says the same as one that evaluates every beat.
func TestBookSaysTheSame(t *testing.T) {
	low := signature(t, "low", level+"quiet: {expr: b, text: 'down to {{.Value}}', op: '<'}\n")
	pack := packOf(cause(t, "one", "a", ""), low)
	src := data(t, `a 1x200 7 1x2000`, `a{device="x"} 2x700 9 2x2000`, `b 5x300 3 5x2000`, `level 0x2300`)
	live := NewEngine(pack, src, time.Second)
	steps(t, live, 0, 2000)
	for _, w := range [][2]int{{0, 2000}, {720, 2000}, {240, 1990}, {0, 690}, {60, 1200}, {1700, 2000}} {
		got, err := live.Report(t.Context(), second(w[0]), second(w[1]), nil)
		if err != nil {
			t.Fatal(err)
		}
		fresh := NewEngine(pack, src, time.Second)
		want, err := fresh.Report(t.Context(), second(w[0]), second(w[1]), nil)
		if err != nil {
			t.Fatal(err)
		}
		if whys(got.RuledOut) != whys(want.RuledOut) || len(got.RuledOut) != 2 {
			t.Errorf("%v: got %q, want %q", w, whys(got.RuledOut), whys(want.RuledOut))
		}
	}
}

func TestBookSpeaksOnlyForWhatItHas(t *testing.T) {
	pack := packOf(cause(t, "one", "a", ""))
	s := pack.Signature("one")
	e := NewEngine(pack, data(t, `a 1x3000`), time.Second)
	steps(t, e, 100, 1500)
	for _, c := range []struct {
		name     string
		from, to int
		ok       bool
	}{
		{"its own span", 100, 1500, true},
		{"before it began", 99, 1500, false},
		{"after its last beat", 200, 1600, false},
		{"up to a time in the past", 200, 1400, false},
		{"a window too short to begin a minute early", 200, 700, false},
	} {
		if _, ok := e.book.between(s, second(c.from), second(c.to)); ok != c.ok {
			t.Errorf("%s: got %v, want %v", c.name, ok, c.ok)
		}
	}
	steps(t, e, 1600, 1610) // a hole of more than a minute
	if _, ok := e.book.between(s, second(200), second(1610)); ok {
		t.Error("the book speaks for beats that nobody judged")
	}
}

func TestBookIsBounded(t *testing.T) {
	s := cause(t, "one", "a", "")
	var k quietBook
	for minute := range 5 * 24 * 60 {
		at := testStart().Add(time.Duration(minute) * time.Minute)
		k.begin(at)
		v := promql.Sample{F: float64(minute)}
		k.enter(s, at, &v)
	}
	if n := len(k.worst["one"]); n > 24*60+61 {
		t.Errorf("%d minutes are kept, want about a day", n)
	}
	end := testStart().Add(5*24*time.Hour - time.Minute)
	if _, ok := k.between(s, end.Add(-23*time.Hour), end); !ok {
		t.Error("the last 23 hours are not there")
	}
	if _, ok := k.between(s, end.Add(-25*time.Hour), end); ok {
		t.Error("more than a day is said to be there")
	}
}

func BenchmarkReportLive(b *testing.B) {
	pack := copies(loadBuiltIn(b), 40)
	src := hostSource(b, loadBuiltIn(b), 40, 0)
	e := NewEngine(pack, src, time.Second)
	for i := range 601 {
		if _, err := e.Step(b.Context(), second(i)); err != nil {
			b.Fatal(err)
		}
	}
	var r model.Report
	b.ReportAllocs()
	for b.Loop() {
		var err error
		if r, err = e.Report(b.Context(), second(0), second(600), nil); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(len(r.RuledOut)), "ruled_out")
}
