package view

import (
	"slices"
	"time"
)

// BodyFragment names the part of a document that a live refresh asks for.
const BodyFragment = "body"

// Page is the frame of every page.
type Page struct {
	Title   string // of the tab
	Host    string
	Version string
	Nav     string // path of the section that is on
	Window  Window
	Timed   bool          // the page shows the window, so it offers to change it
	Refresh time.Duration // between looks for news, 0 if there is none to expect
	Twin    string        // the same as JSON
	Verdict string        // announced to screen readers when it changes
	Assets  Assets
	Triage  bool          // texts are judged
	Share   bool          // what is shown can be frozen
	Frozen  *Frozen       // of a snapshot, nil for the live host
	Gap     func() string // what older history lacks, once all has been asked; empty for nothing
}

// gap is the page's Gap, if it has one.
func (p Page) gap() string {
	if p.Gap == nil {
		return ""
	}
	return p.Gap()
}

// Assets are the paths of the page's files, with their hashes.
type Assets struct {
	CSS, JS, Icon string
}

// empty reports whether it is the head of an error that shows no snapshot.
func (f *Frozen) empty() bool { return f.Created.IsZero() && !f.Texts }

// Sections are the entries of the navigation, with their keys.
func (p Page) Sections() []Choice {
	if p.Frozen != nil && p.Frozen.empty() {
		return nil
	}
	entries := []struct{ text, piece, key string }{
		{"Now", "", "n"},
		{"Incidents", "incidents", "i"},
		{"Disks", "disks", "d"},
		{"Page cache", "pagecache", "p"},
		{"Logs", "logs", "o"},
		{"JVM", "jvm", "j"},
		{"Signatures", "signatures", "s"},
		{"Audit", "audit", "a"},
		{"Status", "status", "t"},
	}
	if p.Triage {
		entries = slices.Insert(entries, 2, struct{ text, piece, key string }{"Triage", "triage", "g"})
	}
	if p.Share {
		entries = slices.Insert(entries, 2, struct{ text, piece, key string }{"Snapshots", "snapshots", "h"})
	}
	if p.Frozen != nil {
		entries = slices.DeleteFunc(entries, func(e struct{ text, piece, key string }) bool {
			return !slices.Contains([]string{"", "incidents", "logs", "jvm"}, e.piece)
		})
		entries[0].text = "Overview"
	}
	var all []Choice
	for _, e := range entries {
		href := p.Window.Link()
		if e.piece != "" {
			href = p.Window.Link(e.piece)
		}
		all = append(all, Choice{Text: e.text, Href: href, Key: e.key, On: p.Nav == "/"+e.piece})
	}
	return all
}

// Keyed is a line of the list of keys.
type Keyed struct {
	Keys  []string
	About string
}

// keys are the keys of a page: those of what it leads to, and no others.
func (p Page) keys() []Keyed {
	var list []Keyed
	var pages []string
	about := "pages:"
	for i, c := range p.Sections() {
		pages = append(pages, c.Key)
		if i > 0 {
			about += ","
		}
		about += " " + c.Text
	}
	if len(pages) > 0 {
		list = append(list, Keyed{pages, about})
	}
	var ranges []string
	for _, c := range p.Window.Choices() {
		ranges = append(ranges, c.Key)
	}
	window := "all of the snapshot"
	if len(ranges) > 0 {
		window = "fix the window as a link to send, or go live"
		list = append(list, Keyed{ranges, "the last " + RangeNames()})
	}
	return append(
		list,
		Keyed{[]string{"[", "]"}, "half a window earlier, later"},
		Keyed{[]string{"-"}, "twice as much time, in a fixed window"},
		Keyed{[]string{"l"}, window},
		Keyed{[]string{"z"}, "UTC or local time"},
		Keyed{[]string{"Esc"}, "drop the crosshair, close this"},
		Keyed{[]string{"?"}, "this list"},
	)
}

// Glyph names an icon; state is never shown by colour alone.
type Glyph string

// The icons.
const (
	GlyphFiring  Glyph = "firing"
	GlyphPast    Glyph = "past"
	GlyphWarning Glyph = "warning"
	GlyphOK      Glyph = "ok"
	GlyphUnknown Glyph = "unknown"
	GlyphPartial Glyph = "partial"
	GlyphAbsent  Glyph = "absent"
	GlyphDenied  Glyph = "denied"
	GlyphFailed  Glyph = "failed"
	GlyphChange  Glyph = "change"
	GlyphFilled  Glyph = "filled"
)

// Failure is the page of an error.
type Failure struct {
	Status  int
	Title   string
	Message string
	SignIn  bool // the admin token would have helped
	Texts   bool // other texts would
}

// Frozen is what the head of a page says of the snapshot that it shows.
type Frozen struct {
	ID       string
	Created  time.Time
	Expires  time.Time // of the link; zero if it has none
	Redacted bool
	Texts    bool     // of a verdict about texts that somebody gave
	Cut      []string // what is not in it, in words
}
