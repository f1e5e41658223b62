package chart

import (
	"math"
	"time"
)

// Point is a sample: milliseconds since the epoch and a value in the chart's
// unit. Not a number is a gap.
type Point struct {
	T int64
	V float64
}

// Series is one line. Points are sorted by time.
type Series struct {
	Name   string
	Points []Point
}

// Limit is a threshold line: a constant, or moving when it has points.
type Limit struct {
	Name   string
	Value  float64
	Points []Point
	Below  bool // the fault lies below it: it stays on the scale, however far away
}

// Span is a shaded window of time in which something fired.
type Span struct {
	From, To time.Time
}

// Mark is a moment worth a line, such as a changed setting.
type Mark struct {
	At   time.Time
	Text string
}

// Chart is what is to be drawn over [From, To].
type Chart struct {
	ID     string // unique on the page, of letters, digits and dashes
	Title  string
	Unit   string // as package format knows them
	Note   string // one line below the chart
	Empty  string // why there is nothing to draw, if there is not
	From   time.Time
	To     time.Time
	Step   time.Duration // distance of samples; more than one and a half of it is a gap
	Live   bool          // the end is now: the caption shows the last value, otherwise the largest
	Series []Series
	Limits []Limit
	Fired  []Span
	Marks  []Mark
	Logs   []Tick // drawn at the foot
	Pauses []Span // drawn at the top
}

// Columns is how many columns a line is drawn in at most: about the pixels of
// a chart in the grid.
const Columns = 320

// frame maps times and values to the drawing.
type frame struct {
	from, to int64
	top      float64 // the value at the upper edge
	bottom   float64 // the value at the lower edge, 0 unless something is negative
}

// Sizes of the drawing in CSS pixels; x goes from 0 to xMax in the stretched
// part. Above the scale there is room for a label.
const (
	plotHeight = 126
	padTop     = 18
	axisHeight = 18
	xMax       = 1000
)

func (f frame) x(t int64) float64 { return min(max(f.raw(t), 0), 1) * xMax }

// raw is where a time is in the window, 0 to 1 inside of it.
func (f frame) raw(t int64) float64 {
	if f.to <= f.from {
		return 0
	}
	return float64(t-f.from) / float64(f.to-f.from)
}

// y is clamped to the plot: what is beyond the scale runs along its edge.
func (f frame) y(v float64) float64 {
	rel := (v - f.bottom) / (f.top - f.bottom)
	return padTop + (1-min(max(rel, 0), 1))*(plotHeight-padTop)
}

// runs cuts points at gaps: missing steps, stale markers, not-a-number.
func runs(points []Point, step time.Duration) [][]Point {
	far := step.Milliseconds() * 3 / 2
	var all [][]Point
	start := 0
	for i, p := range points {
		broken := math.IsNaN(p.V) || math.IsInf(p.V, 0)
		apart := far > 0 && i > start && p.T-points[i-1].T > far
		if (broken || apart) && i > start {
			all = append(all, points[start:i])
		}
		switch {
		case broken:
			start = i + 1
		case apart:
			start = i
		}
	}
	if start < len(points) {
		all = append(all, points[start:])
	}
	return all
}

// column is the smallest and largest value within one column of the drawing.
type column struct {
	t        int64
	min, max float64
	sum      float64
	n        int
}

// mean is what the line goes through; the band around it keeps the extremes.
func (c column) mean() float64 { return c.sum / float64(c.n) }

// columns thins a run to the envelope of n columns over the frame. A run that
// is sparse enough keeps every point.
func columns(run []Point, f frame, n int) []column {
	width := max((f.to-f.from)/int64(n), 1)
	dense := len(run) > 1 && run[len(run)-1].T-run[0].T < int64(len(run)-1)*width
	var all []column
	last := int64(-1)
	for _, p := range run {
		k := (p.T - f.from) / width
		if len(all) > 0 && (dense && k == last || p.T == all[len(all)-1].t) {
			c := &all[len(all)-1]
			c.min, c.max, c.sum, c.n = min(c.min, p.V), max(c.max, p.V), c.sum+p.V, c.n+1
			continue
		}
		all = append(all, column{p.T, p.V, p.V, p.V, 1})
		last = k
	}
	return all
}
