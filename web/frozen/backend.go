// Package frozen shows a snapshot through the same page as a live host: it
// answers what the page asks from what was stored, and evaluates nothing.
package frozen

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"sort"
	"time"

	"github.com/prometheus/prometheus/model/labels"
	"github.com/prometheus/prometheus/promql"

	"stallmark/rules"
	"stallmark/storage/model"
	"stallmark/storage/snapshot"
	"stallmark/web/view"
)

// ErrNotStored is for a line that the snapshot does not have: it cannot be
// evaluated any more.
var ErrNotStored = errors.New("not in the snapshot")

// Backend answers from a snapshot. It implements web.Backend and is safe for
// concurrent use.
type Backend struct {
	s     *snapshot.Snapshot
	lines map[string][]promql.Series
	pack  []*rules.Signature
	bytes int
}

// New makes the backend of a snapshot, which must not be changed any more. It
// does not keep the samples, and the lines only as it gives them.
func New(s *snapshot.Snapshot) *Backend {
	kept := *s
	kept.Samples, kept.Lines = nil, nil
	b := &Backend{s: &kept, lines: map[string][]promql.Series{}}
	for _, l := range s.Lines {
		list := make([]promql.Series, 0, len(l.Series))
		for _, one := range l.Series {
			list = append(list, seriesOf(one))
			b.bytes += bytesOfSeries + len(one.T)*bytesOfPoint
		}
		b.lines[l.Expr] = list
		b.bytes += len(l.Expr)
	}
	b.bytes += sizeOf(&kept)
	for _, sig := range s.Signatures {
		b.pack = append(b.pack, &rules.Signature{ID: sig.ID, Title: sig.Title, Layer: sig.Layer, Severity: sig.Severity, What: sig.What, BuiltIn: true})
	}
	return b
}

// What a series and a value of it take in memory, about.
const (
	bytesOfSeries = 256
	bytesOfPoint  = 16
)

// sizeOf is what a snapshot takes besides its series, about: that of its texts,
// as they are written.
func sizeOf(s *snapshot.Snapshot) int {
	data, err := json.Marshal(s)
	if err != nil { // a value that JSON does not have; its size is that of others
		return 1 << 20
	}
	return 2 * len(data)
}

// Bytes is what the backend takes in memory, about.
func (b *Backend) Bytes() int { return b.bytes }

// Meta says what the snapshot is of.
func (b *Backend) Meta() snapshot.Meta { return b.s.Meta }

// seriesOf gives a stored series as the query engine would.
func seriesOf(s snapshot.Series) promql.Series {
	var builder labels.ScratchBuilder
	for _, l := range s.Labels {
		builder.Add(l.Name, l.Value)
	}
	builder.Sort()
	points := make([]promql.FPoint, len(s.T))
	for i := range s.T {
		points[i] = promql.FPoint{T: s.T[i], F: s.V[i]}
	}
	return promql.Series{Metric: builder.Labels(), Floats: points}
}

// EventsIn implements web.Backend.
func (b *Backend) EventsIn(_ context.Context, from, to time.Time, kinds ...model.EventKind) ([]model.Event, error) {
	var out []model.Event
	for _, e := range b.s.Events {
		if !e.From.After(to) && !e.To.Before(from) && (len(kinds) == 0 || slices.Contains(kinds, e.Kind)) {
			out = append(out, e)
		}
	}
	return out, nil
}

// FactsAt implements web.Backend.
func (b *Backend) FactsAt(_ context.Context, at time.Time) (map[string]model.Fact, error) {
	out := map[string]model.Fact{}
	for _, f := range b.s.Facts {
		if known, ok := out[f.Key]; !f.At.After(at) && (!ok || known.At.Before(f.At)) {
			out[f.Key] = f
		}
	}
	return out, nil
}

// CoverageAt implements web.Backend.
func (b *Backend) CoverageAt(context.Context, time.Time) ([]model.Coverage, error) {
	return b.s.Report.Coverage, nil
}

// FindingsIn implements web.Backend: all of them, whatever part is looked at, so
// that the verdict stays what it was.
func (b *Backend) FindingsIn(context.Context, time.Time, time.Time) ([]model.Finding, error) {
	return b.s.Report.Findings, nil
}

// Finding implements web.Backend.
func (b *Backend) Finding(_ context.Context, id string) (model.Finding, bool, error) {
	i := slices.IndexFunc(b.s.Report.Findings, func(f model.Finding) bool { return f.ID == id })
	if i < 0 {
		return model.Finding{}, false, nil
	}
	return b.s.Report.Findings[i], true, nil
}

// Extent implements web.Backend.
func (b *Backend) Extent(context.Context) (oldest, newest time.Time) {
	return b.s.Meta.From, b.s.Meta.To
}

// Range implements web.Backend: a part of a stored line, at every beat.
func (b *Backend) Range(_ context.Context, expr string, from, to time.Time, _ time.Duration) (promql.Matrix, error) {
	stored, ok := b.lines[expr]
	if !ok {
		return nil, ErrNotStored
	}
	var out promql.Matrix
	for _, one := range stored {
		points := between(one.Floats, from.UnixMilli(), to.UnixMilli())
		if len(points) > 0 {
			out = append(out, promql.Series{Metric: one.Metric, Floats: slices.Clone(points)})
		}
	}
	return out, nil
}

// between is the part of the points in [from, to].
func between(points []promql.FPoint, from, to int64) []promql.FPoint {
	i := sort.Search(len(points), func(i int) bool { return points[i].T >= from })
	j := sort.Search(len(points), func(i int) bool { return points[i].T > to })
	return points[i:max(i, j)]
}

// Instant implements web.Backend: the values of a stored line at a beat.
func (b *Backend) Instant(_ context.Context, expr string, at time.Time) (promql.Vector, error) {
	stored, ok := b.lines[expr]
	if !ok {
		return nil, ErrNotStored
	}
	var out promql.Vector
	for _, one := range stored {
		points := between(one.Floats, at.Add(-b.s.Meta.Interval).UnixMilli()+1, at.UnixMilli())
		if n := len(points); n > 0 {
			out = append(out, promql.Sample{Metric: one.Metric, T: at.UnixMilli(), F: points[n-1].F})
		}
	}
	return out, nil
}

// Report implements web.Backend: the verdict as it was, whatever part is looked
// at.
func (b *Backend) Report(context.Context, time.Time, time.Time, []model.Finding) (model.Report, error) {
	return b.s.Report, nil
}

// Signatures implements web.Backend: the catalogue as it was.
func (b *Backend) Signatures() []*rules.Signature { return b.pack }

// Health implements web.Backend: a snapshot does not run.
func (b *Backend) Health(context.Context) view.Health {
	return view.Health{RulesVersion: b.s.Meta.Rules, Interval: b.s.Meta.Interval}
}
