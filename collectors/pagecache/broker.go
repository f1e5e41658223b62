package pagecache

import (
	"cmp"
	"maps"
	"slices"
	"time"
)

// broker is what is known of the data files of one watched process.
type broker struct {
	Broker
	files map[fileKey]*record
	rows  map[rowKey]*row
	gone  map[Kind]*deletions
	since time.Time // of the last listing
	cold  coldReads // in this pass

	passed bool // a pass over it has begun
}

// record is what is known of one data file.
type record struct {
	dataFile
	store   string
	tried   time.Time // last attempt to look, zero if none
	at      time.Time // last look, zero if none
	before  time.Time // the look before that at the same file, zero if none
	reading reading
	filled  int64 // bytes that came into memory between the two, at least
	dropped int64 // and that left it
}

func newBroker(b Broker) *broker {
	return &broker{Broker: b, files: map[fileKey]*record{}, rows: map[rowKey]*row{}, gone: map[Kind]*deletions{}}
}

// update takes a new list of files and returns what was deleted, by kind.
func (b *broker) update(l *listing) map[Kind]deletion {
	lost := map[Kind]deletion{}
	renamed := b.renamed(l)
	for k, r := range b.files {
		if _, still := l.found[k]; still || !l.deleted(k) {
			continue
		}
		delete(b.files, k)
		if to, ok := renamed[k]; ok {
			b.files[to] = r
			continue
		}
		d := lost[r.kind]
		d.add(r)
		lost[r.kind] = d
	}
	for k, f := range l.found {
		r := b.files[k]
		if r == nil {
			r = &record{}
			b.files[k] = r
		}
		r.dataFile, r.store = f, k.store
		b.deletionsOf(f.kind)
	}
	return lost
}

// renamed finds files that go on under the name that Kafka gives them before it
// deletes them: by old name, the new one.
func (b *broker) renamed(l *listing) map[fileKey]fileKey {
	moved := map[fileKey]fileKey{}
	for k := range l.found {
		living := fileKey{k.store, livingName(k.path)}
		_, still := l.found[living]
		if living != k && !still && b.files[living] != nil && b.files[k] == nil {
			moved[living] = k
		}
	}
	return moved
}

// take notes a look at a file.
func (b *broker) take(l look, c clock) {
	f := b.files[l.job.key]
	if f == nil {
		return // deleted meanwhile
	}
	f.tried = c.now
	r := l.reading
	if l.err != nil {
		if f.at.IsZero() {
			f.reading.status = r.status // at least its size
		}
		return
	}
	f.before, f.filled, f.dropped = time.Time{}, 0, 0
	if !f.at.IsZero() && f.reading.dev == r.dev && f.reading.ino == r.ino {
		filled, dropped := r.since(&f.reading)
		f.before, f.filled, f.dropped = f.at, filled*c.page, dropped*c.page
	}
	f.at, f.reading = c.now, r
	age := c.age(f)
	row := b.row(rowKey{f.kind, age})
	row.filled += f.filled
	row.dropped += f.dropped
	if age == Old {
		b.cold.add(f)
	}
}

// clock is what ages are told by.
type clock struct {
	page   int64
	now    time.Time
	recent time.Duration
}

// Age says how near a file is to the end of its log: the label age.
type Age string

// The ages. Active files are being written, or made ready to be; recent ones
// were written lately; what reads from old ones reads cold data.
const (
	Active Age = "active"
	Recent Age = "recent"
	Old    Age = "old"
)

func (c clock) age(r *record) Age {
	switch {
	case r.rank < r.ahead:
		return Active
	case c.now.Sub(r.reading.modified) <= c.recent:
		return Recent
	}
	return Old
}

// deletion counts files that were deleted.
type deletion struct {
	files int
	bytes int64 // of those whose size was known
	known int   // how many these were
}

func (d *deletion) add(r *record) {
	d.files++
	if d.bytes += r.reading.size; !r.tried.IsZero() {
		d.known++
	}
}

// sorted returns the records in the order of their stores and paths.
func (b *broker) sorted() []*record {
	return slices.SortedFunc(maps.Values(b.files), func(x, y *record) int {
		return cmp.Or(cmp.Compare(x.store, y.store), cmp.Compare(x.path, y.path))
	})
}
