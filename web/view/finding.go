package view

import (
	"maps"
	"slices"
	"strings"

	"stallmark/rules"
	"stallmark/storage/model"
	"stallmark/web/chart"
	"stallmark/web/format"
)

// Advice is a remedy as it is shown.
type Advice struct {
	Kind    string // now, later, accept
	Title   string
	Current string
	Apply   string
	More    []Part // persistence, rollback, risk, how to verify
}

// Part is a titled piece of text; Code is to be typed.
type Part struct {
	Title string
	Text  string
	Code  bool
}

// Proof is one piece of evidence as it is shown.
type Proof struct {
	Title     string
	Value     string
	Threshold string // on which side of it the value lies

	Role   model.Role
	State  model.EvidenceState
	Says   string // what it does for the finding
	Glyph  Glyph
	Detail []string // a line each
	Expr   string
}

// explainsShown is how many signatures that a finding accounts for are listed
// openly: those that fire with it stand in its chain.
const explainsShown = 4

// Finding is the page of one finding.
type Finding struct {
	Page
	Brief    Brief
	Kind     VerdictKind
	Because  string
	Caveat   string   // what keeps the confidence down
	Incident string   // path of the incident's page
	What     []string // paragraphs
	Subject  []Pair
	Proofs   []Proof
	Charts   []chart.Figure
	RuledOut []Checked
	Advice   []Advice
	Explains []Choice
	Chain    Chain
	Changes  []Change
	Sig      string // path of the signature's page
	When     string // path of the overview around it
	Logs     Excerpt
}

// Findings is the list of findings of a window.
type Findings struct {
	Page
	Rows  []Brief
	Lanes chart.Lanes
}

// NewFinding fills the page of a finding, without its charts.
func NewFinding(p Page, f model.Finding) Finding {
	w := p.Window
	page := Finding{
		Page: p, Brief: briefOf(f, w), Kind: kindOf([]model.Finding{f}), Because: because(f),
		Caveat: format.Clean(f.Caveat), Incident: w.Link("incidents", f.ID),
		What: paragraphs(f.What), Sig: w.Link("signatures", f.Signature),
		RuledOut: ruledOut(f.RuledOut, w), Advice: adviceOf(f.Remedy),
	}
	to := w.To
	if f.Ended != nil {
		to = *f.Ended
	}
	page.When = w.Around(f.Started, to)
	for _, name := range slices.Sorted(maps.Keys(f.Subject)) {
		page.Subject = append(page.Subject, Pair{format.Clean(name), format.Clean(f.Subject[name])})
	}
	for _, e := range f.Evidence {
		page.Proofs = append(page.Proofs, proofOf(e))
	}
	for _, id := range f.Explains {
		page.Explains = append(page.Explains, Choice{Text: format.Clean(id), Href: w.Link("signatures", id)})
	}
	return page
}

// BriefsOf are findings in one line each, the newest first.
func BriefsOf(all []model.Finding, w Window) []Brief {
	sorted := slices.Clone(all)
	slices.SortStableFunc(sorted, func(a, b model.Finding) int { return b.Started.Compare(a.Started) })
	var out []Brief
	for _, f := range sorted {
		out = append(out, briefOf(f, w))
	}
	return out
}

func briefOf(f model.Finding, w Window) Brief {
	b := Brief{
		Title: format.Clean(firstLine(f.Title, f.Signature)), Signature: f.Signature, Subject: subjectText(f.Subject),
		Layer: f.Layer, Severity: f.Severity, Confidence: f.Confidence,
		Started: f.Started, Ended: ended(f.Ended), Undated: f.Undated, Link: w.Link("findings", f.ID), Class: severityClass(f.Severity),
	}
	b.Lasted = lasted(b.Started, b.Ended, w)
	switch {
	case f.State == model.StatePending:
		b.Word, b.Glyph = "Pending", GlyphPartial
	case f.Ended != nil || f.Undated:
		b.Word, b.Glyph = "Ended", GlyphPast
	case f.Severity == model.SeverityCritical:
		b.Word, b.Glyph = "Firing", GlyphFiring
	default:
		b.Word, b.Glyph = "Firing", GlyphWarning
	}
	return b
}

func severityClass(s model.Severity) string {
	switch s {
	case model.SeverityCritical:
		return "crit"
	case model.SeverityWarning:
		return "warn"
	}
	return "info"
}

// subjectText names the subject by its label values.
func subjectText(s map[string]string) string {
	var all []string
	for _, k := range slices.Sorted(maps.Keys(s)) {
		all = append(all, k+" "+s[k])
	}
	return format.Clean(strings.Join(all, ", "))
}

func proofOf(e model.Evidence) Proof {
	p := Proof{
		Title: format.Clean(e.Title), Value: format.Optional(e.Value, e.Unit), Role: e.Role, State: e.State,
		Expr: format.Code(e.Expr),
	}
	if e.Value != nil && e.Threshold != nil && *e.Threshold != 0 { // more than none needs no saying
		p.Threshold = rules.Side(*e.Value, *e.Threshold) + " " + format.Value(*e.Threshold, e.Unit)
	}
	for line := range strings.SplitSeq(strings.TrimSpace(e.Detail), "\n") {
		if line != "" {
			p.Detail = append(p.Detail, format.Clean(line))
		}
	}
	if e.Role == model.RoleWitness && e.Value == nil && e.State == model.EvidenceHolds {
		p.Value = "seen"
	}
	p.Says, p.Glyph = proofWords(e)
	return p
}

// proofWords says what a piece of evidence does for its finding.
func proofWords(e model.Evidence) (string, Glyph) {
	objection := e.Role == model.RoleContradicts
	switch e.State {
	case model.EvidenceHolds:
		switch {
		case objection:
			return "speaks against this cause", GlyphFailed
		case e.Role == model.RoleWitness:
			return "seen directly", GlyphOK
		}
		return "speaks for this cause", GlyphOK
	case model.EvidenceFails:
		switch {
		case objection:
			return "would speak against this cause, and does not", GlyphOK
		case e.Role == model.RoleWitness:
			return "would prove it, and was not seen", GlyphAbsent
		}
		return "does not speak for this cause", GlyphFailed
	case model.EvidenceUnmeasured:
		return "not measured", GlyphUnknown
	}
	return "for comparison", GlyphAbsent
}

func paragraphs(text string) []string {
	var all []string
	for p := range strings.SplitSeq(strings.TrimSpace(text), "\n\n") {
		if p = strings.TrimSpace(p); p != "" {
			all = append(all, format.Code(strings.Join(strings.Fields(p), " ")))
		}
	}
	return all
}

func adviceOf(all []model.Remedy) []Advice {
	var out []Advice
	for _, kind := range []model.RemedyKind{model.RemedyNow, model.RemedyLater, model.RemedyAccept} {
		for _, r := range all {
			if r.Kind == kind {
				out = append(out, oneAdvice(r))
			}
		}
	}
	return out
}

func oneAdvice(r model.Remedy) Advice {
	a := Advice{
		Kind: string(r.Kind), Title: format.Clean(r.Title),
		Current: format.Clean(r.Current), Apply: format.Code(strings.TrimSpace(r.Apply)),
	}
	a.More = parts(
		Part{"Why", r.Why, false},
		Part{"Rollback", r.Rollback, true},
		Part{"To keep it after a reboot", r.Persist, true},
		Part{"Risk", r.Risk, false},
		Part{"How to verify", r.Verify, false},
	)
	return a
}

// parts drops those without text.
func parts(all ...Part) []Part {
	var out []Part
	for _, p := range all {
		if p.Text = format.Code(strings.TrimSpace(p.Text)); p.Text != "" {
			out = append(out, p)
		}
	}
	return out
}

// adviceNow is what the banner offers: the first remedy for now that has a
// command, else the first at all; and how many more there are.
func adviceNow(f model.Finding) (*Advice, int) {
	all := adviceOf(f.Remedy)
	if len(all) == 0 {
		return nil, 0
	}
	k := slices.IndexFunc(all, func(a Advice) bool { return a.Kind == string(model.RemedyNow) && a.Apply != "" })
	return &all[max(k, 0)], len(all) - 1
}
