package view

import (
	"slices"

	"stallmark/rules"
	"stallmark/storage/model"
)

// mainIncident is the one that the banner is about: the first in the order of
// rules.SortIncidents. Findings of severity info and pending ones make no
// banner.
func mainIncident(r model.Report) *model.Incident {
	for _, i := range incidents(r) {
		if slices.ContainsFunc(findingsOf(i, r), bannerWorthy) {
			return &i
		}
	}
	return nil
}

// incidents are the report's, and each finding that is in none of them as one
// of its own, the worst first: nothing that fired may be missing from the page.
func incidents(r model.Report) []model.Incident {
	all := slices.Clone(r.Incidents)
	for _, f := range r.Findings {
		if !slices.ContainsFunc(all, func(i model.Incident) bool { return i.Root == f.ID || slices.Contains(i.Findings, f.ID) }) {
			all = append(all, model.Incident{Root: f.ID, Findings: []string{f.ID}, Started: f.Started, Ended: f.Ended})
		}
	}
	rules.SortIncidents(all, r.Findings)
	return all
}

func bannerWorthy(f model.Finding) bool {
	return f.Severity != model.SeverityInfo && f.State != model.StatePending
}

// findingsOf are an incident's findings, root first.
func findingsOf(i model.Incident, r model.Report) []model.Finding {
	var all []model.Finding
	for _, id := range append([]string{i.Root}, i.Findings...) {
		k := slices.IndexFunc(r.Findings, func(f model.Finding) bool { return f.ID == id })
		if k >= 0 && !slices.ContainsFunc(all, func(f model.Finding) bool { return f.ID == id }) {
			all = append(all, r.Findings[k])
		}
	}
	return all
}

// MainFindings are the findings that the banner is about, root first; nil if
// there is no banner.
func MainFindings(r model.Report) []model.Finding {
	if i := mainIncident(r); i != nil {
		return findingsOf(*i, r)
	}
	return nil
}

// NewOthers are the roots of the window's other incidents, the newest first.
func NewOthers(r model.Report, w Window) []Brief {
	main := mainIncident(r)
	var roots []model.Finding
	for _, i := range incidents(r) {
		if main != nil && i.Root == main.Root {
			continue
		}
		if all := findingsOf(i, r); len(all) > 0 {
			roots = append(roots, all[0])
		}
	}
	return BriefsOf(roots, w)
}
