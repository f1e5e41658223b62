package storage

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/prometheus/prometheus/model/labels"

	"stallmark/storage/model"
)

// manyNames is a head with 300 metrics of ten series each.
func manyNames(h *head) {
	b := model.Batch{At: 1000}
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
	manyNames(h)
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

func BenchmarkSelectHead(b *testing.B) {
	h := newHead(time.Second)
	manyNames(h)
	for _, c := range []struct {
		kind labels.MatchType
		name string
	}{{labels.MatchEqual, "m7"}, {labels.MatchRegexp, "m7|m8|m9"}, {labels.MatchRegexp, "m7(_normal)?"}} {
		ms := []*labels.Matcher{labels.MustNewMatcher(c.kind, metricName, c.name)}
		b.Run(ms[0].String(), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				h.selectSeries(0, 2000, ms)
			}
		})
	}
}
