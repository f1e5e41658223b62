package storage

import (
	"cmp"
	"math"
	"slices"

	"go.etcd.io/bbolt"

	"stallmark/storage/block"
	"stallmark/storage/model"
)

// Rollups keep one point a minute for longer than the samples. The rollups of
// an hour are one block, in which every series has up to five columns. A series
// that only grew in that hour is taken for a counter and has one column, its
// last values: the others follow from it closely enough.

// aggregate is one column of a series' rollups; its number in the block is the
// series' number times aggregates plus the aggregate.
type aggregate uint32

const (
	aggLast aggregate = iota
	aggMin
	aggMax
	aggSum // and count, from which the average: sums compress, averages do not
	aggCount
	aggregates
)

const hourMillis = 60 * spanMillis

// hourStart is the hour that t falls in.
func hourStart(t int64) int64 {
	start := t - t%hourMillis
	if start > t {
		start -= hourMillis
	}
	return start
}

// rollUp stores the rollups of the hour from its blocks, unless they are there
// already. An hour without blocks has none.
func (d *disk) rollUp(hour int64) error {
	return d.change(func(tx *bbolt.Tx) error {
		out := tx.Bucket(bucketRollup)
		if getBlock(out, timeKey(hour)) != nil {
			return nil
		}
		var r hourRollup
		err := eachBlock(tx.Bucket(bucketRaw), hour, hour+hourMillis-1, func(start int64, data []byte) error {
			content, err := d.decodeAll(data)
			if err != nil {
				d.markBad("raw", start, err)
				return nil
			}
			r.add(content)
			return nil
		})
		if err != nil || len(r.times) == 0 {
			return err
		}
		return putBlock(out, timeKey(hour), d.encoder.Encode(nil, r.times, r.columns()))
	})
}

// missingRollups lists the complete hours that have blocks and no rollups,
// oldest first.
func (d *disk) missingRollups() (hours []int64, err error) {
	err = d.view(func(tx *bbolt.Tx) error {
		raw, done := tx.Bucket(bucketRaw).Cursor(), tx.Bucket(bucketRollup)
		k, _ := raw.Last()
		if k == nil {
			return nil
		}
		newest := hourStart(keyTime(k))
		for k, _ = raw.First(); k != nil; {
			hour := hourStart(keyTime(k))
			if hour >= newest {
				return nil
			}
			if getBlock(done, timeKey(hour)) == nil {
				hours = append(hours, hour)
			}
			k, _ = raw.Seek(timeKey(hour + hourMillis))
		}
		return nil
	})
	return hours, err
}

// hourRollup gathers the rollups of an hour.
type hourRollup struct {
	times  []int64 // of the last sample in each minute
	series map[uint32]*seriesRollup
}

// seriesRollup is the rollups of one series.
type seriesRollup struct {
	rows                        []uint16
	last, min, max, sum, counts []float64
	grew, fell                  bool
	before                      float64
}

// add takes the content of one block.
func (r *hourRollup) add(content rowsAndColumns) {
	if len(content.times) == 0 {
		return
	}
	if r.series == nil {
		r.series = map[uint32]*seriesRollup{}
	}
	row := uint16(len(r.times))
	r.times = append(r.times, content.times[len(content.times)-1])
	for _, c := range content.columns {
		s := r.series[c.ID]
		if s == nil {
			s = &seriesRollup{before: math.NaN()}
			r.series[c.ID] = s
		}
		s.add(row, c.Vals)
	}
}

// add takes the values of one minute. End markers count as a last value only.
func (s *seriesRollup) add(row uint16, vals []float64) {
	lo, hi, sum, n := math.Inf(1), math.Inf(-1), 0.0, 0.0
	for _, v := range vals {
		if model.IsStale(v) {
			continue
		}
		lo, hi, sum, n = math.Min(lo, v), math.Max(hi, v), sum+v, n+1
		s.grew = s.grew || v > s.before
		s.fell = s.fell || v < s.before || v != v
		s.before = v
	}
	if n == 0 {
		lo, hi = vals[len(vals)-1], vals[len(vals)-1]
	}
	s.rows = append(s.rows, row)
	s.last = append(s.last, vals[len(vals)-1])
	s.min, s.max = append(s.min, lo), append(s.max, hi)
	s.sum, s.counts = append(s.sum, sum), append(s.counts, n)
}

// columns is the block's content.
func (r *hourRollup) columns() []block.Column {
	out := make([]block.Column, 0, int(aggregates)*len(r.series))
	for id, s := range r.series {
		column := func(a aggregate, vals []float64) {
			out = append(out, block.Column{ID: id*uint32(aggregates) + uint32(a), Rows: s.rows, Vals: vals})
		}
		column(aggLast, s.last)
		if s.grew && !s.fell || constant(s) {
			continue
		}
		column(aggMin, s.min)
		column(aggMax, s.max)
		column(aggSum, s.sum)
		column(aggCount, s.counts)
	}
	slices.SortFunc(out, func(a, b block.Column) int { return cmp.Compare(a.ID, b.ID) })
	return out
}

// constant reports whether the series kept its value.
func constant(s *seriesRollup) bool { return !s.grew && !s.fell }
