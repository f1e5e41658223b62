package view

import (
	"cmp"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"stallmark/storage/model"
	"stallmark/web/format"
)

// LogLine is a line of a log that a pattern has recognised, with the lines
// around it. Its texts are clean.
type LogLine struct {
	ID       string // unique on the page
	From, To time.Time
	Sure     string // by how much the time may be wrong, empty if by nothing
	Why      []string
	Pattern  string
	Title    string
	Link     string // path of the lines of the same pattern
	Proof    Proven
	Source   string
	Process  string
	More     int // lines of the same second that were counted only
	Fields   []Pair
	Before   []string
	Text     string
	After    []string
}

// Proven is a level of proof as it is shown.
type Proven struct {
	Name  string
	Glyph Glyph
	About string
}

// ProofOf describes a level of proof.
func ProofOf(p string) Proven {
	switch model.LogProof(p) {
	case model.ProofDirect:
		return Proven{p, GlyphFilled, "the line states or measures the fault or the wait itself"}
	case model.ProofHint:
		return Proven{p, GlyphPartial, "it fits a stall, and other things too"}
	case model.ProofContext:
		return Proven{p, GlyphAbsent, "normal operation, of which the figures are worth keeping"}
	case model.ProofNoise:
		return Proven{p, GlyphAbsent, "known to be harmless"}
	}
	return Proven{"unknown", GlyphUnknown, "no level of proof is known"}
}

// maxLogText is how much of a line is shown, in bytes; the collector keeps less,
// but a snapshot may come from elsewhere.
const maxLogText = 2000

// maxLogAround is how many lines before or after it are shown.
const maxLogAround = 8

// LogLineOf is an event of kind log as it is shown. Titles are those of the
// patterns by their ids.
func LogLineOf(e model.Event, id string, patterns map[string]model.LogPattern, w Window) LogLine {
	a := e.Attrs
	l := LogLine{
		ID: id, From: e.From, To: e.To, Pattern: format.Clean(a["pattern"]), Link: LogFilter{Pattern: format.Clean(a["pattern"])}.Link(w),
		Proof: ProofOf(a["proof"]), Source: format.Clean(sourceText(a)), Process: format.Clean(a["process"]),
		Text: lineText(e.Text), Before: aroundOf(a["before"]), After: aroundOf(a["after"]), Fields: logFields(a),
	}
	l.Title = format.Clean(cmp.Or(patterns[a["pattern"]].Title, a["pattern"]))
	if e.Count > 1 {
		l.More = e.Count - 1
	}
	if ms, err := strconv.ParseInt(a["uncertainty_ms"], 10, 64); err == nil && ms > 0 && ms < int64(48*time.Hour/time.Millisecond) {
		l.Sure = "±\u00a0" + format.Span(time.Duration(ms)*time.Millisecond)
	}
	l.Why = timeWords(e)
	return l
}

// sourceText is the log with the file that the line stands in, where that has
// another name.
func sourceText(a map[string]string) string {
	text := a["source"]
	if part := a["part"]; part != "" && !strings.HasSuffix(text, "/"+part) {
		text += " (in " + part + ")"
	}
	if a["origin"] != "" {
		text += " of " + a["origin"]
	}
	return text
}

// timeWords says how an event's time was found.
func timeWords(e model.Event) []string {
	exact := format.ISO(e.From)
	if !e.To.Equal(e.From) {
		exact += " to " + format.ISO(e.To)
	}
	out := []string{exact}
	if zone := e.Attrs["zone"]; zone != "" {
		text := "its stamp is read in the zone " + zone
		if why := e.Attrs["zone_why"]; why != "" {
			text += ": " + why
		}
		out = append(out, format.Clean(text))
	}
	if note := e.Attrs["time_note"]; note != "" {
		out = append(out, format.Clean(note))
	}
	if e.Attrs["cut"] != "" {
		out = append(out, "the line was longer than 64 KiB and is cut")
	}
	return out
}

func lineText(text string) string {
	if len(text) > maxLogText {
		text = strings.ToValidUTF8(text[:maxLogText], "") + "..."
	}
	return format.Code(text)
}

func aroundOf(text string) []string {
	if text == "" {
		return nil
	}
	var out []string
	for line := range strings.SplitSeq(text, "\n") {
		if len(out) == maxLogAround {
			break
		}
		out = append(out, format.Clean(line))
	}
	return out
}

// logFields are what the pattern took out of the line, time and size first.
func logFields(a map[string]string) []Pair {
	var out []Pair
	known := map[string]bool{
		"pattern": true, "product": true, "proof": true, "source": true, "part": true, "offset": true, "process": true, "pid": true,
		"origin": true, "before": true, "after": true, "zone": true, "zone_why": true, "time_note": true, "uncertainty_ms": true, "cut": true,
	}
	add := func(name, key, unit string) {
		known[key] = true
		v, err := strconv.ParseFloat(a[key], 64)
		switch {
		case a[key] == "":
		case err != nil:
			out = append(out, Pair{name, format.Clean(a[key])})
		default:
			out = append(out, Pair{name, format.Value(v, unit)})
		}
	}
	add("took", "seconds", "seconds")
	add("size", "bytes", "bytes")
	for _, key := range slices.Sorted(maps.Keys(a)) {
		if !known[key] {
			out = append(out, Pair{format.Clean(key), format.Clean(a[key])})
		}
	}
	return out
}
