package rules

import (
	"fmt"
	"testing"
	"time"
)

// hostSource is ten minutes of the series of a busy host: the shipped
// signatures' own test series, extended, with counters of several disks.
//
// step is how much every series grows each second: 0 is an idle host, 1 makes
// direct-reclaim fire.
func hostSource(tb testing.TB, pack *Pack, step int) *memSource {
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
	for _, s := range pack.Signatures {
		for _, c := range s.Tests {
			if c.Expect != ExpectQuiet {
				continue
			}
			for _, desc := range c.Series {
				ls, _, err := newParser().ParseSeriesDesc(desc)
				if err != nil {
					tb.Fatal(err)
				}
				add(fmt.Sprintf("%s 1000+%dx600", ls, step))
			}
		}
	}
	for i := range 200 {
		add(fmt.Sprintf("node_vmstat_other_%d 0+3x600", i))
	}
	return src
}

// copies gives a pack of n signatures: the shipped ones, again and again under
// other ids.
func copies(pack *Pack, n int) *Pack {
	out := &Pack{byID: map[string]*Signature{}}
	for i := range n {
		s := *pack.Signatures[i%len(pack.Signatures)]
		if i >= len(pack.Signatures) {
			s.ID = fmt.Sprintf("%s-%d", s.ID, i)
			// Each has expressions of its own, or the beat would share them.
			pad := fmt.Sprintf(" # %d", i)
			s.When += pad
			if s.Quiet != nil {
				q := *s.Quiet
				q.Expr += pad
				s.Quiet = &q
			}
		}
		out.Signatures = append(out.Signatures, &s)
		out.byID[s.ID] = &s
	}
	return out
}

func BenchmarkStep(b *testing.B) {
	pack := loadBuiltIn(b)
	for _, c := range []struct{ n, step int }{{len(pack.Signatures), 0}, {len(pack.Signatures), 1}, {40, 0}, {40, 1}} {
		src := hostSource(b, pack, c.step)
		b.Run(fmt.Sprintf("signatures=%d/busy=%d", c.n, c.step), func(b *testing.B) {
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
	src := hostSource(b, pack, 0)
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
	src := hostSource(b, pack, 0)
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
