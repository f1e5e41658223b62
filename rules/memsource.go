package rules

import (
	"cmp"
	"context"
	"errors"
	"maps"
	"slices"
	"time"

	"github.com/prometheus/prometheus/model/labels"
	"github.com/prometheus/prometheus/promql"
	promstorage "github.com/prometheus/prometheus/storage"
	"github.com/prometheus/prometheus/util/annotations"

	"stallmark/storage/model"
)

// memSource is a [Source] over a few series in memory: what the tests inside
// signature files run on. It never changes after it has been filled.
type memSource struct {
	series   map[string][]*memSeries // by metric name
	events   []model.Event
	facts    map[string]model.Fact
	coverage []model.Coverage
}

// memSeries is one series, its samples in time order.
type memSeries struct {
	labels labels.Labels
	points []promql.FPoint
}

func (s *memSource) Querier(mint, maxt int64) (promstorage.Querier, error) {
	return &memQuerier{source: s, mint: mint, maxt: maxt}, nil
}

func (s *memSource) EventsIn(_ context.Context, from, to time.Time, kinds ...model.EventKind) ([]model.Event, error) {
	var out []model.Event
	for _, e := range s.events {
		if !e.From.After(to) && !e.To.Before(from) && (len(kinds) == 0 || slices.Contains(kinds, e.Kind)) {
			out = append(out, e)
		}
	}
	return out, nil
}

func (s *memSource) FactsAt(context.Context, time.Time) (map[string]model.Fact, error) {
	return s.facts, nil
}

func (s *memSource) CoverageAt(context.Context, time.Time) ([]model.Coverage, error) {
	return s.coverage, nil
}

type memQuerier struct {
	source     *memSource
	mint, maxt int64
}

func (q *memQuerier) Select(_ context.Context, sorted bool, _ *promstorage.SelectHints, ms ...*labels.Matcher) promstorage.SeriesSet {
	set := &memSet{}
	for _, s := range q.source.candidates(ms) {
		if matches(s.labels, ms) {
			set.series = append(set.series, s.between(q.mint, q.maxt))
		}
	}
	if sorted {
		slices.SortFunc(set.series, func(a, b *memSeries) int { return labels.Compare(a.labels, b.labels) })
	}
	return set
}

// candidates is the series of the wanted names, or all if none is named.
func (s *memSource) candidates(ms []*labels.Matcher) []*memSeries {
	var names []string
	for _, m := range ms {
		switch {
		case m.Name != metricName:
		case m.Type == labels.MatchEqual:
			names = []string{m.Value}
		case m.Type == labels.MatchRegexp && len(m.SetMatches()) > 0:
			names = m.SetMatches()
		}
	}
	if names == nil {
		names = slices.Sorted(maps.Keys(s.series))
	}
	var all []*memSeries
	for _, name := range names {
		all = append(all, s.series[name]...)
	}
	return all
}

// add puts a series into the source.
func (s *memSource) add(one *memSeries) {
	name := one.labels.Get(metricName)
	if s.series == nil {
		s.series = map[string][]*memSeries{}
	}
	s.series[name] = append(s.series[name], one)
}

func matches(ls labels.Labels, ms []*labels.Matcher) bool {
	for _, m := range ms {
		if !m.Matches(ls.Get(m.Name)) {
			return false
		}
	}
	return true
}

// between is the part of the series in [from, to].
func (s *memSeries) between(from, to int64) *memSeries {
	i, j := s.search(from), s.search(to+1)
	return &memSeries{s.labels, s.points[i:max(i, j)]}
}

// search is the index of the first sample at or after a time.
func (s *memSeries) search(at int64) int {
	i, _ := slices.BinarySearchFunc(s.points, at, func(p promql.FPoint, at int64) int { return cmp.Compare(p.T, at) })
	return i
}

var errNoLabelQueries = errors.New("label queries are not supported here")

func (q *memQuerier) LabelValues(
	context.Context, string, *promstorage.LabelHints, ...*labels.Matcher,
) ([]string, annotations.Annotations, error) {
	return nil, nil, errNoLabelQueries
}

func (q *memQuerier) LabelNames(
	context.Context, *promstorage.LabelHints, ...*labels.Matcher,
) ([]string, annotations.Annotations, error) {
	return nil, nil, errNoLabelQueries
}

func (q *memQuerier) Close() error { return nil }

// memSet walks over series; the current one is the first.
type memSet struct {
	series  []*memSeries
	started bool
}

func (s *memSet) Next() bool {
	if s.started && len(s.series) > 0 {
		s.series = s.series[1:]
	}
	s.started = true
	return len(s.series) > 0
}

func (s *memSet) At() promstorage.Series {
	return promql.NewStorageSeries(promql.Series{Metric: s.series[0].labels, Floats: s.series[0].points})
}

func (s *memSet) Err() error                        { return nil }
func (s *memSet) Warnings() annotations.Annotations { return nil }
