package block

import (
	"encoding/binary"
	"math"
	"math/bits"
	"slices"
)

// Column is the values of one series in a block. Rows are the indexes into the
// block's times at which there is a value, ascending; nil means every row.
type Column struct {
	ID   uint32
	Rows []uint16
	Vals []float64
}

// form is how a column's values are stored.
type form byte

const (
	formConst  form = iota // all the same
	formDelta              // whole numbers: differences
	formDelta2             // whole numbers: differences of differences
	formXOR                // bits, each xor the one before
)

// The first byte of a stored column: form, flags and scale.
const (
	formMask   = 0x03
	flagRows   = 0x04 // rows are listed
	flagOdd    = 0x08 // some values are no decimals, and are listed
	flagOff    = 0x80 // some values are a little off their decimals
	scaleShift = 4
	scaleMask  = 0x07
)

// encoder turns columns into the two sections of a frame: heads, which tell
// how to read each column, and bodies. They compress better apart.
type encoder struct {
	heads, bodies []byte
	whole, off    []int64
	odd           []int // indexes of values that are no decimals
}

// add appends one column of a block that has the given number of rows.
func (e *encoder) add(c Column, rows int) {
	full := len(c.Vals) == rows
	tag := byte(0)
	if !full {
		tag = flagRows
	}
	if same(c.Vals) {
		e.constant(c, tag, full)
		return
	}
	for _, slack := range []int64{0, maxOff} {
		for i := range Scales {
			if e.toWhole(c.Vals, Scale(i), slack) {
				e.numbers(c, tag|byte(i)<<scaleShift, full)
				return
			}
		}
	}
	e.heads = append(e.heads, tag|byte(formXOR))
	e.rows(c, full)
	e.xor(c.Vals)
}

// same reports whether all values have the same bits.
func same(vals []float64) bool {
	for _, v := range vals {
		if math.Float64bits(v) != math.Float64bits(vals[0]) {
			return false
		}
	}
	return true
}

// constant stores a column whose values are all the same.
func (e *encoder) constant(c Column, tag byte, full bool) {
	v := 0.0
	if len(c.Vals) > 0 {
		v = c.Vals[0]
	}
	for i := range Scales {
		if n, ok := Whole(v, Scale(i)); ok {
			e.heads = append(e.heads, tag|byte(formConst)|byte(i)<<scaleShift)
			e.rows(c, full)
			e.heads = binary.AppendUvarint(e.heads, zigzag(n))
			return
		}
	}
	e.heads = append(e.heads, tag|byte(formConst)|flagOdd)
	e.rows(c, full)
	e.heads = binary.LittleEndian.AppendUint64(e.heads, math.Float64bits(v))
}

// rows lists the rows of a column that does not have them all, as runs.
func (e *encoder) rows(c Column, full bool) {
	if full {
		return
	}
	runs := runsOf(c.Rows)
	e.heads = binary.AppendUvarint(e.heads, uint64(len(runs)/2))
	for _, r := range runs {
		e.heads = binary.AppendUvarint(e.heads, uint64(r))
	}
}

// runsOf turns ascending rows into pairs: how many are left out, how many
// follow.
func runsOf(rows []uint16) []int {
	var runs []int
	next := 0
	for _, r := range rows {
		if gap := int(r) - next; gap > 0 || len(runs) == 0 {
			runs = append(runs, gap, 0)
		}
		runs[len(runs)-1]++
		next = int(r) + 1
	}
	return runs
}

// maxOdd is the share of a column, as a divisor, that may be no decimals.
const maxOdd = 4

// toWhole takes the values for decimals of the scale, at most slack off. Values
// that are none, an end marker for instance, are put down as odd and take the
// number before them.
func (e *encoder) toWhole(vals []float64, scale float64, slack int64) bool {
	e.whole, e.off, e.odd = e.whole[:0], e.off[:0], e.odd[:0]
	prev := int64(0)
	for i, v := range vals {
		n, off, ok := near(v, scale)
		if !ok || off < -slack || off > slack {
			if e.odd = append(e.odd, i); len(e.odd) > len(vals)/maxOdd {
				return false
			}
			n, off = prev, 0
		}
		e.whole, e.off = append(e.whole, n), append(e.off, off)
		prev = n
	}
	return true
}

// numbers stores e.whole as differences, divided by what divides them all.
func (e *encoder) numbers(c Column, tag byte, full bool) {
	if len(e.odd) > 0 {
		tag |= flagOdd
	}
	isOff := slices.ContainsFunc(e.off, func(n int64) bool { return n != 0 })
	if isOff {
		tag |= flagOff
	}
	deltas := e.whole[1:]
	first, step := e.whole[0], uint64(0)
	prev := first
	for i, n := range deltas {
		deltas[i], prev = n-prev, n
		step = gcd(step, magnitude(deltas[i]))
	}
	step = max(step, 1)
	cost, cost2, last := 0, 0, int64(0)
	for i := range deltas {
		deltas[i] /= int64(step)
		cost += bits.Len64(zigzag(deltas[i]))
		cost2 += bits.Len64(zigzag(deltas[i] - last))
		last = deltas[i]
	}
	f := formDelta
	if cost2 < cost {
		f = formDelta2
	}
	e.heads = append(e.heads, tag|byte(f))
	e.rows(c, full)
	e.oddValues(c.Vals)
	e.heads = binary.AppendUvarint(e.heads, step)
	e.heads = binary.AppendUvarint(e.heads, zigzag(first))
	last = 0
	for _, d := range deltas {
		if f == formDelta2 {
			d, last = d-last, d
		}
		e.bodies = binary.AppendUvarint(e.bodies, zigzag(d))
	}
	for _, off := range e.off {
		if isOff {
			e.bodies = binary.AppendUvarint(e.bodies, zigzag(off))
		}
	}
}

func magnitude(n int64) uint64 {
	if n < 0 {
		return uint64(-n)
	}
	return uint64(n)
}

// oddValues lists the values that are no decimals.
func (e *encoder) oddValues(vals []float64) {
	if len(e.odd) == 0 {
		return
	}
	e.heads = binary.AppendUvarint(e.heads, uint64(len(e.odd)))
	prev := 0
	for _, i := range e.odd {
		e.heads = binary.AppendUvarint(e.heads, uint64(i-prev))
		e.heads = binary.LittleEndian.AppendUint64(e.heads, math.Float64bits(vals[i]))
		prev = i
	}
}

// xor stores the bits of the values, each xor the one before.
func (e *encoder) xor(vals []float64) {
	prev := uint64(0)
	for _, v := range vals {
		b := math.Float64bits(v)
		e.bodies = binary.LittleEndian.AppendUint64(e.bodies, b^prev)
		prev = b
	}
}
