package storage

import (
	"sort"

	"github.com/prometheus/prometheus/model/histogram"
	"github.com/prometheus/prometheus/tsdb/chunkenc"
)

// millis is a time in milliseconds since the Unix epoch. (An alias, and used for
// Seek so that vet does not take that for an io.Seeker's.)
type millis = int64

// part is a run of one series' samples: values and the rows of a shared time
// column at which they were taken. A row without a value is simply not listed,
// so that every float64, whatever its bits, can be a value. Rows nil means that
// value i belongs to time i.
//
// A part is never changed once it has been handed out: a writer only appends
// beyond its length.
type part struct {
	times []int64 // milliseconds, ascending
	rows  []uint16
	vals  []float64
}

// at is the time of value i.
func (p *part) at(i int) int64 {
	if p.rows == nil {
		return p.times[i]
	}
	return p.times[p.rows[i]]
}

// search is the index of the first value at or after t.
func (p *part) search(t int64) int {
	return sort.Search(len(p.vals), func(i int) bool { return p.at(i) >= t })
}

// within is the part of p in [mint, maxt].
func (p *part) within(mint, maxt int64) part {
	n := len(p.vals)
	if n == 0 || p.at(0) > maxt || p.at(n-1) < mint {
		return part{}
	}
	if p.at(0) >= mint && p.at(n-1) <= maxt {
		return *p
	}
	from, to := p.search(mint), p.search(maxt+1)
	if p.rows == nil {
		return part{p.times[from:to], nil, p.vals[from:to]}
	}
	return part{p.times, p.rows[from:to], p.vals[from:to]}
}

// iterator walks the parts of one series, which follow one another in time.
type iterator struct {
	parts []part
	p, i  int
}

func (it *iterator) reset(parts []part) { *it = iterator{parts: parts, i: -1} }

// Next implements chunkenc.Iterator.
func (it *iterator) Next() chunkenc.ValueType {
	it.i++
	return it.settle()
}

// settle moves on to the next part that has a value.
func (it *iterator) settle() chunkenc.ValueType {
	for it.p < len(it.parts) {
		if it.i < len(it.parts[it.p].vals) {
			return chunkenc.ValFloat
		}
		it.p, it.i = it.p+1, 0
	}
	return chunkenc.ValNone
}

// Seek implements chunkenc.Iterator.
func (it *iterator) Seek(t millis) chunkenc.ValueType {
	if it.i < 0 {
		it.i = 0
	}
	for it.p < len(it.parts) {
		p := &it.parts[it.p]
		if it.i < len(p.vals) && p.at(it.i) >= t {
			return chunkenc.ValFloat
		}
		if n := len(p.vals); n > 0 && p.at(n-1) >= t {
			it.i = p.search(t)
			return chunkenc.ValFloat
		}
		it.p, it.i = it.p+1, 0
	}
	return chunkenc.ValNone
}

// At implements chunkenc.Iterator.
func (it *iterator) At() (int64, float64) {
	p := &it.parts[it.p]
	return p.at(it.i), p.vals[it.i]
}

// AtT implements chunkenc.Iterator.
func (it *iterator) AtT() int64 { return it.parts[it.p].at(it.i) }

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
