package chart

import (
	"cmp"
	"math"
	"strconv"
	"strings"
	"time"

	"stallmark/web/format"
)

// Figure is a chart laid out: everything the template writes.
type Figure struct {
	ID, Title, Note, Empty string
	Short                  string // the title for a line that has little room
	Unit                   string // of the axis
	Value                  string // the last value, or the largest of a past window
	Summary                string // the chart in words
	From, To               string // milliseconds, for scripts
	YTicks                 []YTick
	XTicks                 []XTick
	Lines                  []Line
	Limits                 []Line
	Labels                 []Label // of the limits
	Bands                  []Box
	Marks                  []MarkLine
	Told                   []Told // what logs and JVMs tell of the same time
	Legend                 bool
}

// Line is one drawn series.
type Line struct {
	Class            string // s1 to s6, the order of the legend
	Name, Last       string
	Line, Band, Area string // path data, may be empty
	Values           string // for the crosshair
}

// Box is a shaded window in percent.
type Box struct{ X, W string }

// MarkLine is a moment in percent.
type MarkLine struct {
	X, Anchor, TextX string
	Text             string
	ISO, Clock       string // the moment
	Letter           string // by which the list below a chart names it
	Row              int    // of its text below swimlanes, from 0; -1: no room there
	rel              float64
}

// maxLines bounds the series of one chart: more cannot be told apart.
const maxLines = 6

// Lay computes the figure of a chart.
func Lay(c Chart) Figure {
	fig := Figure{
		ID: c.ID, Title: c.Title, Short: ShortTitle(c.Title), Note: c.Note,
		From: strconv.FormatInt(c.From.UnixMilli(), 10), To: strconv.FormatInt(c.To.UnixMilli(), 10),
		XTicks: xTicks(c.From, c.To, 5, false, false),
	}
	if len(c.Series) > maxLines {
		c.Series = c.Series[:maxLines]
	}
	low, high, any := extent(c.Series)
	if !any {
		fig.Empty, fig.Note = "no data in this window", cmp.Or(c.Empty, c.Note)
		c.Limits = nil
	}
	f := frame{from: c.From.UnixMilli(), to: c.To.UnixMilli(), bottom: min(low, 0)}
	f.top = topOf(high, c)
	scale := format.ScaleFor(max(f.top, -f.bottom), c.Unit)
	f.top = headroom(f, scale)
	fig.Unit = scale.Unit
	if any {
		fig.YTicks = yTicks(f, scale, c.Unit == "count")
	}
	for i, s := range c.Series {
		fig.Lines = append(fig.Lines, lineOf(s, i, c, f, scale))
	}
	fig.Bands = boxes(c.Fired, c.From, c.To)
	fig.Marks = marks(c.Marks, c.From, c.To)
	fig.Told = told(c, f)
	fig.limits(c, f, scale)
	fig.Legend = len(fig.Lines) > 1
	fig.Value = caption(c)
	fig.Summary = summary(c)
	return fig
}

// extent is the smallest and largest finite value of all series.
func extent(all []Series) (low, high float64, any bool) {
	for _, s := range all {
		for _, p := range s.Points {
			if math.IsNaN(p.V) || math.IsInf(p.V, 0) {
				continue
			}
			if !any {
				low, high, any = p.V, p.V, true
			}
			low, high = min(low, p.V), max(high, p.V)
		}
	}
	return low, high, any
}

// topOf takes in the part of a limit that is near the data: the distance to it
// matters. One that is far away would flatten the line, and is told in words
// instead.
func topOf(high float64, c Chart) float64 {
	top := high
	for _, l := range c.Limits {
		for _, p := range l.over(c) {
			if p.V > top && (p.V <= 3*high || l.Below) {
				top = p.V
			}
		}
	}
	if top <= 0 || math.IsInf(top, 0) {
		return 1
	}
	return top
}

// headroom lifts the top a little, to the next tick if that is near.
func headroom(f frame, s format.Scale) float64 {
	if s.Unit == "%" && f.top <= 100 && f.top > 60 {
		return 100
	}
	step := niceStep((f.top-f.bottom)/s.Div/3, s.Binary) * s.Div
	if up := math.Ceil(f.top/step) * step; up <= f.top*1.2 {
		return up
	}
	return f.top * 1.06
}

func lineOf(s Series, i int, c Chart, f frame, scale format.Scale) Line {
	d := drawn{withArea: i == 0}
	for _, run := range runs(s.Points, c.Step) {
		d.draw(columns(run, f, Columns), f)
	}
	return Line{
		Class: "s" + strconv.Itoa(i+1), Name: s.Name, Last: endValue(s, c),
		Line: d.line.String(), Band: d.band.String(), Area: d.area.String(),
		Values: values(s.Points, c, scale),
	}
}

// Place is where a time is in [from, to], in percent.
func Place(t, from, to time.Time) string {
	if !to.After(from) {
		return percent(0)
	}
	return percent(min(max(float64(t.Sub(from))/float64(to.Sub(from)), 0), 1))
}

func boxes(spans []Span, from, to time.Time) []Box {
	var all []Box
	total := float64(to.Sub(from))
	for _, s := range spans {
		if !s.To.After(from) && s.To != s.From || !s.From.Before(to) || total <= 0 {
			continue
		}
		a := max(float64(s.From.Sub(from))/total, 0)
		b := min(float64(s.To.Sub(from))/total, 1)
		all = append(all, Box{percent(a), percent(max(b-a, 0.003))})
	}
	return all
}

// letterOf names marks A to Z; further ones have no name of their own.
func letterOf(i int) string {
	if i < 26 {
		return string(rune('A' + i))
	}
	return "·"
}

// marks places moments, those within a hundredth of the width as one.
func marks(all []Mark, from, to time.Time) []MarkLine {
	total := float64(to.Sub(from))
	var out []MarkLine
	lastRel, n := -1.0, 0
	for _, m := range all {
		rel := float64(m.At.Sub(from)) / total
		if rel < 0 || rel > 1 || total <= 0 {
			continue
		}
		if len(out) > 0 && rel-lastRel < 0.01 {
			n++
			last := &out[len(out)-1]
			last.Text = strings.TrimSuffix(last.Text, " (+"+strconv.Itoa(n-1)+")") + " (+" + strconv.Itoa(n) + ")"
			continue
		}
		lastRel, n = rel, 0
		line := MarkLine{rel: rel, Letter: letterOf(len(out)), X: percent(rel), TextX: percent(rel), Anchor: "start", Text: short(m.Text), ISO: format.ISO(m.At), Clock: format.Clock(m.At)}
		if rel > 0.6 {
			line.Anchor = "end"
		}
		out = append(out, line)
	}
	return out
}
