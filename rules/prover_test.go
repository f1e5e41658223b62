package rules

import (
	"fmt"
	"math"
	"math/rand/v2"
	"reflect"
	"slices"
	"strconv"
	"strings"
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
	src := data(t, `up 0+1x20`, `level{x="1"} 3x20`, `level{x="2"} 5x20`, `ended 1x5 stale`, `gone 1x18 stale`)
	odd := labels.FromStrings(metricName, "odd")
	src.add(&memSeries{odd, []promql.FPoint{{T: second(19).UnixMilli(), F: math.NaN()}}})
	p := newProver(NewQuery(src, time.Second))
	p.begin(second(20).UnixMilli())
	for _, c := range []struct {
		expr string
		want bounds
	}{
		{"level", bounds{2, 3, 5}},
		{"up", bounds{1, 20, 20}},
		{"ended", nothing()},
		{"gone", nothing()},
		{"count_over_time(up[3s])", bounds{1, 3, 3}},
		{"max_over_time((count_over_time(up[3s]))[5s:1s])", bounds{1, 3, 3}},
		{"level < 4", bounds{2, 3, 5}},
		{"level <= 2", nothing()},
		{"level / (level - 3)", bounds{2, math.Inf(-1), math.Inf(1)}},
		{"level * on () group_left up", bounds{2, 60, 100}},
		{"max_over_time(max_over_time((up < 8)[10s:1s])[10s:5s])", bounds{1, 1, 20}},
		{"stddev_over_time(up[10s:1s])", bounds{1, 0, 9 + rounding*20}},
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
		judgeBounds(t, p, c.expr, second(20))
	}
}

// With and without proofs, the same findings come out at the same beats.
func TestProofsChangeNoVerdict(t *testing.T) {
	for _, s := range loadBuiltIn(t).Signatures {
		t.Run(s.ID, func(t *testing.T) {
			t.Parallel()
			found := 0
			for i := range s.Tests {
				if s.Tests[i].Expect == ExpectFiring || strings.HasPrefix(s.Tests[i].Name, "near miss") {
					found += compareVerdicts(t, packOf(s), &s.Tests[i])
				}
			}
			if found == 0 {
				t.Error("nothing was found: that tells nothing")
			}
		})
	}
}

// The same with all signatures at once, which rule each other out.
func TestProofsChangeNoVerdictTogether(t *testing.T) {
	pack := loadBuiltIn(t)
	s := pack.Signature("direct-reclaim")
	i := slices.IndexFunc(s.Tests, func(c TestCase) bool { return c.Expect == ExpectFiring })
	if compareVerdicts(t, pack, &s.Tests[i]) == 0 {
		t.Error("nothing was found: that tells nothing")
	}
}

// The same with evidence of every form, over whatever data.
func TestProofsChangeNoEvidence(t *testing.T) {
	pack := packOf(signature(t, "it", `title: It
layer: cause
severity: info
needs: [level]
when: a > 100 or rate(b[3s]) > 5
extent: a > 300
keep_firing_for: 3s
evidence:
  - {title: context, expr: 'rate(a[5s])', role: context}
  - {title: number, expr: 'b', threshold: 500, role: confirms}
  - {title: low, expr: 'max_over_time((a + b)[5s:1s])', threshold: 600, op: '<', role: confirms}
  - {title: at most, expr: 'a', threshold: 0, op: '<=', role: contradicts}
  - {title: moving, expr: 'a', threshold: 'avg_over_time(b[10s])', role: witness}
  - {title: none, expr: 'c', threshold: 1, op: '>=', role: confirms}
what: x
`), cause(t, "other", "b", ""), cause(t, "spiky", "c", ""))
	found := 0
	for seed := range uint64(20) {
		r := rand.New(rand.NewPCG(seed, 3))
		src := &memSource{}
		for i, name := range []string{"a", "a", "b", "level"} {
			src.add(randomSeries(r, labels.FromStrings(metricName, name, "x", strconv.Itoa(i))))
		}
		found += compareEngines(t, fmt.Sprint("seed ", seed), pack, src, time.Second, 70)
	}
	if found < 100 {
		t.Errorf("%d findings in all: too few to tell", found)
	}
}

// compareVerdicts compares what engines with and without proofs make of a
// test's data.
func compareVerdicts(t *testing.T, pack *Pack, c *TestCase) (found int) {
	t.Helper()
	src, samples, err := c.source()
	if err != nil {
		t.Fatal(err)
	}
	return compareEngines(t, c.Name, pack, src, c.Interval, samples+10)
}

// compareEngines steps both engines over the data and counts what came out.
func compareEngines(t *testing.T, what string, pack *Pack, src *memSource, interval time.Duration, beats int) (found int) {
	t.Helper()
	quick, exact := NewEngine(pack, src, interval), NewEngine(pack, src, interval)
	exact.exact = true
	for i := range beats {
		at := testStart().Add(time.Duration(i) * interval)
		got, err := quick.Step(t.Context(), at)
		want, failed := exact.Step(t.Context(), at)
		if err != nil || failed != nil {
			t.Fatal(err, failed)
		}
		if !reflect.DeepEqual(got, want) || !reflect.DeepEqual(quick.Pending(), exact.Pending()) {
			t.Fatalf("%s, beat %d: got %v, want %v", what, i, got, want)
		}
		found += len(got)
	}
	return found
}
