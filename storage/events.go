package storage

import (
	"slices"
	"sort"
	"sync"
	"time"

	"stallmark/storage/model"
)

// eventLog holds events in the order of their start.
type eventLog struct {
	mu      sync.RWMutex
	events  []model.Event
	longest time.Duration // of all events that were ever put
}

// put adds an event. Most are newer than all before.
func (l *eventLog) put(e model.Event) {
	if e.To.Before(e.From) {
		e.To = e.From
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.longest = max(l.longest, e.To.Sub(e.From))
	i := len(l.events)
	for i > 0 && l.events[i-1].From.After(e.From) {
		i--
	}
	l.events = slices.Insert(l.events, i, e)
}

// in lists the events of the kinds that overlap [from, to].
func (l *eventLog) in(from, to time.Time, kinds []model.EventKind) []model.Event {
	l.mu.RLock()
	defer l.mu.RUnlock()
	earliest := from.Add(-l.longest)
	first := sort.Search(len(l.events), func(i int) bool { return !l.events[i].From.Before(earliest) })
	var out []model.Event
	for _, e := range l.events[first:] {
		if e.From.After(to) {
			break
		}
		if !e.To.Before(from) && (len(kinds) == 0 || slices.Contains(kinds, e.Kind)) {
			out = append(out, e)
		}
	}
	return out
}
