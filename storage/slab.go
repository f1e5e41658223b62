package storage

// slab hands out columns of one span from a few large allocations, so that a
// steady beat allocates once a minute and not once a series.
type slab struct {
	columns []column
	rows    []uint16
	vals    []float64
}

// newSlab makes room for n columns of the given rows.
func newSlab(n, rows int) slab {
	return slab{make([]column, n), make([]uint16, n*rows), make([]float64, n*rows)}
}

// column takes the next column, from a further slab if this one is used up.
func (s *slab) column(rows int) *column {
	if len(s.columns) == 0 {
		*s = newSlab(16, rows)
	}
	c := &s.columns[0]
	c.rows, c.vals = s.rows[:0:rows], s.vals[:0:rows]
	s.columns, s.rows, s.vals = s.columns[1:], s.rows[rows:], s.vals[rows:]
	return c
}
