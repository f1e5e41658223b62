package chart

import (
	"cmp"
	"fmt"
	"math"
	"strings"
	"time"

	"stallmark/web/format"
)

// endValue is the last value of a series if it is still there at the end of a
// live window, the largest one of a past window.
func endValue(s Series, c Chart) string {
	if !c.Live {
		if _, high, any := extent([]Series{s}); any {
			return "max " + format.Value(high, c.Unit)
		}
		return "–"
	}
	fresh := c.To.Add(-max(4*c.Step, 5*time.Second)).UnixMilli()
	for i := len(s.Points) - 1; i >= 0 && s.Points[i].T >= fresh; i-- {
		if !math.IsNaN(s.Points[i].V) {
			return format.Value(s.Points[i].V, c.Unit)
		}
	}
	return "–"
}

// caption is the number in the head of the chart: that of the first series that
// has one.
func caption(c Chart) string {
	for _, s := range c.Series {
		if v := endValue(s, c); v != "–" {
			return v
		}
	}
	return "–"
}

// summary says in words what the picture shows.
func summary(c Chart) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s from %s to %s UTC.", c.Title, format.Stamp(c.From), format.Stamp(c.To))
	for _, s := range c.Series {
		low, high, any := extent([]Series{s})
		if !any {
			fmt.Fprintf(&b, " %s: no data.", s.Name)
			continue
		}
		name := s.Name
		if name == "" {
			name = c.Title
		}
		fmt.Fprintf(&b, " %s: from %s to %s (at %s), last %s.", name,
			format.Value(low, c.Unit), format.Value(high, c.Unit), format.Clock(peakTime(s.Points, high)), format.Value(lastOf(s.Points), c.Unit))
	}
	for _, t := range told(c, frame{from: c.From.UnixMilli(), to: c.To.UnixMilli()}) {
		fmt.Fprintf(&b, " %s.", t.Title)
	}
	for _, l := range c.Limits {
		fmt.Fprintf(&b, " Threshold %s: %s.", l.Name, format.Value(l.last(), c.Unit))
	}
	for _, f := range c.Fired {
		fmt.Fprintf(&b, " Shaded from %s to %s.", format.Clock(f.From), format.Clock(f.To))
	}
	for _, m := range c.Marks {
		fmt.Fprintf(&b, " At %s: %s.", format.Clock(m.At), m.Text)
	}
	if len(c.Series) == 0 {
		b.WriteString(" No data.")
	}
	return b.String()
}

func (l Limit) last() float64 {
	if len(l.Points) == 0 {
		return l.Value
	}
	return lastOf(l.Points)
}

func peakTime(points []Point, high float64) time.Time {
	for _, p := range points {
		if p.V == high {
			return time.UnixMilli(p.T)
		}
	}
	return time.Time{}
}

func lastOf(points []Point) float64 {
	for i := len(points) - 1; i >= 0; i-- {
		if !math.IsNaN(points[i].V) {
			return points[i].V
		}
	}
	return math.NaN()
}

// ByPeak orders series by their largest value, the largest first; those
// without data come last.
func ByPeak(a, b Series) int {
	peak := func(s Series) float64 {
		if _, high, any := extent([]Series{s}); any {
			return high
		}
		return math.Inf(-1)
	}
	return cmp.Compare(peak(b), peak(a))
}
