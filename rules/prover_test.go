package rules

import (
	"fmt"
	"math"
	"math/rand/v2"
	"reflect"
	"testing"
	"time"

	"github.com/prometheus/prometheus/model/labels"
	"github.com/prometheus/prometheus/promql"
)

// judgeBounds compares bounds with what the engine makes of an expression. It
// reports false if that fails.
func judgeBounds(t *testing.T, p *prover, expr string, at time.Time) bool {
	t.Helper()
	v, err := p.query.Instant(t.Context(), expr, at)
	if err != nil {
		return false
	}
	p.begin(at.UnixMilli())
	b := p.bounds(t.Context(), expr)
	if len(v) > b.series {
		t.Fatalf("%s at %v: %d series, bounds say at most %d", expr, at, len(v), b.series)
	}
	for _, s := range v {
		if s.F < b.low || s.F > b.high {
			t.Fatalf("%s at %v: %v is not in %v", expr, at, s, b)
		}
	}
	return true
}

// Whatever the expression and the data: nothing that the engine gives is
// outside the bounds, and there is no result where they say so.
func TestBoundsHold(t *testing.T) {
	failed, empty, proven := 0, 0, 0
	const hosts, expressions = 12, 150
	for seed := range uint64(hosts) {
		w := writer{rand.New(rand.NewPCG(seed, 1))}
		src := &memSource{}
		for _, name := range []string{"a", "b", "c"} {
			for x := range 1 + w.IntN(3) {
				src.add(randomSeries(w.Rand, labels.FromStrings(metricName, name, "x", fmt.Sprint(x))))
			}
		}
		p := newProver(NewQuery(src, time.Second))
		for range expressions {
			expr, at := w.vector(w.IntN(4)), second(w.IntN(70)).Add(time.Duration(w.IntN(1000))*time.Millisecond)
			if !judgeBounds(t, p, expr, at) {
				failed++
				continue
			}
			if v, _ := p.query.Instant(t.Context(), expr, at); len(v) == 0 {
				empty++
				if p.bounds(t.Context(), expr).empty() {
					proven++
				}
			}
		}
	}
	t.Logf("%d fail in the engine, %d are empty, %d of them proven so", failed, empty, proven)
	if failed > hosts*expressions/2 || proven < empty/3 {
		t.Error("too few expressions say anything")
	}
}

// The same for every expression that is shipped, over its own tests' data and
// over random data.
func TestBoundsHoldForTheShipped(t *testing.T) {
	for _, s := range loadBuiltIn(t).Signatures {
		t.Run(s.ID, func(t *testing.T) {
			t.Parallel()
			exprs := expressionsOf(s)
			sources := []*memSource{randomHost(t, exprs, 1)}
			for i := range s.Tests {
				src, _, err := s.Tests[i].source()
				if err != nil {
					t.Fatal(err)
				}
				sources = append(sources, src)
			}
			for _, src := range sources {
				p := newProver(NewQuery(src, time.Second))
				for _, expr := range exprs {
					for i := 5; i < 60; i += 11 {
						judgeBounds(t, p, expr, second(i))
					}
				}
			}
		})
	}
}

// expressionsOf is everything that a signature evaluates.
func expressionsOf(s *Signature) []string {
	all := []string{s.When}
	add := func(expr string) {
		if expr != "" {
			all = append(all, expr)
		}
	}
	add(s.Extent)
	if s.Quiet != nil {
		add(s.Quiet.Expr)
	}
	for _, e := range s.Evidence {
		add(e.Expr)
		add(e.Threshold.Expr)
	}
	for _, r := range s.Remedy {
		add(r.When)
		for _, v := range r.Values {
			add(v)
		}
	}
	return all
}

func TestBounds(t *testing.T) {
	src := data(t, `up 0+1x20`, `level{x="1"} 3x20`, `level{x="2"} 5x20`, `ended 1x5 stale`)
	odd := labels.FromStrings(metricName, "odd")
	src.add(&memSeries{odd, []promql.FPoint{{T: second(19).UnixMilli(), F: math.NaN()}}})
	p := newProver(NewQuery(src, time.Second))
	p.begin(second(20).UnixMilli())
	for _, c := range []struct {
		expr string
		want bounds
	}{
		{"level", bounds{2, 3, 5}},
		{"ended", nothing()},
		{"none", nothing()},
		{"odd", bounds{1, math.Inf(1), math.Inf(-1)}},
		{"rate(up[3s])", bounds{1, 1, 1}},
		{"level > 5", nothing()},
		{"level >= 5", bounds{2, 3, 5}},
		{"2 > level", nothing()},
		{"level > bool 5", bounds{2, 0, 0}},
		{"odd > 0", nothing()},
		{"odd != 0", bounds{1, math.Inf(1), math.Inf(-1)}},
		{"level > scalar(level)", bounds{2, 3, 5}},
		{"level > scalar(none)", nothing()},
		{"level / clamp_min(level, 4)", bounds{2, 3. / 5, 5. / 4}},
		{"level and none", nothing()},
		{"none or level", bounds{2, 3, 5}},
		{"level unless none", bounds{2, 3, 5}},
		{"none unless level", nothing()},
		{"-level", bounds{2, -5, -3}},
		{"count(level)", bounds{1, 1, 2}},
		{"max(level) > 5", nothing()},
		{"max_over_time((level > 5)[10s:1s])", nothing()},
		{"max_over_time((up < 15)[10s:1s])", bounds{1, 11, 20}},
		{"max_over_time((up < 11)[10s:1s])", nothing()},
		{"vector(1)", bounds{1, 1, 1}},
		{"absent(level)", anything()},
		{"level offset 3s", anything()},
		{"absent_over_time(level[3s])", anything()},
		{"not an expression", anything()},
	} {
		if got := p.bounds(t.Context(), c.expr); got != c.want {
			t.Errorf("%s: got %v, want %v", c.expr, got, c.want)
		}
	}
}

// With and without proofs, the same findings come out at the same beats.
func TestProofsChangeNoVerdict(t *testing.T) {
	pack := loadBuiltIn(t)
	var sources []*memSource
	for _, s := range pack.Signatures {
		for i := range s.Tests {
			src, _, err := s.Tests[i].source()
			if err != nil {
				t.Fatal(err)
			}
			sources = append(sources, src)
		}
	}
	found := 0
	for i, src := range sources {
		quick, exact := NewEngine(pack, src, time.Second), NewEngine(pack, src, time.Second)
		exact.exact = true
		for j := range 40 {
			got, err := quick.Step(t.Context(), second(j))
			want, failed := exact.Step(t.Context(), second(j))
			if err != nil || failed != nil {
				t.Fatal(err, failed)
			}
			if !reflect.DeepEqual(got, want) {
				t.Fatalf("source %d, beat %d: got %v, want %v", i, j, got, want)
			}
			found += len(got)
		}
		if !reflect.DeepEqual(quick.Pending(), exact.Pending()) {
			t.Errorf("source %d: other subjects are pending", i)
		}
	}
	if found < len(pack.Signatures) {
		t.Errorf("%d findings in all: too few to tell", found)
	}
}
