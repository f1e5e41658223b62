package rules

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"stallmark/storage/model"
)

// slack is how exactly beginnings and ends are known.
const slack = 5 * time.Second

// Incidents groups findings that overlap in time (within 5 s) and of which one
// explains the other, directly or through others, by what the findings
// themselves say they explain. Each finding is in the incident of what accounts
// for it best (see [partition]), so two unrelated causes stay two incidents
// though both may explain one symptom. Each incident has a root:
//
//   - the earliest cause whose explanations reach all others; else the cause
//     that reaches most of them; else the earliest finding;
//   - a finding explains only what began, or was first told of by a log, at the
//     earliest 5 s before it;
//   - one that is measured to be independent is explained by nothing;
//   - a finding that another cause of the incident explains is not the root;
//   - of two that reach as many the more severe, then the earlier;
//   - an `info` cause gives way to another cause that reaches as little as it does.
//
// Findings that nothing connects stay apart. They come in the order of
// [SortIncidents]. The result depends on the findings alone, not on their order.
func Incidents(findings []model.Finding) []model.Incident {
	fs := slices.Clone(findings)
	sortFindings(fs)
	out := []model.Incident{}
	for _, group := range partition(fs) {
		out = append(out, incidentOf(group, rootOf(group)))
	}
	SortIncidents(out, fs)
	return out
}

// SortIncidents puts the worst incident first: by the worst severity of its
// findings, then open ones, then the root's confidence, then those whose cause
// has a symptom, then the newest. A warning that goes on must not hide the stall
// of a minute ago. The page and the report in the terminal both keep to it.
func SortIncidents(all []model.Incident, findings []model.Finding) {
	byID := make(map[string]*model.Finding, len(findings))
	for i := range findings {
		byID[findings[i].ID] = &findings[i]
	}
	severity := func(in model.Incident) int {
		worst := severityRank(model.SeverityInfo)
		for _, id := range append([]string{in.Root}, in.Findings...) {
			if f := byID[id]; f != nil {
				worst = min(worst, severityRank(f.Severity))
			}
		}
		return worst
	}
	confidence := func(in model.Incident) int {
		if f := byID[in.Root]; f != nil {
			return slices.Index([]model.Confidence{model.Possible, model.Likely, model.Confirmed}, f.Confidence)
		}
		return -1
	}
	felt := func(in model.Incident) bool {
		return byID[in.Root] != nil && byID[in.Root].Layer == model.LayerCause &&
			slices.ContainsFunc(in.Findings, func(id string) bool { return byID[id] != nil && byID[id].Layer == model.LayerSymptom })
	}
	slices.SortStableFunc(all, func(a, b model.Incident) int {
		return cmp.Or(
			cmp.Compare(severity(a), severity(b)),
			compareBool(a.Ended == nil, b.Ended == nil),
			cmp.Compare(confidence(b), confidence(a)),
			compareBool(felt(a), felt(b)),
			b.Started.Compare(a.Started),
			strings.Compare(a.Root, b.Root),
		)
	})
}

// compareBool puts true first.
func compareBool(a, b bool) int {
	switch {
	case a == b:
		return 0
	case a:
		return -1
	}
	return 1
}

func overlap(a, b *model.Finding) bool {
	return (a.Ended == nil || !a.Ended.Add(slack).Before(b.Started)) &&
		(b.Ended == nil || !b.Ended.Add(slack).Before(a.Started))
}

// explains reports whether a accounts for b directly: it names it, overlaps
// with it and did not begin after it, and b was not measured to be independent.
func explains(a, b *model.Finding) bool {
	return a.ID != b.ID && !b.Independent && slices.Contains(a.Explains, b.Signature) && overlap(a, b) && !late(a, b)
}

// late reports whether a began too late to account for b. What a log tells when it
// is over may have been made so long by what began during it, up to its first line.
func late(a, b *model.Finding) bool {
	latest := b.Started
	if b.Told != nil && b.Told.After(latest) {
		latest = *b.Told
	}
	return a.Started.After(latest.Add(slack))
}

// accounts are the indexes of the findings that each finding explains directly.
func accounts(fs []model.Finding) [][]int {
	out := make([][]int, len(fs))
	for i := range fs {
		for j := range fs {
			if explains(&fs[i], &fs[j]) {
				out[i] = append(out[i], j)
			}
		}
	}
	return out
}

// reach marks, for each finding, those that it accounts for, through others too.
// Through others it must not have begun after them either.
func reach(fs []model.Finding) [][]bool {
	direct := accounts(fs)
	out := make([][]bool, len(fs))
	for i := range fs {
		out[i] = make([]bool, len(fs))
		for todo := []int{i}; len(todo) > 0; todo = todo[1:] {
			for _, j := range direct[todo[0]] {
				if j != i && !out[i][j] && !late(&fs[i], &fs[j]) {
					out[i][j] = true
					todo = append(todo, j)
				}
			}
		}
	}
	return out
}

// rootOf picks the root of a group, which is sorted by beginning.
func rootOf(group []model.Finding) model.Finding {
	reached := reach(group)
	best, bestRank := 0, []int(nil)
	for i := range group {
		if rank := rootRank(group, reached, i); bestRank == nil || slices.Compare(rank, bestRank) < 0 {
			best, bestRank = i, rank
		}
	}
	return group[best]
}

// rootRank orders candidates for the root, the best lowest. Equal ranks leave
// the earlier one.
func rootRank(group []model.Finding, reached [][]bool, i int) []int {
	count := 0
	for _, r := range reached[i] {
		if r {
			count++
		}
	}
	explained := 0
	for j := range group {
		// Two causes that account for each other: the earlier one may be root.
		if reached[j][i] && group[j].Layer == model.LayerCause && !(reached[i][j] && i < j) {
			explained = 1
		}
	}
	kind := 2 // accounts for nothing here
	switch cause := group[i].Layer == model.LayerCause; {
	case cause && count == len(group)-1:
		kind, count = 0, 0 // among these the earliest counts, not the reach
	case cause && count > 0:
		kind = 1
	}
	info := 0 // what may be no trouble at all gives way to what is
	if group[i].Severity == model.SeverityInfo {
		info = 1
	}
	severity := 0 // of causes that account for as much, what is worse
	if kind == 1 {
		severity = severityRank(group[i].Severity)
	}
	return []int{explained, kind, info, -count, severity}
}

// incidentOf lists a group with its root first.
func incidentOf(group []model.Finding, root model.Finding) model.Incident {
	in := model.Incident{Root: root.ID, Findings: []string{root.ID}, Started: group[0].Started}
	var ended *time.Time
	open := false
	for i := range group {
		f := &group[i]
		if f.ID != root.ID {
			in.Findings = append(in.Findings, f.ID)
		}
		switch {
		case f.Ended == nil:
			open = true
		case ended == nil || f.Ended.After(*ended):
			ended = f.Ended
		}
	}
	if !open {
		in.Ended = ended
	}
	return in
}
