package storage

import (
	"encoding/binary"
	"maps"
	"slices"
	"sync"

	"github.com/klauspost/compress/zstd"
	"github.com/prometheus/prometheus/model/labels"
	"go.etcd.io/bbolt"
)

// Blocks name their series by number. The numbers are those of one day, so that
// a day's names go away with its blocks, and a churn of processes does not pile
// up.

const dayMillis = 24 * 60 * spanMillis

// dayStart is the day that t falls in.
func dayStart(t int64) int64 { return alignDown(t, dayMillis) }

// dictionary is the series of one day, by number. It is not changed once it has
// been made.
type dictionary struct {
	day    int64
	ids    map[string]uint32
	keys   []string // empty where the name could not be read
	labels []labels.Labels
}

// extended is the dictionary with the keys that it does not have.
func (d *dictionary) extended(keys []string) *dictionary {
	known := func(k string) bool { _, ok := d.ids[k]; return ok }
	fresh := slices.DeleteFunc(slices.Clone(keys), known)
	if len(fresh) == 0 {
		return d
	}
	e := &dictionary{d.day, maps.Clone(d.ids), slices.Clip(d.keys), slices.Clip(d.labels)}
	for _, k := range fresh {
		e.add(k)
	}
	return e
}

// add gives the next number to a key.
func (d *dictionary) add(key string) {
	lbls, err := keyLabels(key)
	if err != nil {
		key, lbls = "", labels.EmptyLabels()
	} else {
		d.ids[key] = uint32(len(d.keys))
	}
	d.keys = append(d.keys, key)
	d.labels = append(d.labels, lbls)
}

// matching marks the numbers whose series match.
func (d *dictionary) matching(ms []*labels.Matcher) (wanted []bool, some bool) {
	wanted = make([]bool, len(d.keys))
	for i, l := range d.labels {
		if d.keys[i] != "" && matches(l, ms) {
			wanted[i], some = true, true
		}
	}
	return wanted, some
}

// readDictionary reads a day's names. A damaged row leaves its numbers without.
func readDictionary(tx *bbolt.Tx, day int64, z *zstd.Decoder) *dictionary {
	d := &dictionary{day: day, ids: map[string]uint32{}}
	c := tx.Bucket(bucketSeries).Cursor()
	for k, v := c.Seek(timeKey(day)); k != nil && keyTime(k) == day; k, v = c.Next() {
		if len(k) != 12 || len(v) < 4 {
			continue
		}
		first, count := int(binary.BigEndian.Uint32(k[8:])), int(binary.BigEndian.Uint32(v))
		if first < len(d.keys) || first+count > maxBeatSeries {
			continue
		}
		d.pad(first)
		d.readRow(v[4:], count, z)
		d.pad(first + count)
	}
	return d
}

// readRow reads up to count names.
func (d *dictionary) readRow(v []byte, count int, z *zstd.Decoder) {
	raw, err := z.DecodeAll(v, nil)
	if err != nil {
		return
	}
	c := cursor{b: raw}
	for range count {
		key := string(c.text())
		if c.bad {
			return
		}
		d.add(key)
	}
}

// pad leaves the numbers below n that have no name without one.
func (d *dictionary) pad(n int) {
	for len(d.keys) < n {
		d.keys = append(d.keys, "")
		d.labels = append(d.labels, labels.EmptyLabels())
	}
}

// writeNames stores the names from number first on.
func (d *dictionary) writeNames(tx *bbolt.Tx, first int, z *zstd.Encoder) error {
	if first == len(d.keys) {
		return nil
	}
	var raw []byte
	for _, k := range d.keys[first:] {
		raw = appendText(raw, k)
	}
	key := binary.BigEndian.AppendUint32(timeKey(d.day), uint32(first))
	value := binary.BigEndian.AppendUint32(nil, uint32(len(d.keys)-first))
	return tx.Bucket(bucketSeries).Put(key, z.EncodeAll(raw, value))
}

// maxDays is how many days' names are kept in memory: a query over a week reads
// each once.
const maxDays = 10

// dictionaries keeps the days that were used last.
type dictionaries struct {
	zstd *zstd.Decoder
	mu   sync.Mutex
	days []*dictionary // used last comes last
}

// get is the dictionary of the day.
func (ds *dictionaries) get(tx *bbolt.Tx, day int64) *dictionary {
	ds.mu.Lock()
	defer ds.mu.Unlock()
	i := slices.IndexFunc(ds.days, func(d *dictionary) bool { return d.day == day })
	if i < 0 {
		d := readDictionary(tx, day, ds.zstd)
		ds.keep(d)
		return d
	}
	d := ds.days[i]
	ds.days = append(slices.Delete(ds.days, i, i+1), d)
	return d
}

// put replaces the day's dictionary by one that has been stored.
func (ds *dictionaries) put(d *dictionary) {
	ds.mu.Lock()
	defer ds.mu.Unlock()
	ds.days = slices.DeleteFunc(ds.days, func(o *dictionary) bool { return o.day == d.day })
	ds.keep(d)
}

// keep adds a day and drops the one that was not used for longest.
func (ds *dictionaries) keep(d *dictionary) {
	ds.days = append(ds.days, d)
	if len(ds.days) > maxDays {
		ds.days = slices.Delete(ds.days, 0, 1)
	}
}
