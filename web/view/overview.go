package view

import (
	"slices"
	"time"

	"stallmark/rules"
	"stallmark/storage/model"
	"stallmark/web/chart"
	"stallmark/web/format"
)

// Overview is the first page.
type Overview struct {
	Page
	Verdict    Verdict
	Others     []Other // further incidents of the window
	Further    int     // incidents that are not named
	Lanes      chart.Lanes
	Quiet      chart.Lanes // signatures that did not fire, folded
	Evidence   []chart.Figure
	Around     []chart.Figure // the host's own charts
	Sources    []Source
	Cliffs     []Cliff
	Changes    []Change     // newest first
	Audit      []AuditCount // what the audit would change, of a calm host
	Pieces     []Piece      // of texts that were given
	PieceNotes []string     // about all of them
	Signs      [][2]string  // what stands out in them: where, and what
	Decide     []string     // commands that would tell more
}

// Source is one line of the coverage.
type Source struct {
	Name     string
	State    model.SourceState
	Glyph    Glyph
	Detail   string
	Mend     string
	Since    time.Time
	Provides []string
	Took     string   // how long it took last
	Also     []string // further sources in the same state for the same reason
}

// Cliff is how close something is to the point where a stall begins.
type Cliff struct {
	Title   string
	Subject string
	Percent float64 // of the way, 100 is the edge
	Values  string  // the two of them
	Says    string  // what happens there
	Already string  // what happens already, of several steps
	Outlook string  // how long it is to there, in words
	Glyph   Glyph
	Link    string
	Width   string // of the bar, percent
	Class   string // far, near or at
}

// NewSources lists the coverage: what is missing first.
func NewSources(all []model.Coverage) []Source {
	order := []model.SourceState{model.SourceFailed, model.SourceDenied, model.SourcePartial, model.SourceAbsent, model.SourceOK}
	all = slices.Clone(all)
	slices.SortStableFunc(all, func(a, b model.Coverage) int { return slices.Index(order, a.State) - slices.Index(order, b.State) })
	glyphs := map[model.SourceState]Glyph{
		model.SourceOK: GlyphOK, model.SourcePartial: GlyphPartial, model.SourceAbsent: GlyphAbsent,
		model.SourceDenied: GlyphDenied, model.SourceFailed: GlyphFailed,
	}
	var out []Source
	for _, c := range all {
		g, ok := glyphs[c.State]
		if !ok {
			c.State, g = "unknown", GlyphUnknown
		}
		s := Source{
			Name: format.Clean(c.Source), State: c.State, Glyph: g,
			Detail: format.Clean(c.Detail), Mend: format.Clean(c.Mend), Since: c.Since, Provides: c.Provides,
		}
		out = append(out, s)
	}
	return out
}

// GroupSources joins those that are in the same state for the same reason.
func GroupSources(all []Source) []Source {
	var out []Source
	for _, s := range all {
		k := slices.IndexFunc(out, func(o Source) bool { return o.State == s.State && o.Detail == s.Detail && o.Mend == s.Mend })
		if s.Detail == "" || k < 0 {
			out = append(out, s)
			continue
		}
		out[k].Also = append(out[k].Also, s.Name)
	}
	return out
}

// cliffSoon is how near in time a cliff is told apart, if the slope is sure to
// lead there.
const cliffSoon = 10 * time.Minute

// NewCliff puts a distance into words.
func NewCliff(c rules.Cliff, w Window) Cliff {
	share := min(max(c.Percent, 0), 100)
	out := Cliff{
		Title: format.Clean(c.Title), Subject: cliffSubject(c.Subject), Percent: c.Percent, Link: w.Link("signatures", c.Signature),
		Values: format.Value(c.Value, c.Unit) + " → " + format.Value(c.Edge, c.Unit),
		Says:   format.Clean(c.Says), Already: format.Clean(c.Reached), Outlook: format.Clean(c.Text),
		Width: format.Fixed(share, 1) + "%", Class: "far", Glyph: GlyphOK,
	}
	switch soon := c.Latest != nil && *c.Earliest < cliffSoon.Seconds(); {
	case c.Outlook == rules.CliffReached:
		out.Class, out.Glyph = "at", GlyphFiring
	case c.Outlook == rules.CliffApproaching && soon, c.Reached != "":
		out.Class, out.Glyph = "near", GlyphWarning
	case c.Outlook == rules.CliffApproaching:
		out.Glyph = GlyphPartial
	case c.Outlook == rules.CliffUnknown:
		out.Glyph = GlyphUnknown
	}
	return out
}

// cliffSubject names what a distance is about, the process rather than its
// number.
func cliffSubject(s map[string]string) string {
	for _, name := range []string{"process", "mountpoint", "device"} {
		if v := s[name]; v != "" {
			return format.Clean(v)
		}
	}
	return subjectText(s)
}
