package storage

import (
	"bytes"
	"math"
	"time"

	"go.etcd.io/bbolt"
)

// Retention goes gently: with every ten minutes that are stored at most a few of
// the oldest blocks go. A clock that runs ahead for a while so costs a little
// history and not all of it, and a transaction stays short. What is past its
// age is not shown either way.
const (
	expireAtOnce = 2  // for age
	evictAtOnce  = 2  // for bytes, with every minute
	keepBlocks   = 10 // are never evicted
)

// expire drops what is too old, counted from the newest block.
func (d *disk) expire() error {
	st := d.snapshot()
	if st.Blocks == 0 {
		return nil
	}
	rawBefore := st.LastStored - d.opts.Retention.Milliseconds()
	rollupBefore := st.LastStored - d.opts.RollupRetention.Milliseconds()
	return d.change(func(tx *bbolt.Tx) error {
		if _, err := dropOldest(tx.Bucket(bucketRaw), slotStart(rawBefore), expireAtOnce); err != nil {
			return err
		}
		if _, err := dropOldest(tx.Bucket(bucketRollup), hourStart(rollupBefore), expireAtOnce); err != nil {
			return err
		}
		return d.dropNotes(tx, rollupBefore)
	})
}

// evict drops a few of the oldest blocks, samples before rollups, and the oldest
// events when nothing else is left: findings and facts stay.
func evict(tx *bbolt.Tx) error {
	for _, name := range [][]byte{bucketRaw, bucketRollup} {
		b := tx.Bucket(name)
		n, _, last := extentOf(b)
		dropped, err := dropOldest(b, last, min(evictAtOnce, n-keepBlocks))
		if err != nil || dropped > 0 {
			return err
		}
	}
	return dropKeys(tx.Bucket(bucketEvents), math.MaxInt64, dropAtOnce)
}

// dropOldest deletes up to n blocks that start before the time.
func dropOldest(b *bbolt.Bucket, before int64, n int) (dropped int, err error) {
	for dropped < n {
		k, _ := b.Cursor().First()
		if k == nil || keyTime(k) >= before {
			return dropped, nil
		}
		if err := b.DeleteBucket(bytes.Clone(k)); err != nil {
			return dropped, err
		}
		dropped++
	}
	return dropped, nil
}

// dropNotes drops what only blocks before the time needed: names of days that
// have no block left, events, and values of facts and sources that had been
// replaced by then. Findings are kept.
func (d *disk) dropNotes(tx *bbolt.Tx, before int64) error {
	oldest := before
	for _, name := range [][]byte{bucketRaw, bucketRollup} {
		if k, _ := tx.Bucket(name).Cursor().First(); k != nil {
			oldest = min(oldest, keyTime(k))
		}
	}
	if err := dropKeys(tx.Bucket(bucketSeries), dayStart(oldest), dropAtOnce); err != nil {
		return err
	}
	if err := dropKeys(tx.Bucket(bucketEvents), before, dropAtOnce); err != nil {
		return err
	}
	for _, name := range [][]byte{bucketFacts, bucketCoverage} {
		if err := dropReplaced(tx.Bucket(name), before); err != nil {
			return err
		}
	}
	return dropGone(tx.Bucket(bucketFacts), before)
}

// dropGone deletes facts of processes that were stated before the time: the
// process has gone, or they would have been stated again since.
func dropGone(b *bbolt.Bucket, before int64) error {
	c := b.Cursor()
	var doomed [][]byte
	for k, _ := c.Seek([]byte(processPrefix)); k != nil && len(doomed) < dropAtOnce; k, _ = c.Next() {
		key, at, ok := cutVersionKey(k)
		if processOf(key) == "" {
			break
		}
		if ok && at.UnixMilli() < before {
			doomed = append(doomed, bytes.Clone(k))
		}
	}
	for _, k := range doomed {
		if err := b.Delete(k); err != nil {
			return err
		}
	}
	return nil
}

// dropAtOnce bounds how many small keys go in one transaction.
const dropAtOnce = 500

// dropKeys deletes keys that begin with a time before the given one.
func dropKeys(b *bbolt.Bucket, before int64, most int) error {
	c := b.Cursor()
	k, _ := c.First()
	for n := 0; n < most && k != nil && keyTime(k) < before; n++ {
		if err := c.Delete(); err != nil {
			return err
		}
		k, _ = c.First()
	}
	return nil
}

// dropReplaced deletes values that a later one had replaced before the time.
func dropReplaced(b *bbolt.Bucket, before int64) error {
	c := b.Cursor()
	var doomed [][]byte
	var last string
	var lastKey []byte
	for k, _ := c.First(); k != nil && len(doomed) < dropAtOnce; k, _ = c.Next() {
		key, at, ok := cutVersionKey(k)
		if !ok {
			continue
		}
		if key == last && lastKey != nil && !at.After(time.UnixMilli(before)) {
			doomed = append(doomed, lastKey)
		}
		last, lastKey = key, bytes.Clone(k)
	}
	for _, k := range doomed {
		if err := b.Delete(k); err != nil {
			return err
		}
	}
	return nil
}
