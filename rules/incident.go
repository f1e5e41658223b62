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
// themselves say they explain. Each incident has a root:
//
//   - the earliest cause whose explanations reach all others; else the cause
//     that reaches most of them; else the earliest finding;
//   - a finding explains only what began, or was first told of by a log, at the
//     earliest 5 s before it;
//   - a finding that another cause of the incident explains is not the root;
//   - an `info` cause gives way to another cause that reaches as little as it does.
//
// Findings that nothing connects stay apart. They come in the order of
// [SortIncidents]. The result depends on the findings alone, not on their order.
func Incidents(findings []model.Finding) []model.Incident {
	fs := slices.Clone(findings)
	sortFindings(fs)
	out := []model.Incident{}
	for _, group := range connected(fs) {
		out = append(out, incidentOf(group, rootOf(group)))
	}
	SortIncidents(out, fs)
	return out
}

// SortIncidents puts the worst incident first: by the worst severity of its
// findings, then open ones, then the root's confidence, then the newest. A
// warning that goes on must not hide the stall of a minute ago. The page and the
// report in the terminal both keep to it.
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
	slices.SortStableFunc(all, func(a, b model.Incident) int {
		return cmp.Or(
			cmp.Compare(severity(a), severity(b)),
			compareBool(a.Ended == nil, b.Ended == nil),
			cmp.Compare(confidence(b), confidence(a)),
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

// connected splits findings into groups that are linked by explanations.
func connected(fs []model.Finding) [][]model.Finding {
	group := make([]int, len(fs))
	for i := range group {
		group[i] = i
	}
	for i := range fs {
		for j := range fs[:i] {
			if group[i] != group[j] && linked(&fs[i], &fs[j]) {
				from, to := group[i], group[j]
				for k := range group {
					if group[k] == from {
						group[k] = to
					}
				}
			}
		}
	}
	var out [][]model.Finding
	place := map[int]int{}
	for i, g := range group {
		if _, seen := place[g]; !seen {
			place[g] = len(out)
			out = append(out, nil)
		}
		out[place[g]] = append(out[place[g]], fs[i])
	}
	return out
}

// linked reports whether one of two findings accounts for the other. That it
// names it is not enough: a disk that has been full of work for an hour is no part
// of the stall that now begins beside it, and a broker that has been slow for an
// hour must not hide the cause that begins now, nor be explained by it.
func linked(a, b *model.Finding) bool { return explains(a, b) || explains(b, a) }

func overlap(a, b *model.Finding) bool {
	return (a.Ended == nil || !a.Ended.Add(slack).Before(b.Started)) &&
		(b.Ended == nil || !b.Ended.Add(slack).Before(a.Started))
}

// explains reports whether a accounts for b directly: it names it, overlaps
// with it and did not begin after it.
func explains(a, b *model.Finding) bool {
	return a.ID != b.ID && slices.Contains(a.Explains, b.Signature) && overlap(a, b) && !late(a, b)
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

// reach marks which findings of the group the one at i accounts for, through
// others too. Through others it must not have begun after them either.
func reach(group []model.Finding, i int) []bool {
	seen := make([]bool, len(group))
	todo := []int{i}
	for len(todo) > 0 {
		at := todo[0]
		todo = todo[1:]
		for j := range group {
			if j != i && !seen[j] && !late(&group[i], &group[j]) && explains(&group[at], &group[j]) {
				seen[j] = true
				todo = append(todo, j)
			}
		}
	}
	return seen
}

// rootOf picks the root of a group, which is sorted by beginning.
func rootOf(group []model.Finding) model.Finding {
	reached := make([][]bool, len(group))
	for i := range group {
		reached[i] = reach(group, i)
	}
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
	return []int{explained, kind, info, -count}
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
