package storage

import "sort"

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
	mode  mode
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
		return part{times: p.times[from:to], vals: p.vals[from:to], mode: p.mode}
	}
	return part{p.times, p.rows[from:to], p.vals[from:to], p.mode}
}
