package rules

import (
	"fmt"
	"math"
	"sync"
	"testing"
	"time"

	"github.com/prometheus/prometheus/promql/parser"

	"stallmark/storage/model"
)

func TestWiden(t *testing.T) {
	for _, c := range []struct{ in, want string }{
		{"rate(a[3s])", "rate(a[6s])"},
		{"rate(a[10s])", "rate(a[10s])"},
		{"a", "a"},
		{"max_over_time(a[1s:1s])", "max_over_time(a[6s:1s])"},
		{"sum by (d) (rate(a[3s] offset 1m)) / on (d) rate(b[1m])", "sum by (d) (rate(a[6s] offset 1m)) / on (d) rate(b[1m])"},
		{"max_over_time(rate(a[3s])[30s:2s])", "max_over_time(rate(a[6s])[30s:2s])"},
	} {
		expr, err := newParser().ParseExpr(c.in)
		if err != nil {
			t.Fatal(err)
		}
		widen(expr, 6*time.Second)
		if got := expr.String(); got != c.want {
			t.Errorf("%s: got %s, want %s", c.in, got, c.want)
		}
	}
}

// A file written for 1 s works at any interval.
func TestShortRangesWorkAtAnyInterval(t *testing.T) {
	for _, interval := range []time.Duration{100 * time.Millisecond, time.Second, 10 * time.Second} {
		c := TestCase{Interval: interval, Series: []string{"counter 0+10x100"}}
		src, _, err := c.source()
		if err != nil {
			t.Fatal(err)
		}
		v, err := NewQuery(src, interval).Instant(t.Context(), "rate(counter[2s])", testStart().Add(90*interval))
		want := 10 / interval.Seconds()
		if err != nil || len(v) != 1 || math.Abs(v[0].F-want) > 1e-6*want {
			t.Errorf("interval %v: got %v, %v; want %v", interval, v, err, want)
		}
	}
}

func TestCloneIsEqualAndApart(t *testing.T) {
	for _, text := range []string{
		"1", `"text"`, "a", `a{x="1"} offset 5s`, "-a", "(a + b) / on (x) group_left (y) c", "sum by (x) (rate(a[5s]))",
		"topk(3, a)", "quantile_over_time(0.9, a[1m:5s])", "a @ 10", "count_values(\"v\", a)", "a and b or c unless d", "vector(time())",
	} {
		expr, err := newParser().ParseExpr(text)
		if err != nil {
			t.Fatal(err)
		}
		c, ok := cloneExpr(expr)
		if !ok || c.String() != expr.String() {
			t.Errorf("%s: the copy is %v", text, c)
			continue
		}
		nodes := map[parser.Node]bool{}
		parser.Inspect(expr, func(n parser.Node, _ []parser.Node) error { nodes[n] = true; return nil })
		parser.Inspect(c, func(n parser.Node, _ []parser.Node) error {
			switch n.(type) {
			case *parser.NumberLiteral, *parser.StringLiteral, nil:
				return nil
			}
			if nodes[n] {
				t.Errorf("%s: the copy shares %T %s", text, n, n)
			}
			return nil
		})
	}
}

func TestInstant(t *testing.T) {
	q := NewQuery(data(t, `a{x="2"} 2x10`, `a{x="1"} 1x10`), time.Second)
	v, err := q.Instant(t.Context(), "a", second(5))
	if err != nil || len(v) != 2 || v[0].F != 1 || v[1].F != 2 {
		t.Errorf("got %v, %v; want both series sorted", v, err)
	}
	v, err = q.Instant(t.Context(), "1 + 1", second(5))
	if err != nil || len(v) != 1 || v[0].F != 2 || !v[0].Metric.IsEmpty() {
		t.Errorf("got %v, %v; want a scalar as one sample without labels", v, err)
	}
	for _, bad := range []string{"a[5s]", `"text"`, "a +"} {
		if _, err := q.Instant(t.Context(), bad, second(5)); err == nil {
			t.Errorf("%s: no error", bad)
		}
	}
}

// A silent series is not kept alive for longer than three intervals.
func TestLookback(t *testing.T) {
	q := NewQuery(data(t, `a 1x9`, `b 1x9 stale`), time.Second)
	for _, c := range []struct {
		expr string
		at   int
		want int
	}{{"a", 9, 1}, {"a", 11, 1}, {"a", 12, 0}, {"b", 9, 1}, {"b", 10, 0}} {
		v, err := q.Instant(t.Context(), c.expr, second(c.at))
		if err != nil || len(v) != c.want {
			t.Errorf("%s at %d s: got %v, %v; want %d samples", c.expr, c.at, v, err, c.want)
		}
	}
}

func TestRange(t *testing.T) {
	q := NewQuery(data(t, `a 0+1x100`), time.Second)
	m, err := q.Range(t.Context(), "a", second(10), second(20), 5*time.Second)
	if err != nil || len(m) != 1 || len(m[0].Floats) != 3 || m[0].Floats[2].F != 20 {
		t.Errorf("got %v, %v; want 10, 15, 20", m, err)
	}
	m, err = q.Range(t.Context(), "vector(1)", second(0), second(0).Add(30*24*time.Hour), time.Second)
	if err != nil || len(m[0].Floats) > maxPoints+1 {
		t.Errorf("a month by seconds: got %v, want at most %d points", err, maxPoints)
	}
	if _, err := q.Range(t.Context(), "a", second(20), second(10), time.Second); err == nil {
		t.Error("a range that ends before it begins: no error")
	}
}

// Results must not change when the engine is used again.
func TestResultsAreTheCallers(t *testing.T) {
	q := NewQuery(data(t, `a 0+1x100`), time.Second)
	first, err := q.Range(t.Context(), "a + 0", second(10), second(20), time.Second)
	if err != nil {
		t.Fatal(err)
	}
	before := fmt.Sprint(first)
	for i := range 20 {
		if _, err := q.Range(t.Context(), "a * 3", second(i), second(i+50), time.Second); err != nil {
			t.Fatal(err)
		}
	}
	if after := fmt.Sprint(first); after != before {
		t.Errorf("the result changed from %s to %s", before, after)
	}
}

func TestQueryIsForManyAtOnce(t *testing.T) {
	q := NewQuery(data(t, `a 0+1x100`, `b 0+2x100`), time.Second)
	var wg sync.WaitGroup
	for i := range 8 {
		wg.Go(func() {
			for j := range 50 {
				at := 10 + (i+j)%80
				v, err := q.Instant(t.Context(), "max_over_time((a + on () b)[5s:1s]) > 1", second(at))
				if err != nil || len(v) != 1 || v[0].F != float64(3*at) {
					t.Errorf("at %d: got %v, %v; want %d", at, v, err, 3*at)
				}
			}
		})
	}
	wg.Wait()
}

func TestParsedExpressionsAreBounded(t *testing.T) {
	q := NewQuery(data(t, `a 1x10`), time.Second)
	for i := range maxParsed + 100 {
		if _, err := q.parser.ParseExpr(fmt.Sprintf("a + %d", i)); err != nil {
			t.Fatal(err)
		}
	}
	if n := len(q.parser.(*cachingParser).parsed); n > maxParsed {
		t.Errorf("%d expressions are kept, want at most %d", n, maxParsed)
	}
}

func TestChart(t *testing.T) {
	q := NewQuery(data(t, `a{device="x"} 1x10`, `a{device="y"} 2x10`, `limit 5x10`), time.Second)
	c, err := q.Chart(t.Context(), model.Evidence{Expr: "a", Limit: "limit"}, map[string]string{"device": "x"}, second(0), second(9), time.Second)
	if err != nil || len(c.Values) != 1 || c.Values[0].Floats[0].F != 1 || len(c.Limits) != 1 {
		t.Errorf("got %+v, %v; want device x and the limit", c, err)
	}
}

func TestAgrees(t *testing.T) {
	q := NewQuery(data(t, `a{device="x",cpu="0"} 1x10`), time.Second)
	v, err := q.Instant(t.Context(), "a", second(1))
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		subject map[string]string
		want    bool
	}{
		{nil, true},
		{map[string]string{"device": "x"}, true},
		{map[string]string{"device": "y"}, false},
		{map[string]string{"pid": "7"}, true},
		{map[string]string{"pid": "7", "cpu": "1"}, false},
	} {
		if got := Agrees(c.subject, v[0].Metric); got != c.want {
			t.Errorf("%v: got %v, want %v", c.subject, got, c.want)
		}
	}
}
