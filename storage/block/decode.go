package block

import (
	"encoding/binary"
	"errors"
	"math"
	"math/bits"
)

var errDamaged = errors.New("damaged block")

// cursor reads numbers off a byte slice. After a failure everything reads as
// zero and bad is set. It moves an index, since moving the slice would cost a
// write barrier a number.
type cursor struct {
	b   []byte
	i   int
	bad bool
}

// left is how many bytes there are.
func (c *cursor) left() int { return len(c.b) - c.i }

func (c *cursor) uvarint() uint64 {
	if c.i < len(c.b) && c.b[c.i] < 0x80 { // nearly always
		c.i++
		return uint64(c.b[c.i-1])
	}
	v, n := binary.Uvarint(c.b[c.i:])
	if n <= 0 {
		c.fail()
		return 0
	}
	c.i += n
	return v
}

// count reads a number that must be at most limit.
func (c *cursor) count(limit int) int {
	v := c.uvarint()
	if v > uint64(limit) {
		c.fail()
		return 0
	}
	return int(v)
}

func (c *cursor) uint64() uint64 {
	if b := c.take(8); b != nil {
		return binary.LittleEndian.Uint64(b)
	}
	return 0
}

func (c *cursor) byte() byte {
	if b := c.take(1); b != nil {
		return b[0]
	}
	return 0
}

// take takes n bytes; nil if there are fewer.
func (c *cursor) take(n int) []byte {
	if n > c.left() {
		c.fail()
		return nil
	}
	c.i += n
	return c.b[c.i-n : c.i]
}

// skipUvarints passes over n numbers. A number ends at a byte without the high
// bit; eight bytes are looked at together.
func (c *cursor) skipUvarints(n int) {
	const high = 0x8080808080808080
	for n >= 8 && c.left() >= 8 {
		n -= bits.OnesCount64(^binary.LittleEndian.Uint64(c.b[c.i:]) & high)
		c.i += 8
	}
	for ; n > 0; n-- {
		for c.i < len(c.b) && c.b[c.i] >= 0x80 {
			c.i++
		}
		c.take(1)
	}
}

func (c *cursor) fail() { c.b, c.i, c.bad = nil, 0, true }

// decoder reads the columns of one frame in order.
type decoder struct {
	heads, bodies cursor
	rows          int // of the block
}

// newDecoder splits a decompressed frame into its sections.
func newDecoder(frame []byte, rows int) decoder {
	c := cursor{b: frame}
	n := c.count(len(frame))
	heads := c.take(n)
	return decoder{cursor{b: heads, bad: c.bad}, cursor{b: c.b[c.i:], bad: c.bad}, rows}
}

// shape is the head of a column.
type shape struct {
	form  form
	rows  []uint16 // nil for all
	n     int
	scale float64
	same  uint64 // constant: bits
	odd   []oddValue
	off   bool
	step  int64
	first int64
}

type oddValue struct {
	index int
	bits  uint64
}

// shape reads a column's head.
func (d *decoder) shape() shape {
	tag := d.heads.byte()
	s := shape{form: form(tag & formMask), n: d.rows}
	if i := int(tag >> scaleShift & scaleMask); i < Scales {
		s.scale = Scale(i)
	} else {
		d.heads.fail()
	}
	if tag&flagRows != 0 {
		s.rows = d.runs()
		s.n = len(s.rows)
	}
	switch {
	case s.form == formConst && tag&flagOdd != 0:
		s.same = d.heads.uint64()
	case s.form == formConst:
		s.same = math.Float64bits(float64(unzigzag(d.heads.uvarint())) / s.scale)
	case s.form == formXOR:
	default:
		if tag&flagOdd != 0 {
			s.odd = d.oddValues(s.n)
		}
		s.off = tag&flagOff != 0
		s.step = int64(d.heads.uvarint())
		s.first = unzigzag(d.heads.uvarint())
	}
	return s
}

// runs reads a list of rows.
func (d *decoder) runs() []uint16 {
	rows := make([]uint16, 0, min(d.rows, 64))
	next := 0
	for n := d.heads.count(d.rows); n > 0 && !d.heads.bad; n-- {
		next += d.heads.count(d.rows)
		for run := d.heads.count(d.rows - min(next, d.rows)); run > 0; run-- {
			rows = append(rows, uint16(next))
			next++
		}
	}
	return rows
}

// oddValues reads the list of values that are no decimals.
func (d *decoder) oddValues(n int) []oddValue {
	odd := make([]oddValue, 0, 4)
	at := 0
	for k := d.heads.count(n); k > 0 && !d.heads.bad; k-- {
		at += d.heads.count(n)
		if at >= n {
			d.heads.fail()
			break
		}
		odd = append(odd, oddValue{at, d.heads.uint64()})
	}
	return odd
}

// skip passes over the next column.
func (d *decoder) skip() {
	switch s := d.shape(); s.form {
	case formConst:
	case formXOR:
		d.bodies.take(8 * s.n)
	default:
		n := s.n - 1
		if s.off {
			n += s.n
		}
		d.bodies.skipUvarints(n)
	}
}

// column reads the next column.
func (d *decoder) column() (Column, error) {
	s := d.shape()
	if d.heads.bad {
		return Column{}, errDamaged
	}
	c := Column{Rows: s.rows, Vals: make([]float64, s.n)}
	switch s.form {
	case formConst:
		for i := range c.Vals {
			c.Vals[i] = math.Float64frombits(s.same)
		}
	case formXOR:
		prev := uint64(0)
		for i := range c.Vals {
			prev ^= d.bodies.uint64()
			c.Vals[i] = math.Float64frombits(prev)
		}
	default:
		d.numbers(s, c.Vals)
	}
	if d.bodies.bad {
		return Column{}, errDamaged
	}
	return c, nil
}

// numbers reads a column of whole numbers.
func (d *decoder) numbers(s shape, vals []float64) {
	if len(vals) == 0 {
		return
	}
	n, delta := s.first, int64(0)
	vals[0] = float64(n) / s.scale
	for i := 1; i < len(vals); i++ {
		x := unzigzag(d.bodies.uvarint())
		if s.form == formDelta2 {
			delta += x
		} else {
			delta = x
		}
		n += delta * s.step
		vals[i] = float64(n) / s.scale
	}
	if s.off {
		d.offsets(vals)
	}
	for _, o := range s.odd {
		vals[o.index] = math.Float64frombits(o.bits)
	}
}

// offsets moves decimals to the values that were a little off them.
func (d *decoder) offsets(vals []float64) {
	for i, v := range vals {
		off := uint64(unzigzag(d.bodies.uvarint()))
		vals[i] = math.Float64frombits(math.Float64bits(v) + off)
	}
}
