package storage

import (
	"context"
	"fmt"

	"github.com/prometheus/prometheus/model/labels"
	"go.etcd.io/bbolt"

	"stallmark/storage/block"
	"stallmark/storage/model"
)

// selection is a question for samples.
type selection struct {
	mint, maxt int64 // milliseconds, inclusive
	step, rng  int64 // of the query, milliseconds; 0 if there is none
	function   string
	matchers   []*labels.Matcher
}

// maxSamples bounds an answer. A wider question can be asked with a coarser
// step.
const maxSamples = 10_000_000

// selectBlocks sends the matching samples of the file, rollups first where they
// serve, and then the recent ones, in chunks.
func (d *disk) selectBlocks(ctx context.Context, q selection, recent []minute, send func([]byte) error) error {
	s := &selector{disk: d, ctx: ctx, q: q, w: newChunkWriter(), send: send}
	s.dec = d.decoders.Get().(*block.Decoder)
	defer d.decoders.Put(s.dec)
	err := d.view(func(tx *bbolt.Tx) error {
		p, err := readProgress(tx)
		if err != nil {
			return err
		}
		s.last = p.Last
		s.q.maxt = min(s.q.maxt, p.Last)
		rawFrom, err := s.rollups(tx)
		if err != nil {
			return err
		}
		return s.raw(tx, rawFrom)
	})
	if err != nil {
		return err
	}
	for _, m := range recent {
		s.w.begin(m.times, modePoints)
		for _, c := range m.columns {
			s.w.column(c.key, c.rows, c.vals)
		}
		if err := s.flush(); err != nil {
			return err
		}
	}
	return nil
}

// selector is one question under way.
type selector struct {
	disk *disk
	ctx  context.Context
	q    selection
	w    *chunkWriter
	send func([]byte) error
	dec  *block.Decoder
	last int64 // time of the row that was stored last

	names  *dictionary
	wanted []bool
	some   bool
}

// day looks up the matching numbers of the day, once a day.
func (s *selector) day(tx *bbolt.Tx, t int64) bool {
	names := s.disk.dicts.get(tx, dayStart(t))
	if names != s.names {
		s.names = names
		s.wanted, s.some = names.matching(s.q.matchers)
	}
	return s.some
}

// flush sends the chunk that has been gathered.
func (s *selector) flush() error {
	if s.w.samples > maxSamples {
		return fmt.Errorf("more than %d samples: ask with a coarser step", maxSamples)
	}
	if b := s.w.end(); b != nil {
		return s.send(b)
	}
	return nil
}

// raw sends samples from the time given.
func (s *selector) raw(tx *bbolt.Tx, from int64) error {
	from = max(from, s.q.mint)
	return eachBlock(tx.Bucket(bucketRaw), slotStart(from), s.q.maxt, func(start int64, data []byte) error {
		if err := s.ctx.Err(); err != nil {
			return err
		}
		if !s.day(tx, start) {
			return nil
		}
		b, err := block.Open(data)
		if err != nil {
			s.disk.markBad("raw", start, err)
			return nil
		}
		if n := len(b.Times); n == 0 || b.Times[n-1] < from {
			return nil
		}
		s.w.begin(b.Times, modePoints)
		err = s.dec.Columns(b, s.want, func(c block.Column) {
			if c = columnWithin(c, b.Times, from, s.q.maxt); len(c.Vals) > 0 {
				s.w.column(s.names.keys[c.ID], c.Rows, c.Vals)
			}
		})
		if err != nil {
			s.disk.markBad("raw", start, err)
		}
		return s.flush()
	})
}

// want reports whether the series with that number matches.
func (s *selector) want(id uint32) bool { return int(id) < len(s.wanted) && s.wanted[id] }

// rollups sends rollups as far as they serve, and returns the time from which
// samples have to be read.
func (s *selector) rollups(tx *bbolt.Tx) (rawFrom int64, err error) {
	until, agg, m := s.plan(tx)
	rawFrom = s.q.mint
	err = eachBlock(tx.Bucket(bucketRollup), hourStart(s.q.mint), min(s.q.maxt, until-1), func(start int64, data []byte) error {
		if err := s.ctx.Err(); err != nil {
			return err
		}
		rawFrom = max(rawFrom, start+hourMillis)
		if !s.day(tx, start) {
			return nil
		}
		b, err := block.Open(data)
		if err != nil {
			s.disk.markBad("rollup", start, err)
			return nil
		}
		if err := s.rollup(b, agg, m); err != nil {
			s.disk.markBad("rollup", start, err)
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

// coarse reports whether a point a minute answers the question as well.
func coarse(q selection) bool {
	const enough = 5 * spanMillis
	if q.rng > 0 {
		return q.rng >= enough
	}
	return q.step >= enough
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

// rollup adds the columns of one hour to the chunk.
func (s *selector) rollup(b *block.Block, agg aggregate, m mode) error {
	has := map[uint32]bool{}
	for _, id := range b.IDs {
		has[id] = true
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
		return a == aggLast && !has[series*uint32(aggregates)+uint32(agg)]
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

// labelSets lists the series that match and have a block in [mint, maxt]; days
// are the finest grain.
func (d *disk) labelSets(mint, maxt int64, ms []*labels.Matcher) (keys []string, err error) {
	seen := map[string]bool{}
	err = d.view(func(tx *bbolt.Tx) error {
		first, _, _ := ends(tx.Bucket(bucketRaw))
		if rollup, _, some := ends(tx.Bucket(bucketRollup)); some {
			first = min(first, rollup)
		}
		last := min(maxt, d.now().UnixMilli()+dayMillis)
		for day := dayStart(max(mint, first)); day <= last; day += dayMillis {
			names := d.dicts.get(tx, day)
			wanted, some := names.matching(ms)
			for i := range wanted {
				if some && wanted[i] {
					seen[names.keys[i]] = true
				}
			}
		}
		return nil
	})
	for k := range seen {
		keys = append(keys, k)
	}
	return keys, err
}
