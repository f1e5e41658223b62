package storage

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"errors"
	"strconv"
	"time"

	"go.etcd.io/bbolt"

	"stallmark/storage/model"
)

// putNotes stores encoded notes. One that cannot be read is named and left out.
func (d *disk) putNotes(tx *bbolt.Tx, notes [][]byte) error {
	for _, raw := range notes {
		n, err := decodeNote(raw)
		if err != nil {
			d.say("a note cannot be read and is left out: " + err.Error())
			continue
		}
		if err := putNote(tx, n); err != nil {
			return err
		}
	}
	return nil
}

// putNote stores one note.
func putNote(tx *bbolt.Tx, n note) error {
	switch {
	case n.Event != nil:
		return putEvent(tx, *n.Event)
	case n.Fact != nil:
		return tx.Bucket(bucketFacts).Put(versionKey(n.Fact.Key, n.Fact.At), []byte(n.Fact.Value))
	case n.Coverage != nil:
		v, err := json.Marshal(n.Coverage.State)
		if err != nil {
			return err
		}
		return tx.Bucket(bucketCoverage).Put(versionKey(n.Coverage.State.Source, n.Coverage.At), v)
	case n.Finding != nil:
		return putFinding(tx, *n.Finding)
	case n.State != nil:
		return tx.Bucket(bucketMeta).Put(stateKey(n.State.Name), n.State.Value)
	}
	return nil
}

// putEvent stores an event under its start; the same event twice is one.
func putEvent(tx *bbolt.Tx, e model.Event) error {
	v, err := json.Marshal(e)
	if err != nil {
		return err
	}
	meta := tx.Bucket(bucketMeta)
	longest, _ := strconv.ParseInt(string(meta.Get(keyLongest)), 10, 64)
	if ms := e.To.Sub(e.From).Milliseconds(); ms > longest {
		if err := meta.Put(keyLongest, strconv.AppendInt(nil, ms, 10)); err != nil {
			return err
		}
	}
	b := tx.Bucket(bucketEvents)
	for n := uint32(0); ; n++ {
		key := binary.BigEndian.AppendUint32(timeKey(e.From.UnixMilli()), n)
		there := b.Get(key)
		if there == nil {
			return b.Put(key, v)
		}
		if bytes.Equal(there, v) {
			return nil
		}
	}
}

// eventsIn reads the events that overlap [from, to] and start before the time
// given.
func (d *disk) eventsIn(from, to, before time.Time, kinds []model.EventKind) ([]model.Event, error) {
	var log eventLog
	err := d.view(func(tx *bbolt.Tx) error {
		longest, _ := strconv.ParseInt(string(tx.Bucket(bucketMeta).Get(keyLongest)), 10, 64)
		c := tx.Bucket(bucketEvents).Cursor()
		last := min(to.UnixMilli(), before.UnixMilli())
		for k, v := c.Seek(timeKey(from.UnixMilli() - longest)); k != nil && keyTime(k) <= last; k, v = c.Next() {
			var e model.Event
			if err := json.Unmarshal(v, &e); err != nil {
				d.markBad("event", keyTime(k), err)
				continue
			}
			if e.From.Before(before) {
				log.put(e)
			}
		}
		return nil
	})
	return log.in(from, to, kinds), err
}

// versionKey is the key of a value that something has from a time on.
func versionKey(key string, at time.Time) []byte {
	b := append([]byte(nil), key...)
	return append(append(b, 0), timeKey(at.UnixMilli())...)
}

// cutVersionKey is its inverse.
func cutVersionKey(k []byte) (key string, at time.Time, ok bool) {
	n := len(k) - 9
	if n < 0 || k[n] != 0 {
		return "", time.Time{}, false
	}
	return string(k[:n]), time.UnixMilli(keyTime(k[n+1:])).UTC(), true
}

// eachLatest calls f with every key's latest value at or before at.
func eachLatest(b *bbolt.Bucket, at time.Time, f func(key string, since time.Time, value []byte)) {
	c := b.Cursor()
	for k, _ := c.First(); k != nil; {
		key, _, ok := cutVersionKey(k)
		if !ok {
			k, _ = c.Next()
			continue
		}
		// One past the latest version that may count, then one back.
		end := versionKey(key, at.Add(time.Millisecond))
		if k, _ = c.Seek(end); k == nil {
			k, _ = c.Last()
		} else {
			k, _ = c.Prev()
		}
		if found, since, ok := cutVersionKey(k); ok && found == key {
			_, v := c.Seek(k)
			f(key, since, v)
		}
		k, _ = c.Seek(append([]byte(key), 1))
	}
}

// factsAt reads the facts as they were at a time.
func (d *disk) factsAt(at time.Time) ([]model.Fact, error) {
	var out []model.Fact
	err := d.view(func(tx *bbolt.Tx) error {
		eachLatest(tx.Bucket(bucketFacts), at, func(key string, since time.Time, v []byte) {
			out = append(out, model.Fact{At: since, Key: key, Value: string(v)})
		})
		return nil
	})
	return out, err
}

// coverageAt reads the state of the sources as it was at a time.
func (d *disk) coverageAt(at time.Time) ([]coverageNote, error) {
	var out []coverageNote
	err := d.view(func(tx *bbolt.Tx) error {
		eachLatest(tx.Bucket(bucketCoverage), at, func(_ string, since time.Time, v []byte) {
			var c model.Coverage
			if err := json.Unmarshal(v, &c); err != nil {
				d.markBad("coverage", since.UnixMilli(), err)
				return
			}
			out = append(out, coverageNote{since, c})
		})
		return nil
	})
	return out, err
}

// putFinding adds or replaces a finding, and its place in the index by start.
func putFinding(tx *bbolt.Tx, f model.Finding) error {
	v, err := json.Marshal(f)
	if err != nil {
		return err
	}
	findings, index := tx.Bucket(bucketFindings), tx.Bucket(bucketByStart)
	if old := findings.Get([]byte(f.ID)); old != nil {
		var was model.Finding
		if err := json.Unmarshal(old, &was); err == nil {
			if err := index.Delete(startKey(was)); err != nil {
				return err
			}
		}
	}
	if f.ID == "" {
		return errors.New("a finding without an id")
	}
	end := int64(0) // still there
	if !ongoing(f) {
		end = f.Ended.UnixMilli()
	}
	if err := index.Put(startKey(f), timeKey(end)); err != nil {
		return err
	}
	return findings.Put([]byte(f.ID), v)
}

func startKey(f model.Finding) []byte { return append(timeKey(f.Started.UnixMilli()), f.ID...) }

// findingsIn reads the findings that overlap [from, to], at most limit, the
// newest ones, oldest first.
func (d *disk) findingsIn(from, to time.Time, limit int) ([]model.Finding, error) {
	var out []model.Finding
	err := d.view(func(tx *bbolt.Tx) error {
		c := tx.Bucket(bucketByStart).Cursor()
		k, _ := c.Seek(timeKey(to.UnixMilli() + 1))
		var v []byte
		if k == nil {
			k, v = c.Last()
		} else {
			k, v = c.Prev()
		}
		for ; k != nil && len(out) < limit; k, v = c.Prev() {
			if end := keyTime(v); len(k) < 8 || (end != 0 && end < from.UnixMilli()) {
				continue
			}
			var f model.Finding
			if err := json.Unmarshal(tx.Bucket(bucketFindings).Get(k[8:]), &f); err != nil {
				d.markBad("finding", keyTime(k), err)
				continue
			}
			out = append(out, f)
		}
		return nil
	})
	sortFindings(out)
	return out, err
}

// finding reads one finding.
func (d *disk) finding(id string) (f model.Finding, ok bool, err error) {
	err = d.view(func(tx *bbolt.Tx) error {
		v := tx.Bucket(bucketFindings).Get([]byte(id))
		if v == nil {
			return nil
		}
		ok = true
		return json.Unmarshal(v, &f)
	})
	return f, ok && err == nil, err
}
