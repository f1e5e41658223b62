package storage

import (
	"cmp"
	"slices"

	"stallmark/storage/block"
)

// minute is one span taken out of the head, to be stored as a block.
type minute struct {
	start   int64
	fresh   bool // what is stored from its first time on is to be replaced
	times   []int64
	columns []keyedColumn
}

// keyedColumn is a column with its series' key.
type keyedColumn struct {
	key  string
	rows []uint16
	vals []float64
}

// minute takes the span's slices out.
func (h *head) minute(s *span) minute {
	h.mu.RLock()
	defer h.mu.RUnlock()
	m := minute{s.start, s.fresh, s.times, make([]keyedColumn, 0, len(s.columns))}
	for _, c := range s.columns {
		m.columns = append(m.columns, keyedColumn{c.entry.key, c.rows, c.vals})
	}
	return m
}

// keys lists the keys of the minute's series.
func (m *minute) keys() []string {
	keys := make([]string, len(m.columns))
	for i, c := range m.columns {
		keys[i] = c.key
	}
	return keys
}

// numbered is the minute's columns under the numbers of the dictionary.
func (m *minute) numbered(d *dictionary) []block.Column {
	out := make([]block.Column, 0, len(m.columns))
	for _, c := range m.columns {
		if id, ok := d.ids[c.key]; ok && len(c.vals) > 0 {
			out = append(out, block.Column{ID: id, Rows: c.rows, Vals: c.vals})
		}
	}
	slices.SortFunc(out, func(a, b block.Column) int { return cmp.Compare(a.ID, b.ID) })
	return out
}

// rowsAndColumns is the content of a block.
type rowsAndColumns struct {
	times   []int64
	columns []block.Column
}

// merged is old and new in one. Where both have a sample of a series at the
// same time the new one counts.
func merged(old, fresh rowsAndColumns) rowsAndColumns {
	times := slices.Concat(old.times, fresh.times)
	slices.Sort(times)
	times = slices.Compact(times)
	byID := map[uint32]map[uint16]float64{}
	for _, part := range []rowsAndColumns{old, fresh} {
		for _, c := range part.columns {
			if byID[c.ID] == nil {
				byID[c.ID] = map[uint16]float64{}
			}
			for i, v := range c.Vals {
				row := i
				if c.Rows != nil {
					row = int(c.Rows[i])
				}
				at, _ := slices.BinarySearch(times, part.times[row])
				byID[c.ID][uint16(at)] = v
			}
		}
	}
	out := rowsAndColumns{times: times}
	for id, vals := range byID {
		c := block.Column{ID: id}
		for row := range times {
			if v, ok := vals[uint16(row)]; ok {
				c.Rows, c.Vals = append(c.Rows, uint16(row)), append(c.Vals, v)
			}
		}
		out.columns = append(out.columns, c)
	}
	slices.SortFunc(out.columns, func(a, b block.Column) int { return cmp.Compare(a.ID, b.ID) })
	return out
}

// before is the rows before t.
func (rc rowsAndColumns) before(t int64) rowsAndColumns {
	n, _ := slices.BinarySearch(rc.times, t)
	out := rowsAndColumns{times: rc.times[:n]}
	for _, c := range rc.columns {
		k := min(n, len(c.Vals))
		if c.Rows != nil {
			k, _ = slices.BinarySearch(c.Rows, uint16(n))
			c.Rows = c.Rows[:k]
		}
		if c.Vals = c.Vals[:k]; k > 0 {
			out.columns = append(out.columns, c)
		}
	}
	return out
}
