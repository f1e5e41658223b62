package storage

import (
	"bytes"
	"cmp"
	"math"
	"slices"

	"go.etcd.io/bbolt"

	"stallmark/storage/block"
	"stallmark/storage/model"
)

// Rollups keep one point a minute for longer than the samples. The rollups of
// an hour are one block, in which every series has up to five columns. A series
// that did not fall in that hour is constant or a counter, and has one column,
// its last values: the others follow from it closely enough.

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
func hourStart(t int64) int64 { return alignDown(t, hourMillis) }

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
			if err := d.addBlock(&r, data); err != nil {
				d.markBad("raw", start, err)
			}
			return nil
		})
		if err != nil || len(r.times) == 0 {
			return err
		}
		return putBlock(out, timeKey(hour), d.encoder.EncodeFrames(nil, r.times, r.columns(), block.NarrowFrames))
	})
}

// addBlock adds a block's columns one by one, which are never all in memory. Of a
// damaged one it adds what can be read.
func (d *disk) addBlock(r *hourRollup, data []byte) error {
	b, err := block.Open(data)
	if err != nil {
		return err
	}
	dec := d.decoders.Get().(*block.Decoder)
	defer d.decoders.Put(dec)
	minutes := r.minutes(b.Times)
	return dec.Columns(b, func(uint32) bool { return true }, func(c block.Column) { r.add(c, minutes) })
}

// missingRollups lists the complete hours that have blocks and no rollups,
// oldest first.
func (d *disk) missingRollups() (hours []int64, err error) {
	err = d.view(func(tx *bbolt.Tx) error {
		p, err := readProgress(tx)
		if err != nil {
			return err
		}
		raw, done := tx.Bucket(bucketRaw).Cursor(), tx.Bucket(bucketRollup)
		for k, _ := raw.First(); k != nil; {
			hour := hourStart(keyTime(k))
			if hour >= hourStart(p.Last) {
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

// dropRollups deletes the rollups from the hour of t on: the samples may be
// about to be replaced. They are made again from the samples.
func dropRollups(tx *bbolt.Tx, t int64) error {
	b := tx.Bucket(bucketRollup)
	for {
		k, _ := b.Cursor().Seek(timeKey(hourStart(t)))
		if k == nil {
			return nil
		}
		if err := b.DeleteBucket(bytes.Clone(k)); err != nil {
			return err
		}
	}
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

// minutes adds the minutes of a block, of one or of several, and is that of each of
// its rows, as an index of r.times.
func (r *hourRollup) minutes(times []int64) []uint16 {
	first := len(r.times)
	out := make([]uint16, len(times))
	for row, t := range times {
		if n := len(r.times); n > first && spanStart(r.times[n-1]) == spanStart(t) {
			r.times[n-1] = t
		} else {
			r.times = append(r.times, t)
		}
		out[row] = uint16(len(r.times) - 1)
	}
	return out
}

// add takes a column of a block whose rows have these minutes.
func (r *hourRollup) add(c block.Column, minutes []uint16) {
	if r.series == nil {
		r.series = map[uint32]*seriesRollup{}
	}
	s := r.series[c.ID]
	if s == nil {
		s = &seriesRollup{before: math.NaN()}
		r.series[c.ID] = s
	}
	s.addColumn(c, minutes)
}

// addColumn takes a column, minute by minute.
func (s *seriesRollup) addColumn(c block.Column, minutes []uint16) {
	minute := func(i int) uint16 {
		if c.Rows == nil {
			return minutes[i]
		}
		return minutes[c.Rows[i]]
	}
	for i := 0; i < len(c.Vals); {
		end := i + 1
		for end < len(c.Vals) && minute(end) == minute(i) {
			end++
		}
		s.add(minute(i), c.Vals[i:end])
		i = end
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
		s.fell = s.fell || v < s.before || math.IsNaN(v)
		s.before = v
	}
	last := vals[len(vals)-1]
	if n == 0 {
		lo, hi = last, last
	}
	s.rows = append(s.rows, row)
	s.last = append(s.last, last)
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
		if !s.fell { // a counter, or constant
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
