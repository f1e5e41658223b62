package storage

import (
	"slices"

	"github.com/prometheus/prometheus/model/labels"
	promstorage "github.com/prometheus/prometheus/storage"
	"github.com/prometheus/prometheus/tsdb/chunkenc"
	"github.com/prometheus/prometheus/util/annotations"
)

// metricName is the label that holds a metric's name.
const metricName = "__name__"

// series is one selected time series. It implements promstorage.Series.
type series struct {
	key    string
	labels labels.Labels
	parts  []part // ascending in time, not overlapping
	span   bounds
}

// Labels implements promstorage.Series.
func (s *series) Labels() labels.Labels { return s.labels }

// Iterator implements promstorage.Series.
func (s *series) Iterator(reuse chunkenc.Iterator) chunkenc.Iterator {
	it, ok := reuse.(*iterator)
	if !ok {
		it = new(iterator)
	}
	it.reset(s.parts, s.span)
	return it
}

// seriesSet walks selected series. It implements promstorage.SeriesSet.
type seriesSet struct {
	series   []series
	next     int
	warnings annotations.Annotations
	err      error
}

var _ promstorage.SeriesSet = (*seriesSet)(nil)

// Next implements promstorage.SeriesSet.
func (s *seriesSet) Next() bool {
	if s.err != nil || s.next >= len(s.series) {
		return false
	}
	s.next++
	return true
}

// At implements promstorage.SeriesSet.
func (s *seriesSet) At() promstorage.Series { return &s.series[s.next-1] }

// Err implements promstorage.SeriesSet.
func (s *seriesSet) Err() error { return s.err }

// Warnings implements promstorage.SeriesSet.
func (s *seriesSet) Warnings() annotations.Annotations { return s.warnings }

// sortSeries puts series in the order of their labels.
func sortSeries(s []series) {
	slices.SortFunc(s, func(a, b series) int { return labels.Compare(a.labels, b.labels) })
}

// joined is the older and the newer samples of the same series in one.
func joined(older, newer []series) []series {
	if len(older) == 0 {
		return newer
	}
	at := make(map[string]int, len(older))
	for i, s := range older {
		at[s.key] = i
	}
	for _, s := range newer {
		if i, ok := at[s.key]; ok {
			older[i].parts = append(older[i].parts, s.parts...)
		} else {
			older = append(older, s)
		}
	}
	return older
}

// matches reports whether all matchers accept the labels.
func matches(l labels.Labels, ms []*labels.Matcher) bool {
	for _, m := range ms {
		if !m.Matches(l.Get(m.Name)) {
			return false
		}
	}
	return true
}

// nameOf is the metric name that the matchers ask for, if they ask for one.
func nameOf(ms []*labels.Matcher) (string, bool) {
	for _, m := range ms {
		if m.Type == labels.MatchEqual && m.Name == metricName {
			return m.Value, true
		}
	}
	return "", false
}

// namesOf is the metric names of a regular expression that lists them, such as
// a|b; none if no matcher does.
func namesOf(ms []*labels.Matcher) []string {
	for _, m := range ms {
		if m.Type == labels.MatchRegexp && m.Name == metricName {
			if names := m.SetMatches(); len(names) > 0 {
				return names
			}
		}
	}
	return nil
}

// matchesName reports whether the matchers accept a metric name.
func matchesName(name string, ms []*labels.Matcher) bool {
	for _, m := range ms {
		if m.Name == metricName && !m.Matches(name) {
			return false
		}
	}
	return true
}
