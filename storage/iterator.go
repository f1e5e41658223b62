package storage

import (
	"math"

	"github.com/prometheus/prometheus/model/histogram"
	"github.com/prometheus/prometheus/tsdb/chunkenc"
)

// iterator walks the parts of one series, which follow one another in time. It
// implements chunkenc.Iterator.
type iterator struct {
	parts []part
	span  bounds
	p, i  int // part and value
	t     int64
	v     float64
}

// bounds are the times between which an iterator makes up samples from points
// of a minute, and the distance between these, all in milliseconds.
type bounds struct{ from, to, step int64 }

func (it *iterator) reset(parts []part, span bounds) {
	*it = iterator{parts: parts, span: span, i: -1, t: math.MinInt64}
}

// Next implements chunkenc.Iterator.
func (it *iterator) Next() chunkenc.ValueType {
	if it.p < len(it.parts) && it.parts[it.p].mode != modePoints {
		return it.Seek(it.t + 1)
	}
	it.i++
	return it.settle(math.MinInt64)
}

// Seek implements chunkenc.Iterator.
func (it *iterator) Seek(t millis) chunkenc.ValueType {
	if it.t >= t && it.p < len(it.parts) {
		return chunkenc.ValFloat
	}
	it.i = max(it.i, 0)
	return it.settle(t)
}

// settle moves on to the first sample at or after t, from value i of part p.
func (it *iterator) settle(t int64) chunkenc.ValueType {
	for ; it.p < len(it.parts); it.p, it.i = it.p+1, 0 {
		p := &it.parts[it.p]
		if p.mode != modePoints {
			if at, v, ok := p.madeUp(max(t, it.span.from, it.t+1), it.span); ok {
				it.t, it.v = at, v
				return chunkenc.ValFloat
			}
			continue
		}
		n := len(p.vals)
		if it.i < n && p.at(it.i) < t {
			it.i = p.search(t)
		}
		if it.i < n {
			it.t, it.v = p.at(it.i), p.vals[it.i]
			return chunkenc.ValFloat
		}
	}
	return chunkenc.ValNone
}

// madeUp is the first sample at or after t that is made up from the points of
// minutes: a point stands for its minute, or the value grew evenly between two.
func (p *part) madeUp(t int64, b bounds) (at int64, v float64, ok bool) {
	for i := p.search(spanStart(t)); i < len(p.vals); i++ {
		start := spanStart(p.at(i))
		at = max(t, start)
		if rest := (at - start) % b.step; rest > 0 {
			at += b.step - rest
		}
		if at > b.to {
			return 0, 0, false
		}
		if at < start+spanMillis {
			return at, p.valueAt(i, at), true
		}
	}
	return 0, 0, false
}

// valueAt is the value at a time in the minute of point i.
func (p *part) valueAt(i int, t int64) float64 {
	v := p.vals[i]
	if p.mode != modeSlope || i == 0 {
		return v
	}
	before, gap := p.vals[i-1], p.at(i)-p.at(i-1)
	if t >= p.at(i) || !(v > before) || gap > 2*spanMillis {
		return v
	}
	return before + (v-before)*float64(t-p.at(i-1))/float64(gap)
}

// At implements chunkenc.Iterator.
func (it *iterator) At() (int64, float64) { return it.t, it.v }

// AtT implements chunkenc.Iterator.
func (it *iterator) AtT() int64 { return it.t }

// AtHistogram implements chunkenc.Iterator; there are no histograms.
func (it *iterator) AtHistogram(*histogram.Histogram) (int64, *histogram.Histogram) { return 0, nil }

// AtFloatHistogram implements chunkenc.Iterator; there are no histograms.
func (it *iterator) AtFloatHistogram(*histogram.FloatHistogram) (int64, *histogram.FloatHistogram) {
	return 0, nil
}

// AtST implements chunkenc.Iterator; start times are not kept.
func (it *iterator) AtST() int64 { return 0 }

// Err implements chunkenc.Iterator.
func (it *iterator) Err() error { return nil }
