package storage

import (
	"slices"

	"go.etcd.io/bbolt"

	"stallmark/storage/block"
	"stallmark/storage/model"
)

// rollups sends rollups as far as they serve, and returns the time from which
// samples have to be read.
func (s *selector) rollups(tx *bbolt.Tx) (rawFrom int64, err error) {
	until, agg, m := s.plan(tx)
	rawFrom = s.q.mint
	err = eachBlock(tx.Bucket(bucketRollup), hourStart(s.q.mint), min(s.q.maxt, until-1), func(start int64, data []byte) error {
		if err := s.ctx.Err(); err != nil {
			return err
		}
		rawFrom = max(rawFrom, min(start+hourMillis, until)) // samples may begin within an hour: with the store, or where they expired
		b := s.open(tx, "rollup", start, data, uint32(aggregates))
		if b == nil {
			return nil
		}
		if err := s.rollup(b, until, agg, m); err != nil {
			s.bad("rollup", start, err)
		}
		return s.flush()
	})
	return rawFrom, err
}

// plan decides up to which time rollups serve, with which aggregate, and how
// their points are to be read.
func (s *selector) plan(tx *bbolt.Tx) (until int64, agg aggregate, m mode) {
	agg, m = aggregateFor(s.q)
	first, _, some := ends(tx.Bucket(bucketRaw))
	expired := s.last - s.disk.opts.Retention.Milliseconds()
	switch {
	case !some:
		return s.q.maxt + 1, agg, m
	case coarse(s.q):
		return s.last, agg, m
	}
	return max(first, hourStart(expired)), agg, m
}

// coarse reports whether a point a minute answers the question as well: for
// ranges of several minutes, and for a chart whose ranges are as wide as its
// steps. A rule's range of a minute is asked for at each beat: it is not.
func coarse(q selection) bool {
	const enough = 5 * spanMillis
	switch {
	case q.rng == 0:
		return q.step >= enough
	case q.rng >= spanMillis && q.step == q.rng:
		return true
	}
	return q.rng >= enough
}

// aggregateFor is the aggregate that the function wants, and how to read its
// points: a range of several minutes takes them as they are.
func aggregateFor(q selection) (aggregate, mode) {
	m := modeHold
	if q.rng >= 2*spanMillis {
		m = modePoints
	}
	switch q.function {
	case "min_over_time":
		return aggMin, m
	case "max_over_time":
		return aggMax, m
	case "avg_over_time":
		return aggSum, m
	case "rate", "irate", "increase", "delta", "idelta", "deriv":
		if m == modeHold {
			m = modeSlope
		}
	}
	return aggLast, m
}

// rollup adds the columns of one hour, up to a time, to the chunk.
func (s *selector) rollup(b *block.Block, until int64, agg aggregate, m mode) error {
	has := func(id uint32) bool {
		_, ok := slices.BinarySearch(b.IDs, id)
		return ok
	}
	s.w.begin(b.Times, m)
	var sum block.Column
	want := func(id uint32) bool {
		series, a := id/uint32(aggregates), aggregate(id%uint32(aggregates))
		if !s.want(series) {
			return false
		}
		if a == agg || agg == aggSum && a == aggCount {
			return true
		}
		return a == aggLast && !has(series*uint32(aggregates)+uint32(agg))
	}
	return s.dec.Columns(b, want, func(c block.Column) {
		switch aggregate(c.ID % uint32(aggregates)) {
		case aggSum:
			sum = c // its count comes next
			return
		case aggCount:
			c = average(sum, c)
		}
		from, to := s.q.mint, s.q.maxt
		if m != modePoints { // the neighbours' minutes reach into the range
			from, to = from-spanMillis, to+spanMillis
		}
		to = min(to, until-1)
		key := s.names.keys[c.ID/uint32(aggregates)]
		if c = columnWithin(c, b.Times, from, to); len(c.Vals) > 0 {
			s.w.column(key, c.Rows, c.Vals)
		}
	})
}

// average divides sums by counts. A minute in which the series only ended is
// an end.
func average(sum, count block.Column) block.Column {
	for i, n := range count.Vals {
		if i < len(sum.Vals) && n > 0 {
			count.Vals[i] = sum.Vals[i] / n
		} else {
			count.Vals[i] = model.Stale()
		}
	}
	return count
}
