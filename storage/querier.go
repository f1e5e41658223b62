package storage

import (
	"context"
	"slices"

	"github.com/prometheus/prometheus/model/labels"
	promstorage "github.com/prometheus/prometheus/storage"
	"github.com/prometheus/prometheus/util/annotations"
)

// Querier implements promstorage.Queryable over [mint, maxt], both inclusive
// and in milliseconds.
func (s *Store) Querier(mint, maxt int64) (promstorage.Querier, error) {
	return &querier{s, mint, maxt}, nil
}

// querier reads one span of time. It holds nothing open.
type querier struct {
	store      *Store
	mint, maxt int64
}

var _ promstorage.Querier = (*querier)(nil)

// Select implements promstorage.Querier. End markers are delivered as they are.
func (q *querier) Select(
	_ context.Context, sorted bool, hints *promstorage.SelectHints, ms ...*labels.Matcher,
) promstorage.SeriesSet {
	mint, maxt := q.mint, q.maxt
	if hints != nil {
		mint, maxt = max(mint, hints.Start), min(maxt, hints.End)
	}
	found := q.store.head.selectSeries(mint, maxt, ms)
	if sorted {
		sortSeries(found)
	}
	return &seriesSet{series: found}
}

// LabelValues implements promstorage.LabelQuerier.
func (q *querier) LabelValues(
	_ context.Context, name string, hints *promstorage.LabelHints, ms ...*labels.Matcher,
) ([]string, annotations.Annotations, error) {
	seen := map[string]bool{}
	for _, l := range q.store.head.labelSets(q.mint, q.maxt, ms) {
		if v := l.Get(name); v != "" {
			seen[v] = true
		}
	}
	return limited(seen, hints), nil, nil
}

// LabelNames implements promstorage.LabelQuerier.
func (q *querier) LabelNames(
	_ context.Context, hints *promstorage.LabelHints, ms ...*labels.Matcher,
) ([]string, annotations.Annotations, error) {
	seen := map[string]bool{}
	for _, l := range q.store.head.labelSets(q.mint, q.maxt, ms) {
		l.Range(func(l labels.Label) { seen[l.Name] = true })
	}
	return limited(seen, hints), nil, nil
}

// limited is the set in order, cut to the hints' limit.
func limited(set map[string]bool, hints *promstorage.LabelHints) []string {
	out := make([]string, 0, len(set))
	for v := range set {
		out = append(out, v)
	}
	slices.Sort(out)
	out, _ = hints.ApplyLimit(out)
	return out
}

// Close implements promstorage.LabelQuerier.
func (q *querier) Close() error { return nil }
