package gallery

import (
	"context"
	"slices"
	"time"

	"github.com/prometheus/prometheus/model/histogram"
	"github.com/prometheus/prometheus/model/labels"
	promstorage "github.com/prometheus/prometheus/storage"
	"github.com/prometheus/prometheus/tsdb/chunkenc"
	"github.com/prometheus/prometheus/tsdb/chunks"
	"github.com/prometheus/prometheus/util/annotations"
)

// Data is a set of series in memory that PromQL can read.
type Data struct {
	start    time.Time
	interval time.Duration
	beats    int
	series   []promstorage.Series
}

// NewData makes an empty set whose beats end at end.
func NewData(end time.Time, span, interval time.Duration) *Data {
	beats := int(span/interval) + 1
	return &Data{start: end.Add(-time.Duration(beats-1) * interval), interval: interval, beats: beats}
}

// at is seconds relative to the end of the data at a beat.
func (d *Data) at(beat int) float64 {
	return (time.Duration(beat-d.beats+1) * d.interval).Seconds()
}

// Gauge adds a series with the value that f gives for seconds before the end
// (negative). Not ok is a missing sample.
func (d *Data) Gauge(f func(s float64) (v float64, ok bool), name string, pairs ...string) {
	var samples []chunks.Sample
	for i := range d.beats {
		if v, ok := f(d.at(i)); ok {
			samples = append(samples, sample{d.start.Add(time.Duration(i) * d.interval).UnixMilli(), v})
		}
	}
	lset := labels.FromStrings(append([]string{"__name__", name}, pairs...)...)
	d.series = append(d.series, promstorage.NewListSeries(lset, samples))
}

// Always adds a series of one value.
func (d *Data) Always(v float64, name string, pairs ...string) {
	d.Gauge(func(float64) (float64, bool) { return v, true }, name, pairs...)
}

// Counter adds the sum over time of a rate per second.
func (d *Data) Counter(rate func(s float64) float64, name string, pairs ...string) {
	sum := 1000.0
	d.Gauge(func(s float64) (float64, bool) {
		sum += max(rate(s), 0) * d.interval.Seconds()
		return sum, true
	}, name, pairs...)
}

// Extent is the time of the first and the last beat.
func (d *Data) Extent() (oldest, newest time.Time) {
	if len(d.series) == 0 {
		return time.Time{}, time.Time{}
	}
	return d.start, d.start.Add(time.Duration(d.beats-1) * d.interval)
}

// Querier implements storage.Queryable of Prometheus.
func (d *Data) Querier(_, _ int64) (promstorage.Querier, error) { return querier{d}, nil }

type querier struct{ data *Data }

func (q querier) Select(_ context.Context, _ bool, _ *promstorage.SelectHints, matchers ...*labels.Matcher) promstorage.SeriesSet {
	var found []promstorage.Series
	for _, s := range q.data.series {
		if !slices.ContainsFunc(matchers, func(m *labels.Matcher) bool { return !m.Matches(s.Labels().Get(m.Name)) }) {
			found = append(found, s)
		}
	}
	slices.SortFunc(found, func(a, b promstorage.Series) int { return labels.Compare(a.Labels(), b.Labels()) })
	return &seriesSet{found: found, at: -1}
}

func (querier) LabelValues(context.Context, string, *promstorage.LabelHints, ...*labels.Matcher) ([]string, annotations.Annotations, error) {
	return nil, nil, nil
}

func (querier) LabelNames(context.Context, *promstorage.LabelHints, ...*labels.Matcher) ([]string, annotations.Annotations, error) {
	return nil, nil, nil
}

func (querier) Close() error { return nil }

type seriesSet struct {
	found []promstorage.Series
	at    int
}

func (s *seriesSet) Next() bool                        { s.at++; return s.at < len(s.found) }
func (s *seriesSet) At() promstorage.Series            { return s.found[s.at] }
func (s *seriesSet) Err() error                        { return nil }
func (s *seriesSet) Warnings() annotations.Annotations { return nil }

// sample implements chunks.Sample for a float.
type sample struct {
	t int64
	v float64
}

func (s sample) T() int64                      { return s.t }
func (s sample) ST() int64                     { return 0 }
func (s sample) F() float64                    { return s.v }
func (s sample) H() *histogram.Histogram       { return nil }
func (s sample) FH() *histogram.FloatHistogram { return nil }
func (s sample) Type() chunkenc.ValueType      { return chunkenc.ValFloat }
func (s sample) Copy() chunks.Sample           { return s }
