package storage

import (
	"slices"
	"time"
)

// beatRow is one row of the head, taken out to be encoded.
type beatRow struct {
	seq   uint64
	at    int64
	fresh bool
	vals  []beatValue
}

// row takes the first row whose number is at least seq into r, reusing its
// slice. It is false if there is none.
func (h *head) row(seq uint64, r *beatRow) bool {
	h.mu.RLock()
	defer h.mu.RUnlock()
	for _, s := range h.spans {
		if seq >= s.first+uint64(len(s.times)) {
			continue
		}
		row := 0
		if seq > s.first {
			row = int(seq - s.first)
		}
		s.take(row, r)
		return true
	}
	return false
}

// waiting is how much time lies between the first row whose number is at least
// seq and the newest row.
func (h *head) waiting(seq uint64) time.Duration {
	h.mu.RLock()
	defer h.mu.RUnlock()
	last, _ := h.last()
	for _, s := range h.spans {
		if seq < s.first+uint64(len(s.times)) {
			return time.Duration(last-s.times[max(seq, s.first)-s.first]) * time.Millisecond
		}
	}
	return 0
}

// take takes a row of the span.
func (s *span) take(row int, r *beatRow) {
	r.seq, r.at = s.first+uint64(row), s.times[row]
	r.fresh = s.fresh && row == 0
	r.vals = r.vals[:0]
	for _, c := range s.columns {
		if i, ok := c.find(uint16(row)); ok {
			r.vals = append(r.vals, beatValue{c.entry, c.vals[i]})
		}
	}
}

// find is the index of the row's value. Most columns have every row.
func (c *column) find(row uint16) (int, bool) {
	if i := int(row); i < len(c.rows) && c.rows[i] == row {
		return i, true
	}
	return slices.BinarySearch(c.rows, row)
}
