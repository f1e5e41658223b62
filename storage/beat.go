package storage

import (
	"encoding/binary"
	"errors"
	"math"

	"stallmark/storage/block"
	"stallmark/storage/model"
)

// A stream of beats, on the socket and in a journal, says only what has changed
// since the beat before. Both ends number the series in the order in which they
// first appear and remember each one's last value.
//
//	beat    = flags, time, new series, changes
//	series  = count, keys
//	change  = number of series skipped and op, then what the op needs

// The ops of a change.
const (
	opDelta  = iota // a whole number at the same scale: the difference
	opAbsent        // no value in this beat and until said otherwise
	opWhole         // a whole number: scale and number
	opBits          // any float64
	opBits2  = 2    // how many bits an op takes
)

// The flags of a beat.
const (
	flagFresh = 1 << iota // it does not continue the beat before
	flagReset             // the stream begins anew: nothing is known
)

const (
	noScale       = 0xff
	maxBeatSeries = 1 << 20
)

var errBadBeat = errors.New("malformed beat")

// reading is the last value of one series in a stream.
type reading struct {
	bits    uint64
	whole   int64
	scale   byte // index, or noScale
	present bool
	seen    uint64 // encoder: the beat that last had it
}

// beatEncoder encodes the beats of one stream.
type beatEncoder struct {
	numbers map[*entry]uint32
	last    []reading
	vals    []float64 // of this beat, by number
	beat    uint64
	at      int64
	order   []numbered // of the beat before: this one is nearly always the same
}

type numbered struct {
	entry  *entry
	number uint32
}

// beatValue is one value of a beat that is to be encoded.
type beatValue struct {
	entry *entry
	value float64
}

// encode appends a beat to dst.
func (e *beatEncoder) encode(dst []byte, at int64, fresh bool, vals []beatValue) []byte {
	flags := byte(0)
	if fresh {
		flags |= flagFresh
	}
	if e.numbers == nil || len(e.last) > 4*len(vals)+4096 { // most are gone for good
		*e = beatEncoder{numbers: map[*entry]uint32{}}
		flags |= flagReset
	}
	e.beat++
	dst = binary.AppendVarint(append(dst, flags), at-e.at)
	e.at = at
	return e.changes(e.define(dst, vals))
}

// define numbers the series that are new to the stream, lists their keys, and
// notes every value under its number.
func (e *beatEncoder) define(dst []byte, vals []beatValue) []byte {
	known := len(e.last)
	for i, v := range vals {
		if i >= len(e.order) {
			e.order = append(e.order, numbered{})
		}
		if at := &e.order[i]; at.entry != v.entry {
			*at = numbered{v.entry, e.number(v.entry)}
		}
		n := e.order[i].number
		e.last[n].seen, e.vals[n] = e.beat, v.value
	}
	e.order = e.order[:len(vals)]
	dst = binary.AppendUvarint(dst, uint64(len(e.last)-known))
	if len(e.last) == known {
		return dst
	}
	fresh := make([]*entry, len(e.last)-known)
	for _, o := range e.order {
		if int(o.number) >= known {
			fresh[int(o.number)-known] = o.entry
		}
	}
	for _, f := range fresh {
		dst = appendText(dst, f.key)
	}
	return dst
}

// number is the series' number in the stream, the next one if it is new.
func (e *beatEncoder) number(of *entry) uint32 {
	n, ok := e.numbers[of]
	if !ok {
		n = uint32(len(e.last))
		e.numbers[of] = n
		e.last = append(e.last, reading{scale: noScale})
		e.vals = append(e.vals, 0)
	}
	return n
}

// changes lists what is not as in the beat before.
func (e *beatEncoder) changes(dst []byte) []byte {
	next := 0
	for n := range e.last {
		r := &e.last[n]
		here := r.seen == e.beat
		bits := math.Float64bits(e.vals[n])
		if here == r.present && (!here || bits == r.bits) {
			continue
		}
		skip := uint64(n - next)
		next = n + 1
		if !here {
			r.present = false
			dst = appendOp(dst, skip, opAbsent)
			continue
		}
		dst = r.change(dst, skip, e.vals[n], bits)
	}
	return dst
}

// appendOp begins a change, after a number of series that have none.
func appendOp(dst []byte, skip, op uint64) []byte {
	return binary.AppendUvarint(dst, skip<<opBits2|op)
}

// change encodes a new value in the shortest form.
func (r *reading) change(dst []byte, skip uint64, v float64, bits uint64) []byte {
	r.present, r.bits = true, bits
	if r.scale != noScale {
		if n, ok := block.Whole(v, block.Scale(int(r.scale))); ok {
			dst = appendOp(dst, skip, opDelta)
			dst = binary.AppendVarint(dst, n-r.whole)
			r.whole = n
			return dst
		}
	}
	for i := range block.Scales {
		if n, ok := block.Whole(v, block.Scale(i)); ok {
			r.scale, r.whole = byte(i), n
			dst = append(appendOp(dst, skip, opWhole), byte(i))
			return binary.AppendVarint(dst, n)
		}
	}
	r.scale = noScale
	dst = appendOp(dst, skip, opBits)
	return binary.LittleEndian.AppendUint64(dst, bits)
}

// beatDecoder decodes the beats of one stream.
type beatDecoder struct {
	series  []*model.Series
	last    []reading
	samples []model.Sample
	at      int64
}

// decode reads a beat. The batch's samples are reused by the next call.
func (d *beatDecoder) decode(b []byte) (batch model.Batch, fresh bool, err error) {
	c := cursor{b: b}
	flags := c.byte()
	if flags&flagReset != 0 {
		*d = beatDecoder{samples: d.samples}
	}
	fresh = flags&flagFresh != 0
	d.at += c.varint()
	d.define(&c)
	next := 0
	for len(c.b) > 0 && !c.bad {
		head := c.uvarint()
		skip := head >> opBits2
		if skip >= uint64(len(d.last)-next) {
			c.fail()
			break
		}
		n := next + int(skip)
		next = n + 1
		d.last[n].apply(&c, int(head&(1<<opBits2-1)))
	}
	if c.bad {
		return model.Batch{}, false, errBadBeat
	}
	d.samples = d.samples[:0]
	for n, r := range d.last {
		if r.present {
			d.samples = append(d.samples, model.Sample{Series: d.series[n], Value: math.Float64frombits(r.bits)})
		}
	}
	return model.Batch{At: d.at, Samples: d.samples}, fresh, nil
}

// define reads the new series.
func (d *beatDecoder) define(c *cursor) {
	for n := c.count(maxBeatSeries - len(d.series)); n > 0 && !c.bad; n-- {
		s, err := keySeries(string(c.text()))
		if err != nil {
			c.fail()
			return
		}
		d.series = append(d.series, s)
		d.last = append(d.last, reading{scale: noScale})
	}
}

// apply reads the new value of a series.
func (r *reading) apply(c *cursor, op int) {
	r.present = op != opAbsent
	switch op {
	case opDelta:
		if r.scale == noScale {
			c.fail()
			return
		}
		r.whole += c.varint()
		r.bits = math.Float64bits(float64(r.whole) / block.Scale(int(r.scale)))
	case opWhole:
		r.scale = c.byte()
		if int(r.scale) >= block.Scales {
			c.fail()
			return
		}
		r.whole = c.varint()
		r.bits = math.Float64bits(float64(r.whole) / block.Scale(int(r.scale)))
	case opBits:
		r.scale = noScale
		r.bits = c.uint64()
	}
}
