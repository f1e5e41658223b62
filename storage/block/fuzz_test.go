package block

import (
	"encoding/binary"
	"errors"
	"math"
	"slices"
	"testing"

	"stallmark/storage/internal/capture"
)

// FuzzOpen feeds hostile bytes: no panic, no allocation beyond what the bytes
// can be worth, and an error or a block that is consistent.
func FuzzOpen(f *testing.F) {
	times, columns := columnsOf(f, capture.DirtyThrottle)
	whole := NewEncoder().Encode(nil, times, columns[:40])
	f.Add(whole)
	f.Add(whole[:len(whole)/2])
	f.Add([]byte{Version})
	f.Add([]byte{Version + 1, 0, 0, 0, 0, 0, 0, 0, 0})
	f.Add(NewEncoder().Encode(nil, nil, nil))
	dec := NewDecoder()
	f.Cleanup(dec.Close)
	f.Fuzz(func(t *testing.T, data []byte) {
		b, err := Open(data)
		if err != nil {
			if !errors.Is(err, errDamaged) && !errors.Is(err, ErrNewer) {
				t.Errorf("error %v is of no kind", err)
			}
			return
		}
		n := 0
		err = dec.Columns(b, func(id uint32) bool { return id%7 == 0 && n < 100 }, func(c Column) {
			n++
			checkShape(t, c, len(b.Times))
		})
		if err != nil && !errors.Is(err, errDamaged) {
			t.Errorf("error %v is of no kind", err)
		}
	})
}

// checkShape checks what a reader of columns relies on.
func checkShape(t *testing.T, c Column, rows int) {
	t.Helper()
	if c.Rows == nil && len(c.Vals) > rows || c.Rows != nil && len(c.Rows) != len(c.Vals) {
		t.Errorf("%d values at %d of %d rows", len(c.Vals), len(c.Rows), rows)
	}
	if !slices.IsSorted(c.Rows) || len(c.Rows) > 0 && int(c.Rows[len(c.Rows)-1]) >= rows {
		t.Errorf("rows %v of %d", c.Rows, rows)
	}
}

// FuzzFrame does the same behind the checksums.
func FuzzFrame(f *testing.F) {
	_, columns := columnsOf(f, capture.Idle)
	f.Add(NewEncoder().frame(columns[:20], 60), uint16(60))
	f.Add([]byte{2, 0xff, 0xff}, uint16(3))
	f.Fuzz(func(t *testing.T, raw []byte, rows uint16) {
		rows %= 700
		dec := newDecoder(raw, int(rows))
		for i := range 200 {
			if i%3 == 0 {
				dec.skip()
				continue
			}
			c, err := dec.column()
			if err != nil {
				return
			}
			checkShape(t, c, int(rows))
		}
	})
}

// FuzzColumn checks that any values at any rows come back bit by bit.
func FuzzColumn(f *testing.F) {
	seed := func(vals ...float64) {
		var b []byte
		for _, v := range vals {
			b = binary.LittleEndian.AppendUint64(b, math.Float64bits(v))
		}
		f.Add(b, uint64(0))
	}
	seed(oddValues...)
	seed(1, 2, 3, 4, 5, 6)
	seed(0.1, 0.2, 0.1+0.2, 0.3)
	f.Add([]byte("values of eight bytes each......"), uint64(5))
	enc, dec := NewEncoder(), NewDecoder()
	f.Cleanup(dec.Close)
	f.Fuzz(func(t *testing.T, data []byte, gaps uint64) {
		c := Column{ID: 9}
		row := 0
		for len(data) >= 8 && row < 500 {
			if gaps>>(row%64)&1 == 0 {
				c.Rows = append(c.Rows, uint16(row))
				c.Vals = append(c.Vals, math.Float64frombits(binary.LittleEndian.Uint64(data)))
				data = data[8:]
			}
			row++
		}
		times := make([]int64, row)
		for i := range times {
			times[i] = int64(i) * 997
		}
		checkWith(t, enc, dec, times, []Column{c})
	})
}
