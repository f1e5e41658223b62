package storage

import (
	"math"
	"slices"

	"github.com/prometheus/prometheus/model/labels"
)

// selectSeries takes the matching series' samples in [mint, maxt]. From is the
// time of the head's oldest row: what is older is not here. Only slices are
// taken under the lock; the samples are read later.
func (h *head) selectSeries(mint, maxt int64, ms []*labels.Matcher) (out []series, from int64) {
	h.mu.RLock()
	defer h.mu.RUnlock()
	h.each(ms, func(e *entry) {
		var parts []part
		for _, c := range e.since(mint) {
			p := part{times: c.span.times, rows: c.rows, vals: c.vals}
			if p = p.within(mint, maxt); len(p.vals) > 0 {
				parts = append(parts, p)
			}
		}
		if len(parts) > 0 {
			out = append(out, series{key: e.key, labels: e.labels, parts: parts})
		}
	})
	return out, h.from()
}

// since is the series' columns but for the oldest, which end before mint: most
// questions are about the last seconds.
func (e *entry) since(mint int64) []*column {
	i := len(e.columns)
	for i > 0 && !e.columns[i-1].endsBefore(mint) {
		i--
	}
	return e.columns[i:]
}

// endsBefore reports whether the column's last value is older than t.
func (c *column) endsBefore(t int64) bool {
	n := len(c.rows)
	return n > 0 && c.span.times[c.rows[n-1]] < t
}

// from is the time of the oldest row, the end of time without any. The lock
// must be held.
func (h *head) from() int64 {
	if len(h.spans) == 0 {
		return math.MaxInt64
	}
	return h.spans[0].times[0]
}

// each calls f for every series that matches. There are far fewer names than
// series, and nearly every question asks for one name or a few. The lock must
// be held.
func (h *head) each(ms []*labels.Matcher, f func(*entry)) {
	each := func(name string) {
		for _, e := range h.byName[name] {
			if matches(e.labels, ms) {
				f(e)
			}
		}
	}
	if name, ok := nameOf(ms); ok {
		each(name)
		return
	}
	if names := namesOf(ms); len(names) > 0 {
		for i, name := range names {
			if !slices.Contains(names[:i], name) { // of a|b|a
				each(name)
			}
		}
		return
	}
	for name := range h.byName {
		if matchesName(name, ms) {
			each(name)
		}
	}
}

// labelSets lists the labels of the series that match and have a sample in
// [mint, maxt]. From is as in selectSeries.
func (h *head) labelSets(mint, maxt int64, ms []*labels.Matcher) (out []labels.Labels, from int64) {
	h.mu.RLock()
	defer h.mu.RUnlock()
	h.each(ms, func(e *entry) {
		if slices.ContainsFunc(e.columns, func(c *column) bool { return c.overlaps(mint, maxt) }) {
			out = append(out, e.labels)
		}
	})
	return out, h.from()
}

// extent is the time of the oldest and newest row; ok is false without any.
func (h *head) extent() (oldest, newest int64, ok bool) {
	h.mu.RLock()
	defer h.mu.RUnlock()
	newest, ok = h.last()
	if !ok {
		return 0, 0, false
	}
	return h.spans[0].times[0], newest, true
}

// recent takes the matching samples of the selection, span by span. From is the
// time of the head's oldest row; some is false if it has none.
func (h *head) recent(q selection) (spans []minute, from int64, some bool) {
	h.mu.RLock()
	defer h.mu.RUnlock()
	if len(h.spans) == 0 {
		return nil, 0, false
	}
	from = h.spans[0].times[0]
	at := map[*span]int{}
	for i, s := range h.spans {
		from = min(from, s.times[0])
		at[s] = i
	}
	spans = make([]minute, len(h.spans))
	h.each(q.matchers, func(e *entry) {
		for _, c := range e.columns {
			p := part{times: c.span.times, rows: c.rows, vals: c.vals}
			if p = p.within(q.mint, q.maxt); len(p.vals) > 0 {
				m := &spans[at[c.span]]
				m.times = c.span.times
				m.columns = append(m.columns, keyedColumn{e.key, p.rows, p.vals})
			}
		}
	})
	return spans, from, true
}

// keys lists the keys of the series that match and have a sample in
// [mint, maxt].
func (h *head) keys(mint, maxt int64, ms []*labels.Matcher) (keys []string) {
	h.mu.RLock()
	defer h.mu.RUnlock()
	h.each(ms, func(e *entry) {
		if slices.ContainsFunc(e.columns, func(c *column) bool { return c.overlaps(mint, maxt) }) {
			keys = append(keys, e.key)
		}
	})
	return keys
}

// overlaps reports whether the column has rows around or in [mint, maxt].
func (c *column) overlaps(mint, maxt int64) bool {
	n := len(c.rows)
	return n > 0 && c.span.times[c.rows[0]] <= maxt && c.span.times[c.rows[n-1]] >= mint
}
