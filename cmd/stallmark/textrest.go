package main

import (
	"fmt"
	"slices"
	"strings"

	"stallmark/storage/model"
)

// ruledOut names the causes that are not it, unless a finding has said so.
func (t *textReport) ruledOut() {
	var left []model.RuledOut
	for _, r := range t.report.RuledOut {
		inFinding := slices.ContainsFunc(t.report.Findings, func(f model.Finding) bool {
			return slices.ContainsFunc(f.RuledOut, func(o model.RuledOut) bool { return o.Signature == r.Signature })
		})
		if !inFinding {
			left = append(left, r)
		}
	}
	if len(left) == 0 {
		return
	}
	t.section("Ruled out")
	for _, r := range left {
		t.row(r.Signature, r.Why)
	}
}

// unknown names what could not be judged, why, and what would mend it.
func (t *textReport) unknown() {
	if len(t.report.Unknown) == 0 {
		return
	}
	t.section("Could not be judged")
	if len(t.report.Unknown) > fewRows && !t.screen.verbose {
		t.foldUnknown()
		return
	}
	for _, u := range t.report.Unknown {
		text := u.Why
		if u.Mend != "" {
			text += ". To mend it: " + u.Mend
		}
		t.row(u.Signature, text)
	}
}

// notApplicable names what has nothing to judge here, once for each reason.
func (t *textReport) notApplicable() {
	if len(t.report.NotApplicable) == 0 {
		return
	}
	ids := map[string][]string{}
	var order []string
	for _, n := range t.report.NotApplicable {
		if ids[n.Why] == nil {
			order = append(order, n.Why)
		}
		ids[n.Why] = append(ids[n.Why], n.Signature)
	}
	t.section("Not applicable")
	if len(order) > fewRows && !t.screen.verbose {
		t.row(fmt.Sprintf("%d signatures", len(t.report.NotApplicable)), "nothing here is what they are about. --verbose names them")
		return
	}
	for _, why := range order {
		t.row(why, strings.Join(ids[why], ", "))
	}
}

// coverage names what was read in full in one line and the rest by the reason.
func (t *textReport) coverage() {
	if len(t.report.Coverage) == 0 {
		return
	}
	t.section("Coverage")
	type reason struct{ state, text string }
	sources := map[reason][]string{}
	var order []reason
	for _, c := range t.report.Coverage {
		why := reason{string(c.State), c.Detail}
		if c.State == model.SourceOK {
			why.text = ""
		} else if c.Mend != "" {
			why.text += ". To mend it: " + c.Mend
		}
		if sources[why] == nil {
			order = append(order, why)
		}
		sources[why] = append(sources[why], c.Source)
	}
	slices.SortStableFunc(order, func(a, b reason) int { return rank(a.state) - rank(b.state) })
	for _, why := range order {
		text := strings.Join(sources[why], ", ")
		if why.text != "" {
			text += ": " + why.text
		}
		t.row(why.state, text)
	}
}

// rank puts what was read in full first.
func rank(state string) int {
	if state == string(model.SourceOK) {
		return 0
	}
	return 1
}
