package storage

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/prometheus/prometheus/model/labels"

	"stallmark/storage/model"
)

// manyNames adds a beat of 300 metrics of ten series each.
func manyNames(h *head, at int64) {
	b := model.Batch{At: at}
	for i := range 300 {
		for j := range 10 {
			b.Samples = append(b.Samples, model.Sample{Series: model.NewSeries(fmt.Sprintf("m%d", i), "x", fmt.Sprint(j))})
		}
	}
	h.append(b)
}

// However the series are looked up, the result is that of asking each of them.
func TestSelectByName(t *testing.T) {
	h := newHead(time.Second)
	manyNames(h, 1000)
	for _, ms := range [][]*labels.Matcher{
		{labels.MustNewMatcher(labels.MatchEqual, metricName, "m7")},
		{labels.MustNewMatcher(labels.MatchRegexp, metricName, "m7|m8|m7|none")},
		{labels.MustNewMatcher(labels.MatchRegexp, metricName, "m7|m8"), labels.MustNewMatcher(labels.MatchNotEqual, metricName, "m8")},
		{labels.MustNewMatcher(labels.MatchRegexp, metricName, "m1(2)?"), labels.MustNewMatcher(labels.MatchEqual, "x", "3")},
		{labels.MustNewMatcher(labels.MatchRegexp, metricName, "(?i)M7|M8")},
		{labels.MustNewMatcher(labels.MatchNotRegexp, metricName, "m.*7")},
		{labels.MustNewMatcher(labels.MatchRegexp, "x", "3|4")},
		nil,
	} {
		got := h.keys(0, 2000, ms)
		var want []string
		for key, e := range h.byKey {
			if matches(e.labels, ms) {
				want = append(want, key)
			}
		}
		slices.Sort(got)
		slices.Sort(want)
		if !slices.Equal(got, want) || len(got) == 0 {
			t.Errorf("%v: %d series, want %d", ms, len(got), len(want))
		}
	}
}

// The samples of a window are the same wherever it lies among the columns.
func TestSelectByTime(t *testing.T) {
	h := newHead(time.Second)
	series := model.NewSeries("m")
	at := []int64{1, 59, 61, 119, 125, 240, 299}
	for _, s := range at {
		h.append(model.Batch{At: s * 1000, Samples: []model.Sample{{Series: series, Value: float64(s)}}})
	}
	for from := int64(0); from < 310; from += 7 {
		for to := from; to < 310; to += 7 {
			found, _ := h.selectSeries(from*1000, to*1000, nil)
			got, want := 0, 0
			for _, f := range found {
				for _, p := range f.parts {
					got += len(p.vals)
				}
			}
			for _, s := range at {
				if s >= from && s <= to {
					want++
				}
			}
			if got != want {
				t.Fatalf("%d to %d s: %d samples, want %d", from, to, got, want)
			}
		}
	}
}

func BenchmarkSelectHead(b *testing.B) {
	h := newHead(time.Second)
	for i := range int64(15) {
		manyNames(h, i*spanMillis+1000)
	}
	for _, c := range []struct {
		kind labels.MatchType
		name string
	}{{labels.MatchEqual, "m7"}, {labels.MatchRegexp, "m7|m8|m9"}, {labels.MatchRegexp, "m7(_normal)?"}} {
		ms := []*labels.Matcher{labels.MustNewMatcher(c.kind, metricName, c.name)}
		b.Run(ms[0].String(), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				h.selectSeries(14*spanMillis, 15*spanMillis, ms)
			}
		})
	}
}
