package storage

import (
	"bytes"
	"slices"

	"go.etcd.io/bbolt"

	"stallmark/storage/block"
)

// Minutes are stored as they come, and put together ten by ten once ten are
// there: longer columns compress better, and less is lost to whole pages
// (BenchmarkHour of a host in direct reclaim: 0.24 against 0.47 bytes a sample).

const slotMillis = 10 * spanMillis

// slotStart is the ten minutes that t falls in.
func slotStart(t int64) int64 { return alignDown(t, slotMillis) }

// compact puts the blocks of a slot into one. A slot with a block that cannot
// be read is left as it is.
func (d *disk) compact(slot int64) error {
	return d.change(func(tx *bbolt.Tx) error {
		raw := tx.Bucket(bucketRaw)
		var keys [][]byte
		var blocks []*block.Block
		c := raw.Cursor()
		for k, _ := c.Seek(timeKey(slot)); k != nil && keyTime(k) < slot+slotMillis; k, _ = c.Next() {
			b, err := block.Open(getBlock(raw, k))
			if err != nil {
				d.markBad("raw", keyTime(k), err)
				return nil
			}
			keys, blocks = append(keys, bytes.Clone(k)), append(blocks, b)
		}
		if len(keys) < 2 || rowsOf(blocks) > maxRows {
			return nil
		}
		packed, err := d.pack(keys, blocks)
		if err != nil {
			return nil // the block has been named
		}
		for _, k := range keys {
			if err := raw.DeleteBucket(k); err != nil {
				return err
			}
		}
		return putBlock(raw, keys[0], packed)
	})
}

// rowsOf is how many rows the blocks have together, at most.
func rowsOf(blocks []*block.Block) (n int) {
	for _, b := range blocks {
		n += len(b.Times)
	}
	return n
}

// pack is the blocks in one. A frame's columns at a time are in memory: all those of
// ten minutes would be twenty times as much as the rest of this process. The error is
// of a block that cannot be read, after it has been named.
func (d *disk) pack(keys [][]byte, blocks []*block.Block) ([]byte, error) {
	dec := d.decoders.Get().(*block.Decoder)
	defer d.decoders.Put(dec)
	var times []int64
	var ids []uint32
	for _, b := range blocks {
		times, ids = append(times, b.Times...), append(ids, b.IDs...)
	}
	times, ids = ascending(times), ascending(ids)
	return d.encoder.EncodeEach(nil, times, ids, block.NarrowFrames, func(from, to int) ([]block.Column, error) {
		var content rowsAndColumns
		for i, b := range blocks {
			next := rowsAndColumns{times: b.Times}
			err := dec.Columns(b, func(id uint32) bool { return ids[from] <= id && id <= ids[to-1] },
				func(c block.Column) { next.columns = append(next.columns, c) })
			if err != nil {
				d.markBad("raw", keyTime(keys[i]), err)
				return nil, err
			}
			content = merged(content, next)
		}
		return content.columns, nil
	})
}

// ascending sorts numbers and leaves out what is there twice.
func ascending[T int64 | uint32](s []T) []T {
	slices.Sort(s)
	return slices.Compact(s)
}

// covering is the key of the block that reaches to or beyond t and starts
// before it; nil if there is none. Such a block is one that was put together
// before the clock went back.
func (d *disk) covering(raw *bbolt.Bucket, start, t int64) []byte {
	c := raw.Cursor()
	k, _ := c.Seek(timeKey(start + spanMillis))
	if k == nil {
		k, _ = c.Last()
	} else {
		k, _ = c.Prev()
	}
	if k == nil || keyTime(k) < slotStart(start) {
		return nil
	}
	b, err := block.Open(getBlock(raw, k))
	if err != nil || len(b.Times) == 0 {
		return nil // named when it is read
	}
	if keyTime(k) < start && b.Times[len(b.Times)-1] < t {
		return nil
	}
	return bytes.Clone(k)
}
