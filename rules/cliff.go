package rules

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/prometheus/prometheus/model/labels"
	"github.com/prometheus/prometheus/promql"
)

// Outlook says in a word whether something is on its way to a cliff.
type Outlook string

// The outlooks.
const (
	CliffReached     Outlook = "reached"
	CliffApproaching Outlook = "approaching"
	CliffFar         Outlook = "far"  // more than an hour away at the present slope
	CliffAway        Outlook = "away" // it stands, or goes the other way
	CliffUnknown     Outlook = "unknown"
)

// cliffFar is beyond what a slope of the last minutes can tell.
const cliffFar = time.Hour

// Cliff is how far something is from a point where a stall begins.
type Cliff struct {
	ID        string            `json:"id"`
	Title     string            `json:"title"`
	Signature string            `json:"signature"`
	Subject   map[string]string `json:"subject"`
	Value     float64           `json:"value"`
	Edge      float64           `json:"edge"` // the next step that is not reached, else the last
	Unit      string            `json:"unit"`
	Percent   float64           `json:"percent"` // of the way; 100 is reached
	Says      string            `json:"says"`    // what happens there
	Reached   string            `json:"reached"` // what happens already, of several steps; empty if none
	Outlook   Outlook           `json:"outlook"`
	Slope     *float64          `json:"slope"`    // a second, towards the edge; nil if it was watched for too short
	Earliest  *float64          `json:"earliest"` // seconds from now; nil unless approaching or far
	Latest    *float64          `json:"latest"`   // seconds from now; nil if it may never come
	Lasts     *float64          `json:"lasts"`    // seconds that the distance lasts in the worst case; nil if not known
	Text      string            `json:"text"`     // the outlook in words
}

// Evaluator evaluates PromQL; [Query] is one.
type Evaluator interface {
	Ranger
	Instant(ctx context.Context, expr string, at time.Time) (promql.Vector, error)
}

// Cliffs measures all distances at a time, the nearest first: those reached,
// those on their way by time, the others by how much of the way is behind them.
// What is not measured on this host is left out. An error says what could not be
// evaluated; the rest is there.
func Cliffs(ctx context.Context, q Evaluator, now time.Time, interval time.Duration) ([]Cliff, error) {
	out := []Cliff{}
	var errs []error
	for _, rule := range cliffRules() {
		list, err := rule.measure(ctx, q, now, interval)
		out, errs = append(out, list...), append(errs, err)
	}
	slices.SortStableFunc(out, func(a, b Cliff) int {
		if c := outlookRank(a.Outlook) - outlookRank(b.Outlook); c != 0 {
			return c
		}
		if a.Outlook == CliffApproaching && *a.Earliest != *b.Earliest {
			return int(math.Copysign(1, *a.Earliest-*b.Earliest))
		}
		return int(10*b.Percent) - int(10*a.Percent)
	})
	return out, errors.Join(errs...)
}

// outlookRank puts first what is reached, then what is on its way. What stands,
// is far or not known is sorted by its share alone.
func outlookRank(o Outlook) int {
	switch o {
	case CliffReached:
		return 0
	case CliffApproaching:
		return 1
	}
	return 2
}

// measure gives the distances of one rule, one for each of its subjects.
func (c *cliffRule) measure(ctx context.Context, q Evaluator, now time.Time, interval time.Duration) ([]Cliff, error) {
	values, err := q.Instant(ctx, c.value, now)
	if err != nil || len(values) == 0 {
		return nil, err
	}
	m, err := q.Range(ctx, c.value, now.Add(-c.over), now, max(interval, c.over/60))
	if err != nil {
		return nil, err
	}
	var rates promql.Vector
	if c.lasts != "" {
		if rates, err = q.Instant(ctx, c.lasts, now); err != nil {
			return nil, err
		}
	}
	steps, err := c.edges(ctx, q, now)
	if err != nil {
		return nil, err
	}
	var out []Cliff
	for _, v := range values {
		subject := subjectOf(v.Metric)
		one := Cliff{
			ID: c.id, Title: c.title, Signature: c.signature, Subject: subject, Value: v.F, Unit: c.unit,
		}
		if !finite(v.F) || !c.place(&one, steps) {
			continue
		}
		c.predict(&one, pointsOf(m, v.Metric), now)
		if rate := furthest(rates, subject, Above); rate != nil && rate.F > 0 && one.Outlook != CliffReached {
			lasts := c.distance(one) / rate.F
			one.Lasts = &lasts
		}
		one.Text = c.words(one)
		out = append(out, one)
	}
	return out, nil
}

// edges evaluates where the steps are.
func (c *cliffRule) edges(ctx context.Context, q Evaluator, now time.Time) ([]promql.Vector, error) {
	out := make([]promql.Vector, len(c.steps))
	for i, s := range c.steps {
		v, err := q.Instant(ctx, s.edge, now)
		if err != nil {
			return nil, err
		}
		out[i] = v
	}
	return out, nil
}

// place finds the next step that is not reached; false if there is none.
func (c *cliffRule) place(one *Cliff, steps []promql.Vector) bool {
	found := false
	for i, s := range c.steps {
		edge := furthest(steps[i], one.Subject, Above)
		if edge == nil || edge.F <= 0 {
			continue
		}
		if found {
			one.Reached = one.Says
		}
		found = true
		one.Edge, one.Says = edge.F, s.says
		if c.distance(*one) > 0 {
			break
		}
	}
	if !found {
		return false
	}
	one.Percent = 100 * one.Value / one.Edge
	if c.falls {
		one.Percent = 100 * one.Edge / max(one.Value, 1)
	}
	return true
}

// distance is what is left.
func (c *cliffRule) distance(one Cliff) float64 {
	if c.falls {
		return one.Value - one.Edge
	}
	return one.Edge - one.Value
}

// predict sets the outlook from the slopes of the whole span and of its last
// third: they bound what a straight line can tell. Where only one of them leads
// to the edge it may never come.
func (c *cliffRule) predict(one *Cliff, points []promql.FPoint, now time.Time) {
	left := c.distance(*one)
	if left <= 0 {
		one.Outlook = CliffReached
		return
	}
	whole, ok := slopeOf(points, now.Add(-c.over))
	last, lastOK := slopeOf(points, now.Add(-c.over/3))
	if !ok || !lastOK || now.UnixMilli()-points[0].T < c.over.Milliseconds()/2 {
		one.Outlook = CliffUnknown
		return
	}
	if c.falls {
		whole, last = -whole, -last
	}
	one.Slope = &whole
	var times []float64
	for _, slope := range []float64{whole, last} {
		if slope > 0 && left/slope < 1e9 {
			times = append(times, left/slope)
		}
	}
	if len(times) == 0 {
		one.Outlook = CliffAway
		return
	}
	earliest := slices.Min(times)
	one.Earliest = &earliest
	if len(times) == 2 {
		latest := slices.Max(times)
		one.Latest = &latest
	}
	one.Outlook = CliffApproaching
	if earliest > cliffFar.Seconds() {
		one.Outlook = CliffFar
	}
}

// words is the outlook as people say it.
func (c *cliffRule) words(one Cliff) string {
	text := ""
	switch one.Outlook {
	case CliffReached:
		return "reached: " + one.Says
	case CliffUnknown:
		text = "not watched for long enough to say where it goes"
	case CliffAway:
		text = "not approaching"
	case CliffFar:
		text = "more than an hour away at the present slope"
	case CliffApproaching:
		text = aboutSeconds(*one.Earliest) + " away at the earliest, if it goes on like this"
		if one.Latest != nil {
			from, to := aboutSeconds(*one.Earliest), aboutSeconds(*one.Latest)
			switch {
			case *one.Latest > cliffFar.Seconds():
				text = from + " to more than an hour away at the present slope"
			case from == to:
				text = "about " + from + " away at the present slope"
			default:
				text = from + " to " + to + " away at the present slope"
			}
		}
	}
	if one.Lasts != nil && *one.Lasts < cliffFar.Seconds() {
		text += fmt.Sprintf("; enough for %s %s", aboutSeconds(*one.Lasts), c.lastsSays)
	}
	return text
}

// aboutSeconds rounds a time to what such a forecast is worth.
func aboutSeconds(s float64) string {
	switch {
	case s < 1:
		return "less than 1 s"
	case s < 10:
		return fmt.Sprintf("%.0f s", s)
	case s < 100:
		return fmt.Sprintf("%.0f s", math.Round(s/5)*5)
	}
	return fmt.Sprintf("%.0f min", math.Round(s/60))
}

// pointsOf is the points of one series.
func pointsOf(m promql.Matrix, set labels.Labels) []promql.FPoint {
	for _, s := range m {
		if labels.Equal(s.Metric, set) {
			return s.Floats
		}
	}
	return nil
}

// slopeOf is the slope a second, by least squares, of the points since a time.
// It takes at least five of them.
func slopeOf(points []promql.FPoint, since time.Time) (slope float64, ok bool) {
	var n, st, sv, stt, stv float64
	for _, p := range points {
		if p.T < since.UnixMilli() || !finite(p.F) {
			continue
		}
		t := float64(p.T-points[0].T) / 1000
		n, st, sv, stt, stv = n+1, st+t, sv+p.F, stt+t*t, stv+t*p.F
	}
	d := n*stt - st*st
	if n < 5 || d <= 0 {
		return 0, false
	}
	return (n*stv - st*sv) / d, true
}
