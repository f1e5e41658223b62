package view

import (
	"slices"
	"time"

	"stallmark/storage/model"
	"stallmark/web/chart"
	"stallmark/web/format"
)

// Overview is the first page.
type Overview struct {
	Page
	Verdict  Verdict
	Others   []Brief // further incidents of the window
	Lanes    chart.Lanes
	Quiet    chart.Lanes // signatures that did not fire, folded
	Evidence []chart.Figure
	Around   []chart.Figure // the host's own charts
	Sources  []Source
	Cliffs   []Cliff
	Changes  []Change     // newest first
	Audit    []AuditCount // what the audit would change, of a calm host
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
	Percent float64 // of the way, 100 is the edge
	Text    string  // the two values
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

// NewCliff says how far value is on the way to edge.
func NewCliff(title string, value, edge float64, unit, link string) Cliff {
	share := 0.0
	if edge > 0 {
		share = value / edge
	}
	c := Cliff{
		Title: format.Clean(title), Percent: share * 100, Link: link,
		Text:  format.Value(value, unit) + " of " + format.Value(edge, unit),
		Width: format.Fixed(min(max(share, 0), 1)*100, 1) + "%", Class: "far",
	}
	switch {
	case share >= 1:
		c.Class = "at"
	case share >= 0.8:
		c.Class = "near"
	}
	return c
}
