package web

import (
	"math"
	"time"

	"stallmark/web/chart"
	"stallmark/web/format"
	"stallmark/web/view"
)

// How much before and after a change is compared, and with how many samples at
// least on either side.
const (
	effectSpan    = time.Minute
	effectSettle  = 2 * time.Second // what a change does is not there at once
	effectSamples = 3
	maxEffects    = 4
)

// withEffects adds to changed settings what the charts show before and after
// them: the first line of each, as far as the next change.
func withEffects(changes []view.Change, charts []chart.Chart) []view.Change {
	for i := range changes {
		from, to := changes[i].At.Add(-effectSpan), changes[i].At.Add(effectSpan)
		for _, other := range changes {
			switch at := other.At; {
			case at.Before(changes[i].At) && at.After(from):
				from = at
			case at.After(changes[i].At) && at.Before(to):
				to = at
			}
		}
		for _, c := range charts {
			if e, ok := effectOf(c, from, changes[i].At, to); ok && len(changes[i].Effects) < maxEffects {
				changes[i].Effects = append(changes[i].Effects, e)
			}
		}
	}
	return changes
}

func effectOf(c chart.Chart, from, at, to time.Time) (view.Effect, bool) {
	if len(c.Series) == 0 {
		return view.Effect{}, false
	}
	before, n := mean(c.Series[0].Points, from.Add(effectSettle), at)
	after, m := mean(c.Series[0].Points, at.Add(effectSettle), to)
	if n < effectSamples || m < effectSamples {
		return view.Effect{}, false
	}
	e := view.Effect{Title: chart.ShortTitle(c.Title), Before: format.Value(before, c.Unit), After: format.Value(after, c.Unit)}
	return e, e.Before != e.After
}

// mean of the samples in [from, to), and how many they are.
func mean(points []chart.Point, from, to time.Time) (float64, int) {
	sum, n := 0.0, 0
	for _, p := range points {
		if p.T >= from.UnixMilli() && p.T < to.UnixMilli() && !math.IsNaN(p.V) && !math.IsInf(p.V, 0) {
			sum += p.V
			n++
		}
	}
	return sum / float64(n), n
}
