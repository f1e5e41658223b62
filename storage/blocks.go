package storage

import (
	"fmt"
	"time"

	"go.etcd.io/bbolt"

	"stallmark/storage/block"
)

// A block lies in a bucket of its own below its start time. bbolt rewrites up
// to five values of a leaf when one is added; in a leaf of its own a block is
// written once.

// putBlock stores a block under the key.
func putBlock(b *bbolt.Bucket, key, data []byte) error {
	own, err := b.CreateBucketIfNotExists(key)
	if err != nil {
		return err
	}
	return own.Put(keyBlock, data)
}

// getBlock is the block under the key, valid during the transaction; nil if
// there is none.
func getBlock(b *bbolt.Bucket, key []byte) []byte {
	own := b.Bucket(key)
	if own == nil {
		return nil
	}
	return own.Get(keyBlock)
}

// store writes a minute and the notes that came with it in one transaction. The
// journals up to the number have both.
func (d *disk) store(m minute, notes [][]byte, journal int) error {
	began := d.now()
	var names *dictionary
	err := d.change(func(tx *bbolt.Tx) error {
		p, err := readProgress(tx)
		if err != nil {
			return err
		}
		if len(m.times) > 0 {
			if names, err = d.putMinute(tx, m, p); err != nil {
				return err
			}
		}
		if err := d.putNotes(tx, notes); err != nil {
			return err
		}
		return writeProgress(tx, p.advanced(m, journal))
	})
	took := d.now().Sub(began)
	d.update(func(st *diskState) {
		st.StoreTook, st.WriteError = took, ""
		if err != nil {
			st.WriteError = err.Error()
		}
	})
	if err != nil {
		return err
	}
	if names != nil {
		d.dicts.put(names)
	}
	return nil
}

// putMinute writes the block and returns the day's names as they are then. What
// the file has from the minute's first row on, or after the row before it, was
// recorded before the clock went back, or is the same, and is replaced.
func (d *disk) putMinute(tx *bbolt.Tx, m minute, p progress) (*dictionary, error) {
	old := d.dicts.get(tx, dayStart(m.start))
	names := old.extended(m.keys())
	if err := names.writeNames(tx, len(old.keys), d.zenc); err != nil {
		return nil, err
	}
	content := rowsAndColumns{m.times, m.numbered(names)}
	raw := tx.Bucket(bucketRaw)
	from := m.times[0]
	if !m.fresh && p.Last > 0 {
		from = min(from, p.Last+1)
	}
	key := d.covering(raw, m.start, from)
	if key == nil {
		key = timeKey(m.start)
	}
	if m.fresh {
		if err := dropRollups(tx, m.start); err != nil {
			return nil, err
		}
	}
	for there := getBlock(raw, key); there != nil; there = getBlock(raw, key) {
		before, err := d.decodeAll(there)
		if err != nil {
			d.markBad("raw", keyTime(key), err) // it stays: the new one goes beside it
			key = timeKey(keyTime(key) + 1)
			continue
		}
		content = merged(before.before(from), content)
		break
	}
	return names, putBlock(raw, key, d.encoder.Encode(nil, content.times, content.columns))
}

// decodeAll decodes a whole block.
func (d *disk) decodeAll(data []byte) (rowsAndColumns, error) {
	b, err := block.Open(data)
	if err != nil {
		return rowsAndColumns{}, err
	}
	out := rowsAndColumns{times: b.Times}
	dec := d.decoders.Get().(*block.Decoder)
	defer d.decoders.Put(dec)
	err = dec.Columns(b, func(uint32) bool { return true }, func(c block.Column) {
		out.columns = append(out.columns, c)
	})
	return out, err
}

// eachBlock calls f with the blocks of a bucket whose keys are in [from, to].
func eachBlock(b *bbolt.Bucket, from, to int64, f func(start int64, data []byte) error) error {
	c := b.Cursor()
	for k, _ := c.Seek(timeKey(from)); k != nil; k, _ = c.Next() {
		start := keyTime(k)
		if start > to {
			return nil
		}
		data := getBlock(b, k)
		if data == nil {
			continue
		}
		if err := f(start, data); err != nil {
			return fmt.Errorf("block %s: %w", time.UnixMilli(start).UTC().Format(time.RFC3339), err)
		}
	}
	return nil
}
