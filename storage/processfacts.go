package storage

import (
	"maps"
	"slices"
	"strings"
	"time"

	"stallmark/storage/model"
)

// Facts of processes come and go with them. Those of processes that have gone
// are bounded in number in memory, and by age in the file. So that age tells,
// facts of processes that are still there are stated again once a day.

// processPrefix begins the keys of facts about a process; its number follows.
const processPrefix = "process."

// maxProcesses is of how many processes memory keeps facts.
const maxProcesses = 256

// processOf is the process that a fact's key is about; empty for none.
func processOf(key string) string {
	rest, ok := strings.CutPrefix(key, processPrefix)
	if !ok {
		return ""
	}
	pid, _, _ := strings.Cut(rest, ".")
	return pid
}

// livePIDs are the processes that have samples in the head.
func (h *head) livePIDs() map[string]bool {
	h.mu.RLock()
	defer h.mu.RUnlock()
	live := map[string]bool{}
	for _, e := range h.byKey {
		if pid := e.labels.Get("pid"); pid != "" {
			live[pid] = true
		}
	}
	return live
}

// tendFacts states the facts of live processes again, and forgets those of the
// processes that have been gone for longest, when there are too many.
func (s *Store) tendFacts() {
	live := s.head.livePIDs()
	now := s.opts.Now().UTC()
	newest := map[string]time.Time{} // of each process that has gone
	s.facts.at(now, func(key string, since time.Time, value string) {
		switch pid := processOf(key); {
		case pid == "":
		case live[pid]:
			s.post(note{Fact: &model.Fact{At: now, Key: key, Value: value}})
		case since.After(newest[pid]) || newest[pid].IsZero():
			newest[pid] = since
		}
	})
	gone := slices.SortedFunc(maps.Keys(newest), func(a, b string) int { return newest[a].Compare(newest[b]) })
	if len(gone) <= maxProcesses {
		return
	}
	drop := map[string]bool{}
	for _, pid := range gone[:len(gone)-maxProcesses] {
		drop[pid] = true
	}
	s.facts.forget(func(key string) bool { return drop[processOf(key)] })
}
