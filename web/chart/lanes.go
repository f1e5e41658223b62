package chart

import (
	"sort"
	"strconv"
	"time"
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
	Ticks []time.Time // moments of events that belong to it
}

// Track is a lane laid out.
type Track struct {
	Lane
	Boxes []TrackBox
	Ticks []string // percent
	Text  string   // the lane in words
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
	for _, row := range rows {
		out.Tracks = append(out.Tracks, LayTrack(row, from, to))
	}
	return out
}

// LayTrack lays one row out over [from, to].
func LayTrack(row Lane, from, to time.Time) Track {
	track := Track{Lane: row, Ticks: tickColumns(row.Ticks, from, to)}
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
		track.Text += ", " + strconv.Itoa(len(row.Ticks)) + " events"
	}
	return track
}

// tickColumns places events, one a column at most.
func tickColumns(all []time.Time, from, to time.Time) []string {
	total := float64(to.Sub(from))
	seen := map[int]bool{}
	for _, t := range all {
		if rel := float64(t.Sub(from)) / total; rel >= 0 && rel <= 1 && total > 0 {
			seen[int(rel*Columns)] = true
		}
	}
	cols := make([]int, 0, len(seen))
	for c := range seen {
		cols = append(cols, c)
	}
	sort.Ints(cols)
	out := make([]string, len(cols))
	for i, c := range cols {
		out[i] = percent((float64(c) + 0.5) / Columns)
	}
	return out
}

func times(n int) string {
	if n == 1 {
		return "once"
	}
	return strconv.Itoa(n) + " times"
}
