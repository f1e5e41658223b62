package rules

import (
	"context"
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/prometheus/prometheus/promql"

	"stallmark/storage/model"
)

// How much on either side of a changed setting is compared.
const (
	effectSpan    = time.Minute
	effectSettle  = 2 * time.Second // what a change does is not there at once
	effectSamples = 3               // on either side, or nothing can be said
	maxMeasures   = 4
	maxChanges    = 50 // of one finding that are compared, the newest
)

// Ranger evaluates PromQL at every step of a span; [Query] is one.
type Ranger interface {
	Range(ctx context.Context, expr string, from, to time.Time, step time.Duration) (promql.Matrix, error)
}

// Effect is what was measured before and after settings changed.
type Effect struct {
	At       time.Time `json:"at"`
	Settings []Setting `json:"settings"`
	Measures []Measure `json:"measures"` // the finding's key evidence; empty if it cannot be compared
}

// Setting is one changed setting. Old and New may be empty.
type Setting struct {
	Key string `json:"key"`
	Old string `json:"old"`
	New string `json:"new"`
}

// Measure is the mean of one piece of evidence before and after a change.
type Measure struct {
	Title  string  `json:"title"`
	Unit   string  `json:"unit"`
	Before float64 `json:"before"`
	After  float64 `json:"after"`
	Change string  `json:"change"` // gone, come (over the threshold), less, more, same
	Text   string  `json:"text"`   // since 12:03:10 UTC: Pauses 41/s -> 0/s
}

// What became of a measure. Same: the means differ by less than their scatter
// or by less than a tenth.
const (
	MeasureGone = "gone"
	MeasureCome = "come"
	MeasureLess = "less"
	MeasureMore = "more"
	MeasureSame = "same"
)

// Effects compares, for every change of settings during a finding or up to a
// minute around it, the finding's key evidence (witnesses and confirmations)
// before and after: up to a minute on either side, as far as the next change
// and up to now. What is measured over a range is read only once the range has
// left the change behind. Events of other kinds are left out.
func Effects(
	ctx context.Context, r Ranger, f model.Finding, events []model.Event, now time.Time, interval time.Duration,
) ([]Effect, error) {
	changes := changesNear(f, events, now)
	out := make([]Effect, 0, len(changes))
	for i, c := range changes {
		from, to := c.At.Add(-effectSpan), c.At.Add(effectSpan)
		if i > 0 && changes[i-1].At.After(from) {
			from = changes[i-1].At
		}
		if i+1 < len(changes) && changes[i+1].At.Before(to) {
			to = changes[i+1].At
		}
		if now.Before(to) {
			to = now
		}
		var err error
		if c.Measures, err = measures(ctx, r, f, from, c.At, to, interval); err != nil {
			return out, err
		}
		out = append(out, c)
	}
	return out, nil
}

// changesNear groups the changed settings by their time, oldest first.
func changesNear(f model.Finding, events []model.Event, now time.Time) []Effect {
	last := now
	if f.Ended != nil {
		last = f.Ended.Add(effectSpan)
	}
	var out []Effect
	sorted := slices.Clone(events)
	slices.SortStableFunc(sorted, func(a, b model.Event) int { return a.From.Compare(b.From) })
	for _, e := range sorted {
		if e.Kind != model.EventSetting || e.From.Before(f.Started.Add(-effectSpan)) || e.From.After(last) {
			continue
		}
		if n := len(out); n == 0 || !out[n-1].At.Equal(e.From) {
			out = append(out, Effect{At: e.From, Settings: []Setting{}, Measures: []Measure{}})
		}
		s := Setting{Key: e.Attrs["key"], Old: e.Attrs["old"], New: e.Attrs["new"]}
		if s.Key == "" {
			s.Key = e.Text // an older recording has the text alone
		}
		out[len(out)-1].Settings = append(out[len(out)-1].Settings, s)
	}
	return out[max(0, len(out)-maxChanges):]
}

// measures compares the key evidence around a change.
func measures(
	ctx context.Context, r Ranger, f model.Finding, from, at, to time.Time, interval time.Duration,
) ([]Measure, error) {
	out := []Measure{}
	for _, e := range f.Evidence {
		if e.Expr == "" || e.Role != model.RoleWitness && e.Role != model.RoleConfirms || len(out) == maxMeasures {
			continue
		}
		parsed, err := newParser().ParseExpr(e.Expr)
		if err != nil {
			continue // a rule of another version
		}
		reach := max(longestRange(parsed), minBeats*interval)
		m, err := r.Range(ctx, e.Expr, from, to, interval)
		if err != nil {
			return out, err
		}
		points := pointsFor(m, f.Subject)
		before := spread(points, from.Add(reach), at)
		after := spread(points, at.Add(max(effectSettle, reach)), to)
		if before.n < effectSamples {
			before = spread(points, from, at) // no earlier change has to be left behind, or there is no more
		}
		if before.n >= effectSamples && after.n >= effectSamples {
			out = append(out, measureOf(e, at, before, after))
		}
	}
	return out, nil
}

// pointsFor is the furthest value of the series that speak of a subject, by
// time.
func pointsFor(m promql.Matrix, subject map[string]string) map[int64]float64 {
	out := map[int64]float64{}
	for _, s := range m {
		if !Agrees(subject, s.Metric) {
			continue
		}
		for _, p := range s.Floats {
			if v, ok := out[p.T]; finite(p.F) && (!ok || p.F > v) {
				out[p.T] = p.F
			}
		}
	}
	return out
}

// scatter is the mean of some values and its standard error.
type scatter struct {
	n           int
	mean, error float64
}

// spread is over the points in [from, to).
func spread(points map[int64]float64, from, to time.Time) scatter {
	var s scatter
	var sum, squares float64
	for t, v := range points {
		if t >= from.UnixMilli() && t < to.UnixMilli() {
			s.n++
			sum += v
			squares += v * v
		}
	}
	if s.n > 0 {
		n := float64(s.n)
		s.mean = sum / n
		s.error = math.Sqrt(max(0, squares/n-s.mean*s.mean) / n)
	}
	return s
}

func measureOf(e model.Evidence, at time.Time, before, after scatter) Measure {
	m := Measure{Title: e.Title, Unit: e.Unit, Before: before.mean, After: after.mean, Change: changeOf(e, before, after)}
	m.Text = fmt.Sprintf("since %s UTC: %s %s -> %s", at.UTC().Format(time.TimeOnly), m.Title, Format(m.Before, m.Unit), Format(m.After, m.Unit))
	return m
}

// changeOf says what became of a measure. That it left the threshold behind is
// told by a threshold that does not move; a witness's is 0.
func changeOf(e model.Evidence, before, after scatter) string {
	d := after.mean - before.mean
	noise := 2 * (before.error + after.error)
	if math.Abs(d) <= noise || math.Abs(d) <= 0.1*max(math.Abs(before.mean), math.Abs(after.mean)) {
		return MeasureSame
	}
	if e.Threshold != nil && e.Limit == "" {
		low := e.State == model.EvidenceHolds && e.Value != nil && *e.Value <= *e.Threshold // small values are the bad ones
		switch b, a := before.mean > *e.Threshold != low, after.mean > *e.Threshold != low; {
		case b && !a:
			return MeasureGone
		case a && !b:
			return MeasureCome
		}
	}
	if d < 0 {
		return MeasureLess
	}
	return MeasureMore
}
