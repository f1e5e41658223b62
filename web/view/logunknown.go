package view

import (
	"cmp"
	"slices"
	"strings"

	"stallmark/storage/model"
	"stallmark/web/format"
)

// UnknownIn gathers the unknown warnings of events: the events of log lines
// without a pattern are kinds with a count.
func UnknownIn(events []model.Event) []UnknownLine {
	byShape := map[string]*UnknownLine{}
	for _, e := range events {
		shape := e.Attrs["shape"]
		if e.Kind != model.EventLog || e.Attrs["pattern"] != "" || shape == "" {
			continue
		}
		u := byShape[shape]
		if u == nil {
			u = &UnknownLine{Shape: shape, Level: e.Attrs["level"], Example: e.Text, Source: e.Attrs["source"], Process: e.Attrs["process"], First: e.From}
			byShape[shape] = u
		}
		u.Count += int64(max(e.Count, 1))
		u.Last = e.To
	}
	var out []UnknownLine
	for _, u := range byShape {
		out = append(out, *u)
	}
	slices.SortFunc(out, func(a, b UnknownLine) int {
		return cmp.Or(cmp.Compare(b.Count, a.Count), strings.Compare(a.Shape, b.Shape))
	})
	return out
}

// SetUnknown takes the unknown warnings, the most frequent first; since says
// what their counts are of.
func (l *Logs) SetUnknown(all []UnknownLine, since string) {
	l.Since = since
	n := min(len(all), logUnknown)
	l.Unlisted = len(all) - n
	for _, u := range all[:n] {
		row := UnknownRow{
			Shape: format.Clean(u.Shape), Level: format.Clean(u.Level), Example: lineText(u.Example), Source: format.Clean(u.Source),
			Process: format.Clean(u.Process), Count: format.Value(float64(u.Count), "count"), Last: u.Last, Glyph: GlyphWarning,
		}
		if u.Level != "warn" {
			row.Glyph = GlyphFailed
		}
		l.Unknown = append(l.Unknown, row)
	}
}

// LogSources picks what is said of logs from the coverage.
func LogSources(all []model.Coverage) []Source {
	return NewSources(LogCoverage(all))
}

// LogCoverage is the coverage of logs: "logs" itself, "log PATH", "GC log of X".
func LogCoverage(all []model.Coverage) []model.Coverage {
	return slices.DeleteFunc(slices.Clone(all), func(c model.Coverage) bool {
		words := strings.Fields(strings.ToLower(c.Source))
		return !slices.Contains(words, "log") && !slices.Contains(words, "logs")
	})
}

// unknownText leads to the unknown warnings.
func unknownText(l Logs) string {
	if len(l.Unknown) == 0 {
		return "no unknown warnings"
	}
	return count(len(l.Unknown)+l.Unlisted, "kind of unknown warning", "kinds of unknown warnings")
}
