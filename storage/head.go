package storage

import (
	"slices"
	"sync"
	"time"

	"github.com/prometheus/prometheus/model/labels"

	"stallmark/storage/model"
)

const (
	spanMillis = 60_000 // length of a span, and of a block; aligned to the minute
	maxRows    = 1 << 16
)

// spanStart is the start of the span that t falls in.
func spanStart(t int64) int64 { return alignDown(t, spanMillis) }

// alignDown is the greatest multiple of width that is not after t, before 1970
// too.
func alignDown(t, width int64) int64 {
	start := t - t%width
	if start > t {
		start -= width
	}
	return start
}

// head holds the newest samples in memory, span by span: one time column for
// all series and one value column for each. The lock is held for tens of
// microseconds: readers take slices out of the columns and read them outside.
type head struct {
	rows int // expected in a span

	mu     sync.RWMutex
	spans  []*span // oldest first
	byKey  map[string]*entry
	byPtr  map[*model.Series]*entry
	byName map[string][]*entry
	order  []slot   // of the previous beat: the next one is nearly always the same
	fresh  int64    // time of the last beat that did not continue the one before
	after  int64    // time of the last beat before the head began
	seq    uint64   // of the next row
	bytes  int64    // of all columns
	all    []uint16 // 0, 1, 2 ...: the rows of every column that has had a value in each; never written again
	key    []byte   // scratch
}

// span is one minute of beats.
type span struct {
	start   int64  // milliseconds
	first   uint64 // sequence number of the first row
	fresh   bool   // does not continue what was before: the recorder began, or the clock went back
	times   []int64
	columns []*column
	bytes   int64
	slab    slab
}

// column is the values of one series in one span, as in [part].
type column struct {
	span  *span
	entry *entry
	rows  []uint16
	vals  []float64
	own   bool // rows are its own, not the head's
}

// entry is one series of the head.
type entry struct {
	key     string
	labels  labels.Labels
	columns []*column // oldest first
}

type slot struct {
	series *model.Series
	entry  *entry
}

// newHead makes a head that expects a beat each interval.
func newHead(interval time.Duration) *head {
	if interval <= 0 {
		interval = time.Second
	}
	rows := int(spanMillis/max(interval.Milliseconds(), 1)) + 2
	return &head{
		rows:   min(rows, maxRows),
		byKey:  map[string]*entry{},
		byPtr:  map[*model.Series]*entry{},
		byName: map[string][]*entry{},
	}
}

// last is the time of the newest row. The lock must be held.
func (h *head) last() (int64, bool) {
	if len(h.spans) == 0 {
		return 0, false
	}
	times := h.spans[len(h.spans)-1].times
	return times[len(times)-1], true
}

// taken says what became of a beat.
type taken int

const (
	beatTaken   taken = iota
	beatRefused       // not newer than the one before
	beatStepped       // taken, after the clock went back
)

// stepBack is by how much the clock must go back to be believed. Less is
// waited out: the beats in between are lost.
const stepBack = 5_000

// append adds one beat.
func (h *head) append(b model.Batch) taken {
	h.mu.Lock()
	defer h.mu.Unlock()
	last, some := h.last()
	switch {
	case !some || b.At > last:
		return h.add(b, !some)
	case last-b.At < stepBack:
		return beatRefused
	}
	h.cut(b.At)
	if h.add(b, true) == beatRefused {
		return beatRefused
	}
	return beatStepped
}

// appendFrom adds a beat of a stream, which says itself whether it continues
// what was before. Beats that are there already are refused.
func (h *head) appendFrom(b model.Batch, fresh bool) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	last, some := h.last()
	if !some {
		last = h.after
	}
	if b.At <= last {
		if !fresh || b.At == h.fresh {
			return false
		}
		h.cut(b.At)
	}
	return h.add(b, fresh) == beatTaken
}

// add adds the samples as a new row.
func (h *head) add(b model.Batch, fresh bool) taken {
	s := h.spanFor(b.At, fresh)
	if len(s.times) >= maxRows {
		return beatRefused
	}
	if fresh {
		h.fresh = b.At
	}
	row := uint16(len(s.times))
	s.times = append(s.times, b.At)
	for i := range b.Samples {
		h.put(s, row, i, &b.Samples[i])
	}
	h.order = h.order[:len(b.Samples)]
	grown := 8 + int64(len(b.Samples))*sampleBytes
	s.bytes += grown
	h.bytes += grown
	h.seq++
	return beatTaken
}

// sampleBytes is what a sample takes in a column that has one in each row.
const sampleBytes = 8

// put appends sample i of a beat to its column.
func (h *head) put(s *span, row uint16, i int, sample *model.Sample) {
	if i >= len(h.order) {
		h.order = append(h.order, slot{})
	}
	at := &h.order[i]
	if at.series != sample.Series {
		*at = slot{sample.Series, h.entryOf(sample.Series)}
	}
	c := h.columnOf(at.entry, s)
	if n := len(c.rows); n > 0 && c.rows[n-1] == row {
		c.vals[n-1] = sample.Value // twice in one beat: the last one counts
		return
	}
	h.addRow(c, row)
	c.vals = append(c.vals, sample.Value)
}

// addRow notes that the column has a value in this row. As long as that is so for
// each, its rows are the first of those that all columns share.
func (h *head) addRow(c *column, row uint16) {
	n := len(c.rows)
	switch {
	case c.own:
		c.rows = append(c.rows, row)
	case int(row) == n:
		c.rows = h.firstRows(n + 1)
	default:
		c.rows = append(slices.Clone(c.rows), row)
		c.own = true
	}
}

// firstRows is the first n rows.
func (h *head) firstRows(n int) []uint16 {
	if n > len(h.all) {
		h.all = make([]uint16, min(max(2*n, h.rows), maxRows))
		for i := range h.all {
			h.all[i] = uint16(i)
		}
	}
	return h.all[:n:n]
}

// entryOf finds the entry of a series by pointer, then by key, or makes it.
func (h *head) entryOf(s *model.Series) *entry {
	if e := h.byPtr[s]; e != nil {
		return e
	}
	h.key = appendKey(h.key[:0], s)
	e := h.byKey[string(h.key)]
	if e == nil {
		e = h.addEntry(string(h.key))
	}
	h.byPtr[s] = e
	return e
}

// addEntry makes the entry of a new series.
func (h *head) addEntry(key string) *entry {
	lbls, _ := keyLabels(key) // of our own making: it is well formed
	e := &entry{key: key, labels: lbls}
	h.byKey[key] = e
	name := lbls.Get(metricName)
	h.byName[name] = append(h.byName[name], e)
	return e
}

// columnOf is the series' column in the span, made if need be.
func (h *head) columnOf(e *entry, s *span) *column {
	if n := len(e.columns); n > 0 && e.columns[n-1].span == s {
		return e.columns[n-1]
	}
	c := s.slab.column(h.rows)
	c.span, c.entry = s, e
	e.columns = append(e.columns, c)
	s.columns = append(s.columns, c)
	return c
}

// spanFor is the span of time t: the last one, or a new one.
func (h *head) spanFor(t int64, fresh bool) *span {
	start, width := spanStart(t), 64
	if n := len(h.spans); n > 0 {
		s := h.spans[n-1]
		if s.start == start && !fresh {
			return s
		}
		width = len(s.columns) + 8
	}
	s := &span{
		start: start, first: h.seq, fresh: fresh,
		times:   make([]int64, 0, h.rows),
		columns: make([]*column, 0, width),
		slab:    newSlab(width, h.rows),
	}
	h.spans = append(h.spans, s)
	return s
}
