package pagecache

import (
	"cmp"
	"slices"
	"time"

	"stallmark/collectors/process"
)

// job is one file to look at.
type job struct {
	id   process.ID
	key  fileKey
	path string // absolute, as the process sees it
}

// limits bound one pass.
type limits struct {
	files int
	bytes int64 // of files, not of memory
}

// choose picks the files of a pass: at most half of them from the ends of the
// logs, messages before their indexes; then whatever was not looked at for
// longest. Among equals those not looked at for longest go first, so that
// everything gets its turn; and the two halves take turns too, should the time
// of the pass not do for all.
func choose(all []candidate, l limits) []job {
	slices.SortFunc(all, func(a, b candidate) int {
		return cmp.Or(compareBool(b.end, a.end), cmp.Compare(a.order, b.order), a.tried.Compare(b.tried), cmp.Compare(a.path, b.path))
	})
	ends := slices.IndexFunc(all, func(c candidate) bool { return !c.end })
	if ends < 0 {
		ends = len(all)
	}
	ends = min(ends, (l.files+1)/2)
	first, rest := all[:ends], all[ends:]
	slices.SortFunc(rest, func(a, b candidate) int {
		return cmp.Or(a.tried.Compare(b.tried), cmp.Compare(a.order, b.order), cmp.Compare(a.path, b.path))
	})
	var jobs []job
	for len(jobs) < l.files && l.bytes > 0 && len(first)+len(rest) > 0 {
		from := &first
		if len(first) == 0 || len(jobs)%2 == 1 && len(rest) > 0 {
			from = &rest
		}
		c := (*from)[0]
		*from = (*from)[1:]
		jobs = append(jobs, c.job)
		l.bytes -= c.size
	}
	return jobs
}

// candidate is a file that could be looked at.
type candidate struct {
	job
	end   bool // of its log
	order int  // of its kind, and the newer first
	size  int64
	tried time.Time
}

// candidates are all known files of a broker.
func (b *broker) candidates() []candidate {
	all := make([]candidate, 0, len(b.files))
	for k, r := range b.files {
		all = append(all, candidate{
			job:   job{b.ID, k, k.store + "/" + k.path},
			end:   r.rank < r.ahead,
			order: importance[r.kind]<<32 + r.rank,
			size:  r.reading.size,
			tried: r.tried,
		})
	}
	return all
}

// importance orders the kinds.
var importance = map[Kind]int{CommitLog: 0, Log: 0, ConsumeQueue: 1, Index: 2, Other: 3}

func compareBool(a, b bool) int {
	switch {
	case a == b:
		return 0
	case a:
		return 1
	}
	return -1
}
