package storage

import (
	"cmp"
	"slices"

	"stallmark/storage/block"
)

// minute is one span taken out of the head, to be stored as a block.
type minute struct {
	start   int64
	fresh   bool // it does not continue what was before
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
	if len(old.times) == 0 {
		return fresh
	}
	times := slices.Concat(old.times, fresh.times)
	slices.Sort(times)
	times = slices.Compact(times)
	columns := map[uint32]*block.Column{}
	for _, c := range old.columns {
		columns[c.ID] = &block.Column{ID: c.ID, Rows: rowsIn(times, old.times, c), Vals: c.Vals}
	}
	for _, c := range fresh.columns {
		rows := rowsIn(times, fresh.times, c)
		if was := columns[c.ID]; was != nil {
			columns[c.ID] = mergedColumn(*was, rows, c.Vals)
		} else {
			columns[c.ID] = &block.Column{ID: c.ID, Rows: rows, Vals: c.Vals}
		}
	}
	out := rowsAndColumns{times: times, columns: make([]block.Column, 0, len(columns))}
	for _, c := range columns {
		out.columns = append(out.columns, *c)
	}
	slices.SortFunc(out.columns, func(a, b block.Column) int { return cmp.Compare(a.ID, b.ID) })
	return out
}

// rowsIn is the column's rows as rows of all, which has every time of times.
func rowsIn(all, times []int64, c block.Column) []uint16 {
	out := make([]uint16, len(c.Vals))
	next := 0
	for i := range out {
		row := i
		if c.Rows != nil {
			row = int(c.Rows[i])
		}
		for all[next] != times[row] {
			next++
		}
		out[i] = uint16(next)
	}
	return out
}

// mergedColumn adds values at ascending rows.
func mergedColumn(was block.Column, rows []uint16, vals []float64) *block.Column {
	out := &block.Column{
		ID:   was.ID,
		Rows: make([]uint16, 0, len(was.Rows)+len(rows)), Vals: make([]float64, 0, len(was.Rows)+len(rows)),
	}
	i := 0
	put := func(row uint16, v float64) { out.Rows, out.Vals = append(out.Rows, row), append(out.Vals, v) }
	for j, row := range rows {
		for ; i < len(was.Rows) && was.Rows[i] < row; i++ {
			put(was.Rows[i], was.Vals[i])
		}
		if i < len(was.Rows) && was.Rows[i] == row {
			i++
		}
		put(row, vals[j])
	}
	for ; i < len(was.Rows); i++ {
		put(was.Rows[i], was.Vals[i])
	}
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
