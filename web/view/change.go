package view

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"stallmark/rules"
	"stallmark/storage/model"
	"stallmark/web/chart"
	"stallmark/web/format"
)

// Change is a moment at which settings changed.
type Change struct {
	At       time.Time
	Settings []Setting
	Effects  []Effect // what was measured before and after
}

// Setting is one changed setting, its values as they read best.
type Setting struct {
	key, rank string
	Name      string
	Old, New  string
}

// Effect is a measured value before and after a change.
type Effect struct {
	Title         string
	Before, After string
	Word          string // what became of it
	Glyph         Glyph
}

// EffectsOf are the measures around a change as they are shown.
func EffectsOf(all []rules.Measure) []Effect {
	var out []Effect
	for _, m := range all {
		e := Effect{
			Title: chart.ShortTitle(format.Clean(m.Title)), Before: format.Value(m.Before, m.Unit), After: format.Value(m.After, m.Unit),
			Word: format.Clean(m.Change), Glyph: GlyphPartial,
		}
		switch m.Change {
		case rules.MeasureGone:
			e.Glyph = GlyphOK
		case rules.MeasureCome:
			e.Glyph = GlyphWarning
		case rules.MeasureSame:
			e.Word, e.Glyph = "no difference", GlyphAbsent
		}
		out = append(out, e)
	}
	return out
}

// ChangesOf groups the changed settings of events by their beat, oldest first.
func ChangesOf(events []model.Event) []Change {
	var out []Change
	for _, e := range events {
		if e.Kind != model.EventSetting {
			continue
		}
		if n := len(out); n == 0 || !out[n-1].At.Equal(e.From) {
			out = append(out, Change{At: e.From})
		}
		last := &out[len(out)-1]
		last.Settings = append(last.Settings, settingOf(e))
	}
	for i := range out {
		slices.SortStableFunc(out[i].Settings, func(a, b Setting) int { return strings.Compare(a.rank, b.rank) })
	}
	return out
}

// settingOf reads an event. A twin that the kernel set to 0 by itself, as it
// does with vm.dirty_ratio when vm.dirty_bytes is written, comes after the
// setting that somebody made.
func settingOf(e model.Event) Setting {
	key := e.Attrs["key"]
	if e.Attrs["new"] == "" && e.Attrs["old"] == "" { // an older recording has the text alone
		return Setting{key: key, rank: "0", Name: format.Clean(strings.TrimSpace(e.Text))}
	}
	s := Setting{
		key: key, Name: format.Clean(strings.TrimPrefix(key, "sysctl.")),
		Old: settingValue(key, e.Attrs["old"]), New: settingValue(key, e.Attrs["new"]), rank: "0",
	}
	if e.Attrs["new"] == "0" {
		s.rank = "1"
	}
	return s
}

// settingValue writes a number of bytes as such.
func settingValue(key, value string) string {
	if n, err := strconv.ParseFloat(value, 64); err == nil && n >= 1024 && strings.HasSuffix(key, "_bytes") {
		return format.Value(n, "bytes")
	}
	return format.Clean(value)
}

// Text is the setting in words: vm.dirty_bytes 0 → 64 MiB.
func (s Setting) Text() string {
	if s.Old == "" && s.New == "" {
		return s.Name
	}
	return s.Name + " " + cmp.Or(s.Old, "empty") + " → " + cmp.Or(s.New, "empty")
}

// Text names the first settings of a change and counts the others.
func (c Change) Text() string {
	const named = 2
	var all []string
	for _, s := range c.Settings[:min(len(c.Settings), named)] {
		all = append(all, s.Text())
	}
	text := strings.Join(all, ", ")
	if more := len(c.Settings) - named; more > 0 {
		text += fmt.Sprintf(" (+%d)", more)
	}
	return text
}

// touches reports whether a change is of a setting that the advice of a finding
// is about.
func (c Change) touches(f model.Finding) bool {
	return slices.ContainsFunc(c.Settings, func(s Setting) bool {
		_, name, _ := strings.Cut(s.key, ".")
		return name != "" && slices.ContainsFunc(f.Remedy, func(r model.Remedy) bool {
			return strings.Contains(r.Current+" "+r.Apply+" "+r.Rollback, name)
		})
	})
}

// How far from its beginning a change may have caused a stall.
const (
	causeBefore = 10 * time.Minute
	causeAfter  = 5 * time.Second // what is sampled comes late
)

// changedNear says when a setting that matters to a finding was last changed
// about its beginning, and whether it was changed again since.
func changedNear(f model.Finding, changes []Change, w Window) []string {
	var before, since *Change
	for i, c := range changes {
		switch lead := f.Started.Sub(c.At); {
		case !c.touches(f) || lead > causeBefore:
		case lead >= -causeAfter:
			before = &changes[i]
		default:
			since = &changes[i]
		}
	}
	var out []string
	if before != nil {
		lead := f.Started.Sub(before.At)
		when := "as it began"
		if lead >= time.Second {
			when = format.Span(lead) + " before it began"
		}
		out = append(out, "Set "+when+": "+before.Text())
	}
	if since != nil {
		out = append(out, "Changed since, "+ago(since.At, w)+": "+since.Text())
	}
	return out
}

// ago is how long before the end of a live window a time is, or the time.
func ago(t time.Time, w Window) string {
	switch {
	case w.Live && w.To.Sub(t) < time.Second && !t.After(w.To):
		return "just now"
	case w.Live && !t.After(w.To):
		return format.Span(w.To.Sub(t)) + " ago"
	}
	return "at " + format.Clock(t) + " UTC"
}

func hasEffects(all []Change) bool {
	return slices.ContainsFunc(all, func(c Change) bool { return len(c.Effects) > 0 })
}
