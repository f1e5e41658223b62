package chart

import (
	"math"
	"strings"

	"stallmark/web/format"
)

// over are the points of a limit over the chart: a constant one has two.
func (l Limit) over(c Chart) []Point {
	if len(l.Points) > 0 {
		return l.Points
	}
	return []Point{{c.From.UnixMilli(), l.Value}, {c.To.UnixMilli(), l.Value}}
}

// limits draws the thresholds, straight or moving, as far as they are on the
// scale. One that is nowhere on it is an arrow with its value.
func (fig *Figure) limits(c Chart, f frame, scale format.Scale) {
	place := newPlacing(c, f, fig.Marks)
	for _, l := range c.Limits {
		if len(l.Points) == 0 && l.Value == 0 {
			continue // the ground is there already
		}
		points := l.over(c)
		step := c.Step
		if len(l.Points) == 0 {
			step = c.To.Sub(c.From)
		}
		var d drawn
		for _, run := range runs(within(points, f), step) {
			d.draw(columns(run, f, Columns), f)
		}
		if line := d.line.String(); line != "" {
			fig.Limits = append(fig.Limits, Line{Class: "limit", Name: l.Name, Line: line})
		}
		if label, ok := place.label(l, points); ok {
			fig.Labels = append(fig.Labels, label)
		}
	}
}

// within leaves the points that are on the scale; others are gaps.
func within(points []Point, f frame) []Point {
	out := make([]Point, len(points))
	for i, p := range points {
		if p.V > f.top*1.0001 || p.V < f.bottom {
			p.V = math.NaN()
		}
		out[i] = p
	}
	return out
}

func limitText(l Limit, v float64, c Chart) string {
	return strings.TrimSpace(l.Name + " " + format.Value(v, c.Unit))
}
