package storage

import (
	"slices"

	"github.com/prometheus/prometheus/model/labels"
)

// selectSeries takes the matching series' samples in [mint, maxt]. Only slices
// are taken under the lock; the samples are read later.
func (h *head) selectSeries(mint, maxt int64, ms []*labels.Matcher) []series {
	h.mu.RLock()
	defer h.mu.RUnlock()
	var out []series
	h.each(ms, func(e *entry) {
		var parts []part
		for _, c := range e.columns {
			p := part{c.span.times, c.rows, c.vals}
			if p = p.within(mint, maxt); len(p.vals) > 0 {
				parts = append(parts, p)
			}
		}
		if len(parts) > 0 {
			out = append(out, series{e.labels, parts})
		}
	})
	return out
}

// each calls f for every series that matches. The lock must be held.
func (h *head) each(ms []*labels.Matcher, f func(*entry)) {
	if name, ok := nameOf(ms); ok {
		for _, e := range h.byName[name] {
			if matches(e.labels, ms) {
				f(e)
			}
		}
		return
	}
	for _, e := range h.byKey {
		if matches(e.labels, ms) {
			f(e)
		}
	}
}

// labelSets lists the labels of the series that match and have a sample in
// [mint, maxt].
func (h *head) labelSets(mint, maxt int64, ms []*labels.Matcher) []labels.Labels {
	h.mu.RLock()
	defer h.mu.RUnlock()
	var out []labels.Labels
	h.each(ms, func(e *entry) {
		inside := func(c *column) bool {
			n := len(c.rows)
			return n > 0 && c.span.times[c.rows[0]] <= maxt && c.span.times[c.rows[n-1]] >= mint
		}
		if slices.ContainsFunc(e.columns, inside) {
			out = append(out, e.labels)
		}
	})
	return out
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
