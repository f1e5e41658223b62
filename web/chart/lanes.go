package chart

import (
	"cmp"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"stallmark/web/format"
)

// Bar is a span in which a lane's signature fired.
type Bar struct {
	From, To time.Time
	Class    string // crit, warn or info
	Title    string
}

// Lane is one row of the swimlanes.
type Lane struct {
	Name  string
	Layer string
	Link  string // path of the signature's page
	State string // firing, fired, quiet or unknown
	Why   string // of unknown
	Bars  []Bar
	Ticks []Tick // events that belong to it
}

// Tick is an event on a lane or a chart.
type Tick struct {
	At    time.Time
	Text  string
	Count int // how many it stands for, 0 means 1
}

// TickMark is what falls into one column: where, in percent, and what.
type TickMark struct{ X, Title string }

// Track is a lane laid out.
type Track struct {
	Lane
	Boxes []TrackBox
	Ticks []TickMark
	Text  string // the lane in words
}

// TrackBox is a bar in percent.
type TrackBox struct {
	Box
	Class, Title string
}

// Lanes are swimlanes laid out on one time axis.
type Lanes struct {
	From, To string // milliseconds
	Tracks   []Track
	XTicks   []XTick
	Marks    []MarkLine
}

// LayLanes lays rows out over [from, to].
func LayLanes(rows []Lane, moments []Mark, from, to time.Time) Lanes {
	out := Lanes{
		From: strconv.FormatInt(from.UnixMilli(), 10), To: strconv.FormatInt(to.UnixMilli(), 10),
		XTicks: xTicks(from, to, 10, true, true),
		Marks:  marks(moments, from, to),
	}
	placeRows(out.Marks)
	for _, row := range rows {
		out.Tracks = append(out.Tracks, LayTrack(row, from, to))
	}
	return out
}

// LayTrack lays one row out over [from, to].
func LayTrack(row Lane, from, to time.Time) Track {
	track := Track{Lane: row, Ticks: tickColumns(row.Ticks, from, to, Columns)}
	for _, b := range row.Bars {
		for _, box := range boxes([]Span{{b.From, b.To}}, from, to) {
			track.Boxes = append(track.Boxes, TrackBox{box, b.Class, b.Title})
		}
	}
	track.Text = row.Name + ": " + row.State
	switch {
	case row.State == "unknown":
		track.Text += ", " + row.Why
	case len(row.Bars) > 0:
		track.Text += ", fired " + times(len(row.Bars))
	}
	if len(row.Ticks) > 0 {
		n := 0
		for _, t := range row.Ticks {
			n += max(t.Count, 1)
		}
		track.Text += ", " + strconv.Itoa(n) + " events"
	}
	return track
}

// tickColumns places events, those of one column of n as one mark.
func tickColumns(all []Tick, from, to time.Time, n int) []TickMark {
	type column struct {
		first  time.Time
		byText map[string]int
	}
	total := float64(to.Sub(from))
	cols := map[int]*column{}
	for _, t := range all {
		rel := float64(t.At.Sub(from)) / total
		if !(rel >= 0 && rel <= 1) || total <= 0 {
			continue
		}
		k := int(rel * float64(n))
		c := cols[k]
		if c == nil {
			c = &column{first: t.At, byText: map[string]int{}}
			cols[k] = c
		}
		if t.At.Before(c.first) {
			c.first = t.At
		}
		c.byText[t.Text] += max(t.Count, 1)
	}
	out := make([]TickMark, 0, len(cols))
	for _, k := range slices.Sorted(maps.Keys(cols)) {
		c := cols[k]
		out = append(out, TickMark{percent((float64(k) + 0.5) / float64(n)), format.Clock(c.first) + ": " + columnText(c.byText)})
	}
	return out
}

// columnText names the most frequent events of a column and counts the others.
func columnText(byText map[string]int) string {
	const named = 2
	texts := slices.SortedFunc(maps.Keys(byText), func(a, b string) int {
		return cmp.Or(byText[b]-byText[a], strings.Compare(a, b))
	})
	var parts []string
	more := 0
	for i, t := range texts {
		if i >= named {
			more += byText[t]
			continue
		}
		if byText[t] > 1 {
			t = strconv.Itoa(byText[t]) + " × " + t
		}
		parts = append(parts, t)
	}
	if more > 0 {
		parts = append(parts, strconv.Itoa(more)+" more")
	}
	return strings.Join(parts, ", ")
}

func times(n int) string {
	if n == 1 {
		return "once"
	}
	return strconv.Itoa(n) + " times"
}
