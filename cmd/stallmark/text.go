package main

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"stallmark/rules"
	"stallmark/storage/model"
)

// textReport writes a report for somebody woken at 3 a.m.: the verdict first,
// then what to do, then why to believe it. All text in a report may be hostile.
type textReport struct {
	pen
	report model.Report
	byID   map[string]model.Finding
}

// writeText writes a report about the named host or recording.
func writeText(w io.Writer, s screen, what string, r model.Report) error {
	t := &textReport{pen: pen{screen: s}, report: r, byID: map[string]model.Finding{}}
	for _, f := range r.Findings {
		t.byID[f.ID] = f
	}
	t.head(what)
	shown := map[string]bool{}
	for _, incident := range r.Incidents {
		t.incident(incident, shown)
	}
	for _, f := range r.Findings {
		if !shown[f.ID] {
			t.finding(f, nil)
		}
	}
	t.signs()
	t.ruledOut()
	t.unknown()
	t.notApplicable()
	t.decide()
	t.excerpts()
	t.coverage()
	_, err := io.WriteString(w, t.String())
	return err
}

// head says what was looked at and, when nothing was found, that.
func (t *textReport) head(what string) {
	w := t.report.Window
	t.line("%s", oneLine(what))
	t.line("%s to %s UTC (%s)", clock(w.From, true), clock(w.To, false), span(w.From, w.To))
	t.gap()
	if len(t.report.Findings) > 0 {
		return
	}
	checked := len(t.report.RuledOut)
	if n := len(t.report.Unknown); n > 0 {
		t.heading("NOTHING FOUND, BUT NOT ALL COULD BE CHECKED:", fmt.Sprintf("%d ruled out, %d could not be judged.", checked, n))
		return
	}
	t.heading("NOTHING FOUND:", fmt.Sprintf("%d known causes checked and ruled out.", checked))
}

// incident writes the root with the chain from it to the symptoms.
func (t *textReport) incident(in model.Incident, shown map[string]bool) {
	root, ok := t.byID[in.Root]
	if !ok {
		return
	}
	var chain []model.Finding
	for _, id := range in.Findings {
		if f, ok := t.byID[id]; ok && !shown[id] {
			chain = append(chain, f)
			shown[id] = true
		}
	}
	t.finding(root, chain)
}

// finding writes one finding in full, with the chain it is the root of.
func (t *textReport) finding(f model.Finding, chain []model.Finding) {
	t.gap()
	t.heading(verdict(f)+":", f.Title)
	t.wrap("  ", "  ", fmt.Sprintf("%s, %s, %s%s", when(f, t.report.Window.To), f.Severity, confidence(f), subject(f.Subject)))
	t.gap()
	if len(chain) > 1 {
		t.section("Chain")
		for _, layer := range []model.Layer{model.LayerCause, model.LayerMechanism, model.LayerSymptom} {
			for _, c := range chain {
				if c.Layer == layer {
					t.row(string(layer), fmt.Sprintf("%s (%s%s, %s)", c.Title, c.Signature, subject(c.Subject), when(c, t.report.Window.To)))
				}
			}
		}
	}
	t.remedies("Do now", f.Remedy, model.RemedyNow)
	t.evidence(f.Evidence)
	if f.What != "" {
		t.section("What it is")
		t.paragraph("  ", strings.TrimSpace(f.What))
	}
	t.remedies("Later", f.Remedy, model.RemedyLater)
	t.remedies("Or accept", f.Remedy, model.RemedyAccept)
	if len(f.RuledOut) > 0 {
		t.section("Ruled out while it went on")
		for _, r := range f.RuledOut {
			t.row(r.Signature, r.Why)
		}
	}
}

// evidence writes measured values against their thresholds.
func (t *textReport) evidence(list []model.Evidence) {
	if len(list) == 0 {
		return
	}
	t.section("Evidence")
	for _, e := range list {
		text := e.Title + ": " + valueText(e)
		if e.Detail != "" {
			text += "; " + e.Detail
		}
		t.row(evidenceMark(e), text)
	}
}

// evidenceMark says in a word what the evidence does for its finding.
func evidenceMark(e model.Evidence) string {
	switch e.State {
	case model.EvidenceUnmeasured:
		return "unmeasured"
	case model.EvidenceShown:
		return "context"
	case model.EvidenceHolds:
		switch e.Role {
		case model.RoleWitness:
			return "witness"
		case model.RoleContradicts:
			return "AGAINST IT"
		}
		return "confirms"
	}
	switch e.Role {
	case model.RoleContradicts:
		return "no objection"
	case model.RoleWitness:
		return "not seen"
	}
	return "does not hold"
}

func valueText(e model.Evidence) string {
	if e.Value == nil {
		return "not measured"
	}
	text := rules.Format(*e.Value, e.Unit)
	if e.Threshold != nil && *e.Threshold != 0 { // more than none needs no saying
		text += ", " + rules.Side(*e.Value, *e.Threshold) + " " + rules.Format(*e.Threshold, e.Unit)
	}
	return text
}

// remedies writes the advice of one kind, commands on lines of their own so
// that they can be copied.
func (t *textReport) remedies(title string, all []model.Remedy, kind model.RemedyKind) {
	first := true
	for _, r := range all {
		if r.Kind != kind {
			continue
		}
		if first {
			t.section(title)
			first = false
		}
		t.paragraph("  * ", r.Title)
		t.field("why", r.Why)
		t.field("now", r.Current)
		t.command("apply", r.Apply)
		t.command("keep", r.Persist)
		t.command("undo", r.Rollback)
		t.field("check", r.Verify)
		t.field("risk", r.Risk)
	}
}

// verdict is the first word of a finding.
func verdict(f model.Finding) string {
	switch {
	case f.Severity != model.SeverityCritical:
		return strings.ToUpper(string(f.Severity))
	case f.Ended == nil && !f.Undated:
		return "STALLING"
	}
	return "STALLED"
}

// confidence adds what the word rests on.
func confidence(f model.Finding) string {
	if f.Caveat != "" {
		return string(f.Confidence) + " (" + f.Caveat + ")"
	}
	switch f.Confidence {
	case model.Confirmed:
		return "confirmed by a witness"
	case model.Likely:
		return "likely (all that can be measured agrees, no witness seen)"
	}
	return "possible (the condition holds" + unconfirmed(f.Evidence) + ")"
}

// unconfirmed says what became of the confirmations: one that could not be measured
// is not one that does not hold.
func unconfirmed(list []model.Evidence) string {
	unmeasured, failed := 0, 0
	for _, e := range list {
		switch {
		case e.Role != model.RoleConfirms:
		case e.State == model.EvidenceUnmeasured:
			unmeasured++
		case e.State != model.EvidenceHolds:
			failed++
		}
	}
	switch {
	case failed == 0 && unmeasured > 0:
		return ", its confirmations could not all be measured"
	case failed > 0 && unmeasured > 0:
		return ", not all of its confirmations do, and others could not be measured"
	case failed > 0:
		return ", its confirmations do not"
	}
	return ""
}

func when(f model.Finding, end time.Time) string {
	if f.Undated {
		if f.Ended != nil {
			end = *f.Ended
		}
		return "at an unknown time" + lasting(end.Sub(f.Started))
	}
	if f.Ended == nil {
		return fmt.Sprintf("since %s UTC (%s)", clock(f.Started, false), span(f.Started, end))
	}
	return fmt.Sprintf("%s to %s UTC (%s)", clock(f.Started, false), clock(*f.Ended, false), span(f.Started, *f.Ended))
}

// lasting is how long something lasted, nothing if less than a second.
func lasting(d time.Duration) string {
	if d < time.Second {
		return ""
	}
	return fmt.Sprintf(" (for %v)", d.Round(time.Second))
}

func clock(at time.Time, date bool) string {
	if date {
		return at.UTC().Format("2006-01-02 15:04:05")
	}
	return at.UTC().Format("15:04:05")
}

func span(from, to time.Time) string { return to.Sub(from).Round(time.Second).String() }

func subject(labels map[string]string) string {
	keys := make([]string, 0, len(labels))
	for k, v := range labels {
		if v != "" {
			keys = append(keys, k)
		}
	}
	slices.Sort(keys)
	var b strings.Builder
	for _, k := range keys {
		fmt.Fprintf(&b, ", %s %s", oneLine(k), oneLine(labels[k]))
	}
	return b.String()
}
