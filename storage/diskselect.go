package storage

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/prometheus/prometheus/model/labels"
	"go.etcd.io/bbolt"

	"stallmark/storage/block"
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
// serve, and then the recent ones, in chunks. The warnings say what could not be
// read.
func (d *disk) selectBlocks(
	ctx context.Context, q selection, recent []minute, send func([]byte) error,
) (warnings []string, err error) {
	s := &selector{disk: d, ctx: ctx, q: q, w: newChunkWriter(), send: send}
	s.dec = d.decoders.Get().(*block.Decoder)
	defer d.decoders.Put(s.dec)
	err = d.view(s.stored)
	if errors.Is(err, errDamagedFile) {
		d.markBad("part of the file", q.mint, err)
		s.warn(err)
		err = nil
	}
	for _, m := range recent {
		if err != nil {
			break
		}
		s.w.begin(m.times, modePoints)
		for _, c := range m.columns {
			s.w.column(c.key, c.rows, c.vals)
		}
		err = s.flush()
	}
	return s.warnings, err
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

	names    *dictionary
	wanted   []bool
	some     bool
	warnings []string
}

// stored sends what the file has.
func (s *selector) stored(tx *bbolt.Tx) error {
	p, err := readProgress(tx)
	if err != nil {
		return err
	}
	s.last = p.Last
	s.q.maxt = min(s.q.maxt, p.Last)
	if s.q.mint > s.q.maxt { // all that is asked for is newer, though a block may have it too
		return nil
	}
	rawFrom, err := s.rollups(tx)
	if err != nil {
		return err
	}
	return s.raw(tx, rawFrom)
}

// bad names a block that cannot be read, and warns.
func (s *selector) bad(kind string, start int64, err error) {
	s.disk.markBad(kind, start, err)
	s.warn(fmt.Errorf("the %s block of %s: %w", kind, time.UnixMilli(start).UTC().Format(time.RFC3339), err))
}

// warn adds a warning; a few are enough.
func (s *selector) warn(err error) {
	if len(s.warnings) < 10 {
		s.warnings = append(s.warnings, err.Error())
	}
}

// open opens a block and looks up which of its series match. It is nil if none
// does, or if the block cannot be read.
func (s *selector) open(tx *bbolt.Tx, kind string, start int64, data []byte, perSeries uint32) *block.Block {
	s.day(s.disk.dicts.get(tx, dayStart(start)))
	b, err := block.Open(data)
	if err != nil {
		s.bad(kind, start, err)
		return nil
	}
	if n := len(b.IDs); n > 0 && int(b.IDs[n-1]/perSeries) >= len(s.wanted) {
		// Names that were stored after the cached ones had been read.
		s.day(readDictionary(tx, dayStart(start), s.disk.dicts.zstd))
	}
	if !s.some {
		return nil
	}
	return b
}

// day looks up the matching numbers, once a day.
func (s *selector) day(names *dictionary) {
	if names != s.names {
		s.names = names
		s.wanted, s.some = names.matching(s.q.matchers)
	}
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
		b := s.open(tx, "raw", start, data, 1)
		if b == nil || len(b.Times) == 0 || b.Times[len(b.Times)-1] < from {
			return nil
		}
		s.w.begin(b.Times, modePoints)
		err := s.dec.Columns(b, s.want, func(c block.Column) {
			if c = columnWithin(c, b.Times, from, s.q.maxt); len(c.Vals) > 0 {
				s.w.column(s.names.keys[c.ID], c.Rows, c.Vals)
			}
		})
		if err != nil {
			s.bad("raw", start, err)
		}
		return s.flush()
	})
}

// want reports whether the series with that number matches.
func (s *selector) want(id uint32) bool { return int(id) < len(s.wanted) && s.wanted[id] }

// labelSets lists the series that match and have a block in [mint, maxt]; days
// are the finest grain.
func (d *disk) labelSets(mint, maxt int64, ms []*labels.Matcher) (keys []string, err error) {
	seen := map[string]bool{}
	err = d.view(func(tx *bbolt.Tx) error {
		first, last, raw := ends(tx.Bucket(bucketRaw))
		switch oldest, newest, some := ends(tx.Bucket(bucketRollup)); {
		case some && raw:
			first, last = min(first, oldest), max(last, newest)
		case some:
			first, last = oldest, newest
		}
		last = min(last, maxt)
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
