package storage

import (
	"slices"
)

// cut forgets everything at or after t: the clock has gone back to t, and what
// was recorded as later is about to be recorded again.
func (h *head) cut(t int64) {
	for len(h.spans) > 0 {
		s := h.spans[len(h.spans)-1]
		if s.start+spanMillis <= t {
			return
		}
		if s.times[0] < t {
			h.cutSpan(s, t)
			return
		}
		h.dropColumns(s)
		h.spans = h.spans[:len(h.spans)-1]
	}
}

// cutSpan shortens the span's columns to before t. Readers may hold the old
// slices, so the columns are copied and not written over.
func (h *head) cutSpan(s *span, t int64) {
	rows, _ := slices.BinarySearch(s.times, t)
	s.times = slices.Clone(s.times[:rows])
	for _, c := range s.columns {
		n, _ := slices.BinarySearch(c.rows, uint16(rows))
		c.rows, c.vals, c.own = slices.Clone(c.rows[:n]), slices.Clone(c.vals[:n]), true
	}
}

// drop forgets the oldest spans while the test says so.
func (h *head) drop(old func(*span) bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	n := 0
	for n < len(h.spans) && old(h.spans[n]) {
		h.dropColumns(h.spans[n])
		n++
	}
	if n == 0 {
		return
	}
	h.spans = slices.Delete(h.spans, 0, n)
	h.forgetEntries()
}

// remove forgets one span, if it is still there.
func (h *head) remove(s *span) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if last, some := h.last(); some {
		h.after = last
	}
	i := slices.Index(h.spans, s)
	if i < 0 {
		return
	}
	h.dropColumns(s)
	h.spans = slices.Delete(h.spans, i, i+1)
	h.forgetEntries()
}

// newest is the span that is being filled; nil if there is none.
func (h *head) newest() *span {
	h.mu.RLock()
	defer h.mu.RUnlock()
	if len(h.spans) == 0 {
		return nil
	}
	return h.spans[len(h.spans)-1]
}

// dropColumns takes the span's columns from their series.
func (h *head) dropColumns(s *span) {
	for _, c := range s.columns {
		e := c.entry
		e.columns = slices.DeleteFunc(e.columns, func(o *column) bool { return o == c })
	}
	h.bytes -= s.bytes
}

// forgetEntries drops the series that have no samples left, and pointers to
// series beyond what a well-behaved source needs.
func (h *head) forgetEntries() {
	gone := func(e *entry) bool { return len(e.columns) == 0 }
	removed := false
	for key, e := range h.byKey {
		if gone(e) {
			delete(h.byKey, key)
			removed = true
		}
	}
	if len(h.byPtr) > 4*len(h.byKey)+1024 {
		clear(h.byPtr)
	}
	if !removed {
		return
	}
	for name, es := range h.byName {
		if es = slices.DeleteFunc(es, gone); len(es) == 0 {
			delete(h.byName, name)
		} else {
			h.byName[name] = es
		}
	}
	for p, e := range h.byPtr {
		if gone(e) {
			delete(h.byPtr, p)
		}
	}
	h.order = h.order[:0]
	clear(h.order[:cap(h.order)])
}
