package storage

import (
	"maps"
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
	limit   int64         // of bytes: the oldest go beyond it; 0 means none
	bytes   int64         // of all events, about
	dropped time.Time     // start of the newest event that has gone
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
	l.bytes += eventBytes(&e)
	if l.limit > 0 && l.bytes > l.limit {
		l.drop()
	}
}

// drop drops the oldest events, more than are too many: the rest is moved each time.
func (l *eventLog) drop() {
	n := 0
	for ; n < len(l.events) && l.bytes > l.limit-l.limit/8; n++ {
		l.bytes -= eventBytes(&l.events[n])
	}
	l.dropped = l.events[n-1].From
	l.events = slices.Delete(l.events, 0, n)
}

// What an event and an attribute take besides their texts, in bytes, about.
const (
	eventHead = 160
	attrHead  = 48
)

// eventBytes is about what an event takes. A matched line has the lines around it.
func eventBytes(e *model.Event) int64 {
	n := eventHead + len(e.Source) + len(e.Text)
	for k, v := range e.Attrs {
		n += attrHead + len(k) + len(v)
	}
	return int64(n)
}

// since is since when all events are here, given when they began to be put.
func (l *eventLog) since(began time.Time) time.Time {
	l.mu.RLock()
	defer l.mu.RUnlock()
	return later(began, l.dropped.Add(1))
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

// mergeEvents is both lists in the order of their start; what is in both is
// there once.
func mergeEvents(a, b []model.Event) []model.Event {
	var out eventLog
	out.events = slices.Clone(a)
	for _, e := range b {
		if !slices.ContainsFunc(startingAt(a, e.From), func(o model.Event) bool { return sameEvent(o, e) }) {
			out.put(e)
		}
	}
	return out.events
}

// startingAt is the events that start at t.
func startingAt(events []model.Event, t time.Time) []model.Event {
	from := sort.Search(len(events), func(i int) bool { return !events[i].From.Before(t) })
	to := sort.Search(len(events), func(i int) bool { return events[i].From.After(t) })
	return events[from:to]
}

func sameEvent(a, b model.Event) bool {
	return a.From.Equal(b.From) && a.To.Equal(b.To) && a.Kind == b.Kind && a.Source == b.Source &&
		a.Text == b.Text && a.Count == b.Count && maps.Equal(a.Attrs, b.Attrs)
}
