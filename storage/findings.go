package storage

import (
	"cmp"
	"slices"
	"sync"
	"time"

	"stallmark/storage/model"
)

// findingSet holds findings by ID.
type findingSet struct {
	mu   sync.RWMutex
	byID map[string]model.Finding

	limit   int       // the oldest that have ended go beyond it; 0 means none
	dropped time.Time // latest end of those that have gone
}

// put adds or replaces a finding.
func (s *findingSet) put(f model.Finding) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.byID == nil {
		s.byID = map[string]model.Finding{}
	}
	s.byID[f.ID] = f
	if s.limit > 0 && len(s.byID) > s.limit {
		s.dropSome()
	}
}

// putOld adds a finding unless a newer state of it is there.
func (s *findingSet) putOld(f model.Finding) {
	if _, ok := s.get(f.ID); !ok {
		s.put(f)
	}
}

// dropSome forgets an eighth of the findings, those that ended first.
func (s *findingSet) dropSome() {
	var ended []model.Finding
	for _, f := range s.byID {
		if !ongoing(f) {
			ended = append(ended, f)
		}
	}
	slices.SortFunc(ended, func(a, b model.Finding) int { return a.Ended.Compare(*b.Ended) })
	for _, f := range ended[:min(len(ended), s.limit/8)] {
		delete(s.byID, f.ID)
		s.dropped = *f.Ended
	}
}

// since is since when all findings are here, given when they began to be put.
func (s *findingSet) since(began time.Time) time.Time {
	s.mu.RLock()
	defer s.mu.RUnlock()
	return later(began, s.dropped.Add(1))
}

// get finds by ID.
func (s *findingSet) get(id string) (model.Finding, bool) {
	s.mu.RLock()
	defer s.mu.RUnlock()
	f, ok := s.byID[id]
	return f, ok
}

// in lists the findings that overlap [from, to], by their start and then ID.
func (s *findingSet) in(from, to time.Time) []model.Finding {
	s.mu.RLock()
	defer s.mu.RUnlock()
	var out []model.Finding
	for _, f := range s.byID {
		if overlaps(f, from, to) {
			out = append(out, f)
		}
	}
	sortFindings(out)
	return out
}

// overlaps reports whether the finding was there in [from, to].
func overlaps(f model.Finding, from, to time.Time) bool {
	return !f.Started.After(to) && (ongoing(f) || !f.Ended.Before(from))
}

// ongoing reports whether the finding may still go on: its end may be known
// before it is resolved.
func ongoing(f model.Finding) bool { return f.Ended == nil || f.State == model.StateFiring }

func sortFindings(fs []model.Finding) {
	slices.SortFunc(fs, func(a, b model.Finding) int {
		if c := a.Started.Compare(b.Started); c != 0 {
			return c
		}
		return cmp.Compare(a.ID, b.ID)
	})
}
