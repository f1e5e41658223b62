package storage

// slab hands out columns of one span from a few large allocations, so that a
// steady beat allocates once a minute and not once a series.
type slab struct {
	columns []column
	vals    []float64
}

// newSlab makes room for n columns of the given rows.
func newSlab(n, rows int) slab {
	return slab{make([]column, n), make([]float64, n*rows)}
}

// column takes the next column, from a further slab if this one is used up.
func (s *slab) column(rows int) *column {
	if len(s.columns) == 0 {
		*s = newSlab(16, rows)
	}
	c := &s.columns[0]
	c.vals = s.vals[:0:rows]
	s.columns, s.vals = s.columns[1:], s.vals[rows:]
	return c
}
