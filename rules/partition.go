package rules

import (
	"slices"
	"time"

	"stallmark/storage/model"
)

// partition splits findings, sorted by beginning, into the groups that become
// incidents. What several findings explain goes to the one that fits best:
//
//   - one that leads back to a cause before one that does not;
//   - then by how bad that cause is: what has been a warning all day does not take
//     the symptoms of the stall of now;
//   - then one whose span covers what it explains: as far as is known, it had begun
//     before and did not end before;
//   - then the earliest cause; of causes that began within 5 s of each other, which
//     is how exactly beginnings are known, the one that accounts for most.
//
// Of two findings that account for each other the earlier one is the head.
func partition(fs []model.Finding) [][]model.Finding {
	p := parting{fs: fs, reached: reach(fs), heads: slices.Repeat([]int{-1}, len(fs))}
	var out [][]model.Finding
	place := map[int]int{}
	for i := range fs {
		head := p.head(i)
		if _, seen := place[head]; !seen {
			place[head] = len(out)
			out = append(out, nil)
		}
		out[place[head]] = append(out[place[head]], fs[i])
	}
	return out
}

// parting is the state of one [partition].
type parting struct {
	fs      []model.Finding
	reached [][]bool // by the finding that accounts for the other
	heads   []int    // -1 until known
}

// head is where the finding at i leads back to: what no other accounts for.
func (p *parting) head(i int) int {
	if p.heads[i] >= 0 {
		return p.heads[i]
	}
	var fits []fit
	for j := range p.fs {
		// A ring is cut at its earliest finding, which reaches all of it.
		mutual := p.reached[i][j] && i < j
		if p.reached[j][i] && !mutual && explains(&p.fs[j], &p.fs[i]) {
			fits = append(fits, p.fit(j, i))
		}
	}
	p.heads[i] = i
	if len(fits) > 0 {
		p.heads[i] = best(fits).head
	}
	return p.heads[i]
}

// fit says how well an explanation fits.
type fit struct {
	head    int
	rank    []int // the best lowest
	started time.Time
	count   int // findings that the head accounts for
}

// fit is that of the finding at j as the explanation of the one at i.
func (p *parting) fit(j, i int) fit {
	out := fit{head: p.head(j)}
	head := &p.fs[out.head]
	out.started = head.Started
	for _, r := range p.reached[out.head] {
		if r {
			out.count++
		}
	}
	out.rank = []int{1, severityRank(head.Severity), 1}
	if head.Layer == model.LayerCause {
		out.rank[0] = 0
	}
	if covers(&p.fs[j], &p.fs[i]) {
		out.rank[2] = 0
	}
	return out
}

// covers reports whether a did not end before b, within the slack.
func covers(a, b *model.Finding) bool {
	return a.Ended == nil || b.Ended != nil && !a.Ended.Add(slack).Before(*b.Ended)
}

// best picks the best of some fits, which are in the order of their findings.
func best(fits []fit) fit {
	compare := func(a, b fit) int { return slices.Compare(a.rank, b.rank) }
	rank := slices.MinFunc(fits, compare)
	fits = slices.DeleteFunc(fits, func(f fit) bool { return compare(f, rank) != 0 })
	earliest := slices.MinFunc(fits, func(a, b fit) int { return a.started.Compare(b.started) })
	best := earliest
	for _, f := range fits {
		if f.count > best.count && !f.started.After(earliest.started.Add(slack)) {
			best = f
		}
	}
	return best
}
