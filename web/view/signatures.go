package view

import (
	"strings"
	"time"

	"stallmark/rules"
	"stallmark/storage/model"
	"stallmark/web/format"
)

// State is how a signature stands now.
type State struct {
	Word  string // firing, fired (and ended), pending, quiet, unknown
	Glyph Glyph
	Class string
	Why   string
	Mend  string
}

// SignatureRow is one line of the catalogue.
type SignatureRow struct {
	ID, Title string
	Layer     model.Layer
	Severity  model.Severity
	State     State
	Link      string
	Proven    string // recording, drill or synthetic; empty if the file does not say
}

// Layered are the signatures of one layer.
type Layered struct {
	Layer string
	About string
	Rows  []SignatureRow
}

// Signatures is the catalogue.
type Signatures struct {
	Page
	Groups   []Layered
	Version  string
	Problems []string
}

// Signature is the page of one signature.
type Signature struct {
	Page
	Row         SignatureRow
	Proven      string
	What        []string
	Needs       []string
	When        string
	Extent      string
	Independent string
	For         string
	Keep        string
	Evidence    []Asked
	Explains    []Choice
	Friends     []Choice // told apart from these
	Remedies    []Advice
	References  []Reference
	Tests       []string
	File        string
	Recent      []Brief
}

// Asked is a piece of evidence that a signature asks for.
type Asked struct {
	Title, Role, Threshold, Expr string
	Wait                         []string
}

// Reference is a text, with a link if it is an address.
type Reference struct {
	Text, Href string
}

// StatesOf reads from a report how each signature stands, by id. A report rules
// out causes alone: a mechanism or symptom that it does not mention was judged
// and is quiet; a cause that it does not mention holds, but not yet for long
// enough.
func StatesOf(sigs []*rules.Signature, r model.Report) map[string]State {
	states := map[string]State{}
	for _, s := range sigs {
		states[s.ID] = State{Word: "quiet", Glyph: GlyphOK, Class: "quiet", Why: "its condition is not met"}
		if s.Layer == model.LayerCause {
			states[s.ID] = State{Word: "pending", Glyph: GlyphPartial, Class: "pending", Why: "its condition holds, not yet for long enough"}
		}
	}
	for _, q := range r.RuledOut {
		states[q.Signature] = State{Word: "quiet", Glyph: GlyphOK, Class: "quiet", Why: format.Clean(q.Why)}
		if idle(q) { // there is nothing here that it could judge: that is no clean bill
			states[q.Signature] = State{Word: "quiet", Glyph: GlyphAbsent, Class: "quiet", Why: format.Clean(q.Why)}
		}
	}
	for _, u := range r.Unknown {
		states[u.Signature] = State{"unknown", GlyphUnknown, "unknown", format.Clean(u.Why), format.Clean(u.Mend)}
	}
	for _, n := range r.NotApplicable {
		states[n.Signature] = State{"not applicable", GlyphAbsent, "not-here", format.Clean(n.Why), format.Clean(n.Mend)}
	}
	for _, f := range r.Findings {
		if f.State == model.StatePending || states[f.Signature].Word == "firing" {
			continue
		}
		value, of := headline(f)
		why := strings.Trim(of+": "+value, ": ")
		if f.Ended != nil {
			states[f.Signature] = State{Word: "fired", Glyph: GlyphPast, Class: severityClass(f.Severity), Why: "until " + format.Stamp(*f.Ended) + " UTC, " + why}
			continue
		}
		glyph := GlyphWarning
		if f.Severity == model.SeverityCritical {
			glyph = GlyphFiring
		}
		states[f.Signature] = State{Word: "firing", Glyph: glyph, Class: severityClass(f.Severity), Why: why}
	}
	return states
}

// NewSignatures groups the catalogue by layer.
func NewSignatures(p Page, all []*rules.Signature, states map[string]State, h Health) Signatures {
	page := Signatures{Page: p, Version: format.Clean(h.RulesVersion)}
	for _, s := range h.RuleProblems {
		page.Problems = append(page.Problems, format.Clean(s))
	}
	groups := []Layered{
		{Layer: "cause", About: "what starts a stall"},
		{Layer: "mechanism", About: "how it travels"},
		{Layer: "symptom", About: "what the broker says"},
	}
	for _, s := range all {
		for i := range groups {
			if groups[i].Layer == string(s.Layer) {
				groups[i].Rows = append(groups[i].Rows, RowOf(s, states, p.Window))
			}
		}
	}
	for _, g := range groups {
		if len(g.Rows) > 0 {
			page.Groups = append(page.Groups, g)
		}
	}
	return page
}

// RowOf is one line of the catalogue.
func RowOf(s *rules.Signature, states map[string]State, w Window) SignatureRow {
	return SignatureRow{format.Clean(s.ID), format.Clean(s.Title), s.Layer, s.Severity, states[s.ID], w.Link("signatures", s.ID), s.Proven.Word()}
}

// NewSignature fills the page of one signature.
func NewSignature(p Page, s *rules.Signature, states map[string]State) Signature {
	w := p.Window
	page := Signature{
		Page: p, Row: RowOf(s, states, w), What: paragraphs(s.What), Needs: cleaned(s.Needs),
		When: format.Code(strings.TrimSpace(s.When)), Extent: format.Code(strings.TrimSpace(s.Extent)), Independent: format.Code(strings.TrimSpace(s.Independent)), For: spanText(s.For), Keep: spanText(s.KeepFiringFor),
		File: format.Clean(s.File), Proven: format.Clean(s.Proven.String()), Explains: signatureLinks(s.Explains, w), Friends: signatureLinks(s.Differential, w),
	}
	for _, e := range s.Evidence {
		page.Evidence = append(page.Evidence, askedOf(e))
	}
	for _, r := range s.Remedy {
		page.Remedies = append(page.Remedies, Advice{Kind: string(r.Kind), Title: format.Clean(r.Title), Apply: format.Code(strings.TrimSpace(r.Apply)), More: parts(Part{"Why", r.Why, false}, Part{"Risk", r.Risk, false})})
	}
	for _, r := range s.References {
		page.References = append(page.References, referenceOf(r))
	}
	for _, t := range s.Tests {
		page.Tests = append(page.Tests, format.Clean(t.Name)+" → "+string(t.Expect))
	}
	return page
}

func askedOf(e rules.EvidenceRule) Asked {
	a := Asked{Title: format.Clean(e.Title), Role: string(e.Role), Expr: format.Code(strings.TrimSpace(e.Expr)), Wait: cleaned(e.Wait)}
	switch {
	case e.Threshold.Number != nil:
		a.Threshold = string(e.Op) + " " + format.Value(*e.Threshold.Number, e.Unit)
	case e.Threshold.Expr != "":
		a.Threshold = string(e.Op) + " " + format.Code(strings.TrimSpace(e.Threshold.Expr))
	}
	return a
}

func spanText(d time.Duration) string {
	if d <= 0 {
		return "at once"
	}
	return format.Span(d)
}

func signatureLinks(ids []string, w Window) []Choice {
	var out []Choice
	for _, id := range ids {
		out = append(out, Choice{Text: format.Clean(id), Href: w.Link("signatures", id)})
	}
	return out
}

// cleaned is every text with hidden characters made visible.
func cleaned(all []string) []string {
	out := make([]string, len(all))
	for i, t := range all {
		out[i] = format.Clean(t)
	}
	return out
}
