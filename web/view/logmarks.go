package view

import (
	"cmp"
	"slices"
	"strconv"
	"time"

	"stallmark/storage/model"
	"stallmark/web/chart"
	"stallmark/web/format"
)

// PatternTest tells whether the lines of a pattern are wanted.
type PatternTest func(pattern string) bool

// tells reports whether a line points at a fault.
func tells(e model.Event) bool {
	if e.Kind != model.EventLog || e.Attrs["pattern"] == "" {
		return false
	}
	proof := model.LogProof(e.Attrs["proof"])
	return proof == model.ProofDirect || proof == model.ProofHint
}

// LogTicks are the lines that point at a fault, as marks on a time axis.
func LogTicks(events []model.Event) []chart.Tick {
	var out []chart.Tick
	for _, e := range events {
		if tells(e) {
			out = append(out, LogTick(e))
		}
	}
	return out
}

// PauseSpans are the times in which a JVM stood, those that are one in a drawing
// as one.
func PauseSpans(events []model.Event, w Window) []chart.Span {
	var out []chart.Span
	for _, b := range pauseBars(events, w) {
		out = append(out, chart.Span{From: b.From, To: b.To})
	}
	return out
}

// pauseBars are the pauses of JVMs; those that fall into one column are one bar.
func pauseBars(events []model.Event, w Window) []chart.Bar {
	pauses := slices.DeleteFunc(slices.Clone(events), func(e model.Event) bool { return e.Kind != model.EventPause })
	slices.SortStableFunc(pauses, func(a, b model.Event) int { return a.From.Compare(b.From) })
	width := max(w.To.Sub(w.From)/chart.Columns, time.Millisecond)
	type group struct {
		from, to time.Time
		longest  model.Event
		n        int
	}
	var groups []group
	for _, e := range pauses {
		if n := len(groups); n > 0 && e.From.Before(groups[n-1].to.Add(width)) {
			g := &groups[n-1]
			g.n++
			if e.To.After(g.to) {
				g.to = e.To
			}
			if e.To.Sub(e.From) > g.longest.To.Sub(g.longest.From) {
				g.longest = e
			}
			continue
		}
		groups = append(groups, group{e.From, e.To, e, 1})
	}
	var out []chart.Bar
	for _, g := range groups {
		text := format.Clock(g.longest.From) + ": " + pauseText(g.longest)
		if g.n > 1 {
			text = format.Clock(g.from) + ": " + strconv.Itoa(g.n) + " pauses, the longest " + pauseText(g.longest)
		}
		out = append(out, chart.Bar{From: g.from, To: g.to, Class: "pause", Title: text})
	}
	return out
}

// pauseText is a pause in words: young 850 ms, blocked.
func pauseText(e model.Event) string {
	text := format.Clean(cmp.Or(e.Attrs["kind"], e.Attrs["operation"], e.Attrs["what"])) + " " + format.Value(pauseSeconds(e), "seconds")
	if class := e.Attrs["class"]; class != "" && class != "work" && class != "unknown" {
		text += ", " + format.Clean(class)
	}
	return text
}

// pauseSeconds is how long a pause was.
func pauseSeconds(e model.Event) float64 {
	if ms, err := strconv.ParseFloat(e.Attrs["ms"], 64); err == nil {
		return ms / 1000
	}
	return e.To.Sub(e.From).Seconds()
}

// EvidenceLanes are rows of what logs and JVMs tell, without a row where there is
// nothing.
func EvidenceLanes(events []model.Event, w Window) []chart.Lane {
	var out []chart.Lane
	if bars := pauseBars(events, w); len(bars) > 0 {
		out = append(out, chart.Lane{Name: "GC pauses", Layer: "JVM", Link: w.Link("jvm"), State: "told", Bars: bars})
	}
	if ticks := LogTicks(events); len(ticks) > 0 {
		out = append(out, chart.Lane{Name: "log lines", Layer: "logs", Link: w.Link("logs"), State: "told", Ticks: ticks})
	}
	return out
}

// Excerpt are the lines of logs that tell of a finding.
type Excerpt struct {
	Lines []LogLine
	Found int    // lines that there are, those of storms included
	Own   bool   // they are evidence of the finding itself
	Link  string // path of all of them
}

// NewExcerpt picks at most n lines: the first of each pattern, then the earliest.
// Around is the window of the link to all of them.
func NewExcerpt(events []model.Event, own PatternTest, known []model.LogPattern, n int, around, w Window) Excerpt {
	wanted := slices.DeleteFunc(slices.Clone(events), func(e model.Event) bool { return !tells(e) })
	var x Excerpt
	if own != nil {
		mine := slices.DeleteFunc(slices.Clone(events), func(e model.Event) bool { return e.Attrs["pattern"] == "" || !own(e.Attrs["pattern"]) })
		if x.Own = len(mine) > 0; x.Own {
			wanted = mine
		}
	}
	seen := map[string]bool{}
	var first, rest []model.Event
	for _, e := range wanted {
		x.Found += max(e.Count, 1)
		if id := e.Attrs["pattern"]; !seen[id] {
			seen[id] = true
			first = append(first, e)
		} else {
			rest = append(rest, e)
		}
	}
	picked := append(first, rest...)
	picked = picked[:min(len(picked), n)]
	slices.SortStableFunc(picked, func(a, b model.Event) int { return a.From.Compare(b.From) })
	byID := PatternsByID(known)
	f := LogFilter{}
	if len(seen) == 1 {
		f.Pattern = format.Clean(wanted[0].Attrs["pattern"])
	}
	around.Base = w.Base
	x.Link = f.Link(around)
	for i, e := range picked {
		x.Lines = append(x.Lines, LogLineOf(e, "line-"+strconv.Itoa(i+1), byID, around))
	}
	return x
}

func excerptTitle(x Excerpt) string {
	if x.Own {
		return "Its lines in the logs"
	}
	return "What the logs said meanwhile"
}

func excerptLink(x Excerpt) string {
	if x.Found > len(x.Lines) {
		return "all " + count(x.Found, "line", "lines")
	}
	return "in the log page"
}
