package view

import (
	"cmp"
	"slices"
	"strconv"
	"strings"
	"time"

	"stallmark/storage/model"
	"stallmark/web/chart"
	"stallmark/web/format"
)

// UnknownLine is a kind of warning that no pattern knows.
type UnknownLine struct {
	Shape   string `json:"shape"` // the line with # for what varies
	Level   string `json:"level"` // warn, error or fatal
	Example string `json:"example"`
	Source  string `json:"source"`
	Process string `json:"process,omitempty"`
	Count   int64  `json:"count"`

	First time.Time `json:"first"`
	Last  time.Time `json:"last"`
}

// Logs is the page of matched lines.
type Logs struct {
	Page
	Filter   LogFilter
	Action   string // of the form
	Hidden   []Pair // what the form keeps of the window
	Choices  []LogChoice
	Clear    string // path without a filter
	Matched  int    // lines that pass, those of storms included
	Kept     int    // of these, with their text
	Lines    []LogLine
	Pages    int
	Newer    string // paths, empty if there are none
	Older    string
	Lanes    chart.Lanes
	Patterns []LogKind
	Only     *LogKind // the pattern that is filtered by
	Unknown  []UnknownRow
	Unlisted int    // further kinds of unknown warnings
	Since    string // what their counts are of
	Sources  []Source
	Empty    string // why there are no lines
}

// LogChoice is what can be chosen for one field of the filter.
type LogChoice struct {
	Key, Label string
	Values     []string
	On         string
}

// LogKind is a pattern with what of it is in the window.
type LogKind struct {
	ID, Title, Product, Link string
	Proof                    Proven
	Lines                    int
	First, Last              time.Time
	Longest                  string
	Meaning, Not             string
	Versions, Where, File    string
	seconds                  float64
}

// UnknownRow is a kind of unknown warning as it is shown.
type UnknownRow struct {
	Shape, Level, Example, Source, Process string
	Glyph                                  Glyph
	Count                                  string
	Last                                   time.Time
}

// Bounds of the page.
const (
	LogPageLines = 40 // lines of a page
	logLanes     = 8  // patterns drawn over time
	logUnknown   = 40 // kinds of unknown warnings
	logChoices   = 100
	maxLogMarks  = 4000 // moments that are drawn
)

// NewLogs makes the page of a window's log events.
func NewLogs(p Page, f LogFilter, events []model.Event, known []model.LogPattern) Logs {
	w := p.Window
	page := Logs{Page: p, Filter: f, Action: w.Base + "/logs", Clear: LogFilter{}.Link(w)}
	byID := PatternsByID(known)
	matched := slices.DeleteFunc(slices.Clone(events), func(e model.Event) bool { return e.Kind != model.EventLog || e.Attrs["pattern"] == "" })
	page.Choices = logChoicesOf(matched, f)
	wanted := slices.DeleteFunc(slices.Clone(matched), func(e model.Event) bool { return !f.Passes(e) })
	for _, e := range wanted {
		page.Matched += max(e.Count, 1)
	}
	page.Kept = len(wanted)
	page.Patterns = LogKindsOf(wanted, byID, w)
	page.Lanes = chart.LayLanes(logLanesOf(page.Patterns, wanted), nil, w.From, w.To)
	page.lines(wanted, byID)
	page.only(byID)
	switch {
	case len(wanted) > 0:
	case len(matched) > 0:
		page.Empty = "No line of this window passes the filter; " + count(len(matched), "line is", "lines are") + " without it."
	default:
		page.Empty = "No line that a pattern knows was written in this window."
	}
	return page
}

// SortHidden puts what the form keeps into a fixed order.
func (l *Logs) SortHidden() {
	slices.SortFunc(l.Hidden, func(a, b Pair) int { return strings.Compare(a.Name, b.Name) })
}

// PatternsByID finds patterns.
func PatternsByID(known []model.LogPattern) map[string]model.LogPattern {
	out := make(map[string]model.LogPattern, len(known))
	for _, p := range known {
		out[p.ID] = p
	}
	return out
}

// lines picks the lines of one page, the newest first.
func (l *Logs) lines(wanted []model.Event, patterns map[string]model.LogPattern) {
	l.Pages = max((len(wanted)+LogPageLines-1)/LogPageLines, 1)
	f := l.Filter
	f.Page = min(max(f.Page, 1), l.Pages)
	l.Filter.Page = f.Page
	at := func(page int) string { g := f; g.Page = page; return g.Link(l.Window) }
	if f.Page > 1 {
		l.Newer = at(f.Page - 1)
	}
	if f.Page < l.Pages {
		l.Older = at(f.Page + 1)
	}
	newest := slices.Clone(wanted)
	slices.SortStableFunc(newest, func(a, b model.Event) int { return b.From.Compare(a.From) })
	first := min((f.Page-1)*LogPageLines, len(newest))
	for i, e := range newest[first:min(first+LogPageLines, len(newest))] {
		l.Lines = append(l.Lines, LogLineOf(e, "line-"+strconv.Itoa(i+1), patterns, l.Window))
	}
}

// only tells of the pattern that is filtered by, whether or not it has lines.
func (l *Logs) only(patterns map[string]model.LogPattern) {
	id := l.Filter.Pattern
	if id == "" {
		return
	}
	for i := range l.Patterns {
		if l.Patterns[i].ID == format.Clean(id) {
			l.Only = &l.Patterns[i]
			return
		}
	}
	if p, ok := patterns[id]; ok {
		k := logKind(id, p, l.Window)
		l.Only = &k
	}
}

func logKind(id string, p model.LogPattern, w Window) LogKind {
	return LogKind{
		ID: format.Clean(id), Title: format.Clean(cmp.Or(p.Title, id)), Product: format.Clean(p.Product), Proof: ProofOf(string(p.Proof)),
		Link: LogFilter{Pattern: format.Clean(id)}.Link(w), Meaning: format.Code(p.Meaning), Not: format.Code(p.Not),
		Versions: format.Clean(p.Versions), Where: format.Clean(p.Where), File: format.Clean(p.File),
	}
}

// LogKindsOf counts the lines of each pattern, direct proof first, then the most
// frequent.
func LogKindsOf(events []model.Event, patterns map[string]model.LogPattern, w Window) []LogKind {
	byID := map[string]*LogKind{}
	for _, e := range events {
		id := e.Attrs["pattern"]
		k := byID[id]
		if k == nil {
			p := patterns[id]
			p.Product, p.Proof = cmp.Or(p.Product, e.Attrs["product"]), cmp.Or(p.Proof, model.LogProof(e.Attrs["proof"]))
			one := logKind(id, p, w)
			one.First = e.From
			k = &one
			byID[id] = k
		}
		k.Lines += max(e.Count, 1)
		if e.From.Before(k.First) {
			k.First = e.From
		}
		if e.To.After(k.Last) {
			k.Last = e.To
		}
		if s, err := strconv.ParseFloat(e.Attrs["seconds"], 64); err == nil && s > k.seconds {
			k.seconds, k.Longest = s, format.Value(s, "seconds")
		}
	}
	var out []LogKind
	for _, k := range byID {
		out = append(out, *k)
	}
	slices.SortFunc(out, func(a, b LogKind) int {
		return cmp.Or(proofRank(a.Proof)-proofRank(b.Proof), b.Lines-a.Lines, strings.Compare(a.ID, b.ID))
	})
	return out
}

func proofRank(p Proven) int {
	if k := slices.Index(model.LogProofs(), model.LogProof(p.Name)); k >= 0 {
		return k
	}
	return len(model.LogProofs())
}

// logLanesOf are the first patterns over time.
func logLanesOf(kinds []LogKind, events []model.Event) []chart.Lane {
	var rows []chart.Lane
	place := map[string]int{}
	for i, k := range kinds[:min(len(kinds), logLanes)] {
		rows = append(rows, chart.Lane{Name: k.ID, Layer: k.Proof.Name, Link: k.Link, State: "quiet"})
		place[k.ID] = i
	}
	for _, e := range events[max(len(events)-maxLogMarks, 0):] {
		if i, ok := place[format.Clean(e.Attrs["pattern"])]; ok {
			rows[i].Ticks = append(rows[i].Ticks, LogTick(e))
		}
	}
	return rows
}

// LogTick is the mark of a line on a time axis.
func LogTick(e model.Event) chart.Tick {
	return chart.Tick{At: e.From, Text: format.Clean(e.Attrs["pattern"]), Count: max(e.Count, 1)}
}

// logChoicesOf are the values of each field in the window.
func logChoicesOf(events []model.Event, f LogFilter) []LogChoice {
	f = f.clean()
	out := []LogChoice{
		{Key: "pattern", Label: "Pattern", On: f.Pattern},
		{Key: "product", Label: "Product", On: f.Product},
		{Key: "source", Label: "File", On: f.Source},
		{Key: "process", Label: "Process", On: f.Process},
		{Key: "proof", Label: "Proof", On: f.Proof},
	}
	for i := range out {
		c := &out[i]
		seen := map[string]bool{}
		if c.On != "" { // it can be kept although no line of it is here
			seen[c.On], c.Values = true, []string{c.On}
		}
		for _, e := range events {
			if v := format.Clean(e.Attrs[c.Key]); v != "" && !seen[v] && len(c.Values) < logChoices {
				seen[v] = true
				c.Values = append(c.Values, v)
			}
		}
		slices.Sort(c.Values)
	}
	return out
}
