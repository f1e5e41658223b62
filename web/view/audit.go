package view

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"stallmark/rules/audit"
	"stallmark/web/format"
)

// Audit is the page of settings against advice.
type Audit struct {
	Page
	At      time.Time
	Counts  []AuditCount
	Areas   []AuditArea
	Nowhere []string // areas of which this host has nothing
}

// AuditCount is how many results are in a state.
type AuditCount struct {
	Text  string
	Glyph Glyph
}

// AuditArea are the results about one kind of settings.
type AuditArea struct {
	ID, Name string
	Open     []AuditItem // warnings, then advice, then what is unknown
	Fine     []AuditItem
	Absent   []AuditItem
}

// AuditItem is one result.
type AuditItem struct {
	Title   string
	Subject string
	State   audit.State
	Word    string
	Glyph   Glyph
	Current string
	Says    string
	Mend    string
	Change  string
	Do      *Advice
	ID      string // unique on the page
}

// NewAudit groups results by area.
func NewAudit(p Page, at time.Time, results []audit.Result) Audit {
	page := Audit{Page: p, At: at, Counts: auditCounts(results)}
	for _, area := range audit.Areas() {
		a := AuditArea{ID: "audit-" + slug(string(area)), Name: format.Clean(area.Title())}
		for i, r := range results {
			if r.Area == area {
				a.add(auditItem(r, i))
			}
		}
		if len(a.Open)+len(a.Fine) == 0 {
			if len(a.Absent) > 0 {
				page.Nowhere = append(page.Nowhere, a.Name)
			}
			continue
		}
		page.Areas = append(page.Areas, a)
	}
	return page
}

func (a *AuditArea) add(item AuditItem) {
	switch item.State {
	case audit.OK:
		a.Fine = append(a.Fine, item)
	case audit.Absent:
		a.Absent = append(a.Absent, item)
	default:
		a.Open = append(a.Open, item)
		slices.SortStableFunc(a.Open, func(x, y AuditItem) int { return auditRank(x.State) - auditRank(y.State) })
	}
}

func auditRank(s audit.State) int {
	return slices.Index([]audit.State{audit.Warn, audit.Advise, audit.Unknown, audit.OK, audit.Absent}, s)
}

// auditWord is a state as it is shown, with its icon.
func auditWord(s audit.State) (string, Glyph) {
	switch s {
	case audit.Warn:
		return "warning", GlyphFiring
	case audit.Advise:
		return "advice", GlyphWarning
	case audit.OK:
		return "fine", GlyphOK
	case audit.Absent:
		return "not here", GlyphAbsent
	}
	return "unknown", GlyphUnknown
}

func auditCounts(results []audit.Result) []AuditCount {
	n := map[audit.State]int{}
	for _, r := range results {
		n[r.State]++
	}
	var out []AuditCount
	for _, c := range []struct {
		state     audit.State
		one, many string
		always    bool
	}{
		{audit.Warn, "warning", "warnings", true},
		{audit.Advise, "piece of advice", "pieces of advice", true},
		{audit.Unknown, "unknown", "unknown", false},
		{audit.OK, "fine", "fine", true},
		{audit.Absent, "not on this host", "not on this host", false},
	} {
		if _, g := auditWord(c.state); c.always || n[c.state] > 0 {
			if n[c.state] == 0 {
				g = GlyphAbsent
			}
			out = append(out, AuditCount{count(n[c.state], c.one, c.many), g})
		}
	}
	return out
}

// AuditHint counts what wants to be changed.
func AuditHint(results []audit.Result) []AuditCount {
	var out []AuditCount
	for _, c := range auditCounts(results) {
		if c.Glyph == GlyphFiring || c.Glyph == GlyphWarning {
			out = append(out, c)
		}
	}
	return out
}

func auditItem(r audit.Result, i int) AuditItem {
	item := AuditItem{
		ID: "audit-" + slug(r.ID) + "-" + format.Fixed(float64(i), 0), Title: format.Clean(cmp.Or(r.Title, r.ID)), Subject: auditSubject(r.Subject),
		State: r.State, Current: format.Clean(r.Current), Says: format.Clean(r.Says), Mend: format.Clean(r.Mend),
	}
	item.Word, item.Glyph = auditWord(r.State)
	var do Advice
	if a := r.Advice; a != nil {
		item.Change, do.Apply = format.Clean(a.Change), format.Code(strings.TrimSpace(a.Command))
		do.More = parts(
			Part{"Why", r.Why, false}, Part{"Rollback", a.Rollback, true}, Part{"To keep it after a reboot", a.Persist, true},
			Part{"Risk", a.Risk, false}, Part{"Source", r.Source, false},
		)
	} else {
		do.More = parts(Part{"Why", r.Why, false}, Part{"Source", r.Source, false})
	}
	item.Do = &do
	return item
}

// auditSubject names what a result is about: a device with its mount, a process
// with its pid.
func auditSubject(s map[string]string) string {
	if name := s["process"]; name != "" && s["pid"] != "" {
		return format.Clean(name + " (pid " + s["pid"] + ")")
	}
	if s["device"] != "" && s["mount"] != "" {
		return format.Clean(s["mount"] + " (" + s["device"] + ")")
	}
	if len(s) == 1 {
		for _, v := range s {
			return format.Clean(v)
		}
	}
	return subjectText(s)
}
