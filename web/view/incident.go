package view

import (
	"slices"

	"stallmark/storage/model"
)

// mainIncident is the one that the banner is about: lasting before ended,
// critical before others, then the latest. Findings of severity info and
// pending ones make no banner.
func mainIncident(r model.Report) *model.Incident {
	var best *model.Incident
	var bestRank []int64
	for _, i := range incidents(r) {
		rank, ok := rankOf(i, r)
		if ok && (best == nil || slices.Compare(rank, bestRank) > 0) {
			best, bestRank = &i, rank
		}
	}
	return best
}

// incidents are the report's, and each finding that is in none of them as one
// of its own: nothing that fired may be missing from the page.
func incidents(r model.Report) []model.Incident {
	all := slices.Clone(r.Incidents)
	for _, f := range r.Findings {
		if !slices.ContainsFunc(all, func(i model.Incident) bool { return i.Root == f.ID || slices.Contains(i.Findings, f.ID) }) {
			all = append(all, model.Incident{Root: f.ID, Findings: []string{f.ID}, Started: f.Started, Ended: f.Ended})
		}
	}
	return all
}

func rankOf(i model.Incident, r model.Report) ([]int64, bool) {
	all := findingsOf(i, r)
	if len(all) == 0 || !slices.ContainsFunc(all, bannerWorthy) {
		return nil, false
	}
	kind := kindOf(all)
	order := []VerdictKind{Warned, Stalled, Warning, Stalling}
	return []int64{int64(slices.Index(order, kind)), certainty(all[0].Confidence), i.Started.UnixMilli()}, true
}

func bannerWorthy(f model.Finding) bool {
	return f.Severity != model.SeverityInfo && f.State != model.StatePending
}

func certainty(c model.Confidence) int64 {
	return int64(slices.Index([]model.Confidence{model.Possible, model.Likely, model.Confirmed}, c))
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
