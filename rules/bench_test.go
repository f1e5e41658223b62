package rules

import (
	"fmt"
	"regexp"
	"slices"
	"testing"
	"time"
)

// hostSource is ten minutes of the series of a host: those of the signatures'
// own quiet tests, going on from their first value, and 200 others, for as many
// packs as copies makes of n signatures.
//
// step is how much every series grows each second: 0 is an idle host, 1 makes
// some signatures fire.
func hostSource(tb testing.TB, pack *Pack, n, step int) *memSource {
	tb.Helper()
	src := &memSource{}
	seen := map[string]bool{}
	add := func(desc string) {
		c := TestCase{Interval: time.Second, Series: []string{desc}}
		one, _, err := c.source()
		if err != nil {
			tb.Fatal(err)
		}
		for _, s := range one.candidates(nil) {
			if key := s.labels.String(); !seen[key] {
				seen[key] = true
				src.add(s)
			}
		}
	}
	for i, s := range slices.Repeat(pack.Signatures, n/len(pack.Signatures)+1) {
		for _, c := range s.Tests {
			if c.Expect != ExpectQuiet {
				continue
			}
			for _, desc := range c.Series {
				ls, values, err := newParser().ParseSeriesDesc(desc)
				if err != nil {
					tb.Fatal(err)
				}
				add(fmt.Sprintf("%s %g+%dx600", renamed(ls.String(), i/len(pack.Signatures)), values[0].Value, step))
			}
		}
	}
	for i := range 200 {
		add(fmt.Sprintf("node_vmstat_other_%d 0+3x600", i))
	}
	return src
}

var ownMetric = regexp.MustCompile(`\b(node|stallmark|container)_`)

// renamed is an expression about the metrics of a copy of the pack.
func renamed(expr string, copied int) string {
	if copied == 0 {
		return expr
	}
	return ownMetric.ReplaceAllString(expr, fmt.Sprintf("copy%d_${1}_", copied))
}

// copies gives a pack of n signatures: the shipped ones, again and again under
// other ids and over metrics of their own, or they would share what is read.
func copies(pack *Pack, n int) *Pack {
	out := &Pack{byID: map[string]*Signature{}}
	for i := range n {
		s := *pack.Signatures[i%len(pack.Signatures)]
		if c := i / len(pack.Signatures); c > 0 {
			s.ID = fmt.Sprintf("%s-%d", s.ID, c)
			s.When, s.Extent = renamed(s.When, c), renamed(s.Extent, c)
			if s.Quiet != nil {
				q := *s.Quiet
				q.Expr = renamed(q.Expr, c)
				s.Quiet = &q
			}
			s.Needs, s.Evidence = slices.Clone(s.Needs), slices.Clone(s.Evidence)
			for j := range s.Needs {
				s.Needs[j] = renamed(s.Needs[j], c)
			}
			for j := range s.Evidence {
				e := &s.Evidence[j]
				e.Expr, e.Threshold.Expr = renamed(e.Expr, c), renamed(e.Threshold.Expr, c)
			}
		}
		out.Signatures = append(out.Signatures, &s)
		out.byID[s.ID] = &s
	}
	return out
}

// calm is the signatures of a pack of which nothing holds on a host: the quiet
// tests of some are the stalls of others.
func calm(tb testing.TB, pack *Pack, src *memSource) *Pack {
	tb.Helper()
	e := NewEngine(pack, src, time.Second)
	active := map[string]bool{}
	for i := range 60 {
		for _, f := range steps(tb, e, 300+i, 300+i)[0] {
			active[f.Signature] = true
		}
		for _, f := range e.Pending() {
			active[f.Signature] = true
		}
	}
	var quiet []*Signature
	for _, s := range pack.Signatures {
		if !active[s.ID] {
			quiet = append(quiet, s)
		}
	}
	return packOf(quiet...)
}

func BenchmarkStep(b *testing.B) {
	shipped := loadBuiltIn(b)
	for _, c := range []struct {
		name string
		n    int
		step int
	}{
		{"host=quiet/signatures=shipped", len(shipped.Signatures), 0},
		{"host=quiet/signatures=40", 40, 0},
		{"host=stalled/signatures=shipped", len(shipped.Signatures), 1},
		{"host=stalled/signatures=40", 40, 1},
	} {
		src := hostSource(b, shipped, 2*c.n, c.step)
		pack := shipped
		if c.step == 0 {
			pack = calm(b, shipped, src)
		}
		b.Run(c.name, func(b *testing.B) {
			e := NewEngine(copies(pack, c.n), src, time.Second)
			at := testStart().Add(300 * time.Second)
			b.ReportAllocs()
			for i := range b.N {
				if _, err := e.Step(b.Context(), at.Add(time.Duration(i%200+1)*time.Second)); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(len(e.Open())), "firing")
		})
	}
}

func BenchmarkReport(b *testing.B) {
	pack := loadBuiltIn(b)
	src := hostSource(b, pack, 40, 0)
	for _, n := range []int{len(pack.Signatures), 40} {
		b.Run(fmt.Sprintf("signatures=%d", n), func(b *testing.B) {
			e := NewEngine(copies(pack, n), src, time.Second)
			from := testStart()
			b.ReportAllocs()
			for b.Loop() {
				if _, err := e.Report(b.Context(), from, from.Add(10*time.Minute), nil); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

func BenchmarkInstant(b *testing.B) {
	pack := loadBuiltIn(b)
	src := hostSource(b, pack, 40, 0)
	at := testStart().Add(300 * time.Second)
	for _, c := range []struct{ name, expr string }{
		{"selector", "node_vmstat_nr_dirty"},
		{"rate", "rate(node_vmstat_nr_dirtied[3s])"},
		{"threshold", "node_vmstat_nr_dirty + node_vmstat_nr_writeback > (stallmark_dirty_threshold_pages + stallmark_dirty_background_threshold_pages) / 2"},
		{"subquery", "max_over_time((node_vmstat_nr_dirty + node_vmstat_nr_writeback)[10s:1s])"},
		{"dirty-throttling", pack.Signature("dirty-throttling").When},
	} {
		b.Run(c.name, func(b *testing.B) {
			q := NewQuery(src, time.Second)
			b.ReportAllocs()
			for b.Loop() {
				if _, err := q.Instant(b.Context(), c.expr, at); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

func BenchmarkParse(b *testing.B) {
	expr := "node_vmstat_nr_dirty + node_vmstat_nr_writeback > (stallmark_dirty_threshold_pages + stallmark_dirty_background_threshold_pages) / 2"
	parsed, err := newParser().ParseExpr(expr)
	if err != nil {
		b.Fatal(err)
	}
	b.Run("parse", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			if _, err := newParser().ParseExpr(expr); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("clone", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			if _, ok := cloneExpr(parsed); !ok {
				b.Fatal("not cloned")
			}
		}
	})
}
