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

// Other are further incidents of a window that have the same root signature.
type Other struct {
	Brief // of the worst of them
	Text  string
}

// othersShown is how many kinds of further incidents are named.
const othersShown = 6

// NewOthers are the window's other incidents, the worst first, those of one
// signature and about one thing together; more is how many are not named.
func NewOthers(r model.Report, w Window) (out []Other, more int) {
	main := mainIncident(r)
	var groups [][]Brief
	place := map[string]int{}
	for _, i := range incidents(r) {
		all := findingsOf(i, r)
		if len(all) == 0 || main != nil && i.Root == main.Root {
			continue
		}
		b := incidentBrief(i, all, w)
		key := b.Signature + "\x00" + b.Subject
		k, known := place[key]
		if !known {
			k = len(groups)
			place[key] = k
			groups = append(groups, nil)
		}
		groups[k] = append(groups[k], b)
	}
	for i, g := range groups {
		if i >= othersShown {
			more += len(g)
			continue
		}
		o := Other{g[0], otherWords(g[0])}
		if len(g) > 1 {
			o.Text = count(len(g), "time", "times") + ", the worst " + o.Text
			o.Link = w.Link("incidents")
		}
		out = append(out, o)
	}
	return out, more
}
