package pagecache

import (
	"cmp"
	"maps"
	"slices"
	"strconv"

	"stallmark/collectors"
	"stallmark/storage/model"
)

// rowKey is what the sums of a broker are split by.
type rowKey struct {
	kind Kind
	age  Age
}

// row is the sum over files of one kind and age.
type row struct {
	series  [columns]*model.Series
	files   int64 // that were looked at
	size    int64 // bytes
	held    int64 // bytes resident
	total   pages
	partial bool  // of some only what is resident is known
	filled  int64 // bytes, counters
	dropped int64
}

// The columns of a row.
const (
	colFiles = iota
	colSize
	colResident
	colDirty
	colWriteback
	colEvicted
	colRecentlyEvicted
	colFilled
	colDropped
	columns
)

// names of the columns.
var names = [columns]string{
	colFiles:           "stallmark_pagecache_files",
	colSize:            "stallmark_pagecache_file_bytes",
	colResident:        "stallmark_pagecache_resident_bytes",
	colDirty:           "stallmark_pagecache_dirty_bytes",
	colWriteback:       "stallmark_pagecache_writeback_bytes",
	colEvicted:         "stallmark_pagecache_evicted_bytes",
	colRecentlyEvicted: "stallmark_pagecache_recently_evicted_bytes",
	colFilled:          "stallmark_pagecache_filled_bytes_total",
	colDropped:         "stallmark_pagecache_dropped_bytes_total",
}

// series makes a series of a broker.
func (b *broker) series(name string, pairs ...string) *model.Series {
	return model.NewSeries(name, append([]string{"process", b.Process, "pid", strconv.Itoa(b.ID.Pid)}, pairs...)...)
}

// row returns the row of a kind and age; once there it stays, since its
// counters do.
func (b *broker) row(k rowKey) *row {
	r := b.rows[k]
	if r == nil {
		r = &row{}
		for i, name := range names {
			r.series[i] = b.series(name, "kind", string(k.kind), "age", string(k.age))
		}
		b.rows[k] = r
	}
	return r
}

// sum adds up all that is known.
func (b *broker) sum(c clock) {
	for _, r := range b.rows {
		r.files, r.size, r.held, r.total, r.partial = 0, 0, 0, pages{}, false
	}
	for _, f := range b.files {
		if f.at.IsZero() {
			continue
		}
		r := b.row(rowKey{f.kind, c.age(f)})
		r.files++
		r.size += f.reading.size
		r.held += f.reading.resident(c.page)
		r.total.add(f.reading.total)
		r.partial = r.partial || !f.reading.detailed
	}
}

// emit puts the sums, and the counters of deletions.
func (b *broker) emit(out *collectors.Out, page int64) {
	for _, k := range sortedKeys(b.rows, func(x, y rowKey) int {
		return cmp.Or(cmp.Compare(x.kind, y.kind), cmp.Compare(x.age, y.age))
	}) {
		b.rows[k].emit(out, page)
	}
	for _, k := range sortedKeys(b.gone, cmp.Compare[Kind]) {
		d := b.gone[k]
		out.Add(d.filesSeries, float64(d.files))
		out.Add(d.bytesSeries, float64(d.bytes))
	}
}

func (r *row) emit(out *collectors.Out, page int64) {
	put := func(column int, v int64) { out.Add(r.series[column], float64(v)) }
	put(colFiles, r.files)
	put(colSize, r.size)
	put(colResident, r.held)
	if !r.partial {
		put(colDirty, r.total.dirty*page)
		put(colWriteback, r.total.writeback*page)
		put(colEvicted, r.total.evicted*page)
		put(colRecentlyEvicted, r.total.recentlyEvicted*page)
	}
	put(colFilled, r.filled)
	put(colDropped, r.dropped)
}

// deletions are the counters of one kind.
type deletions struct {
	deletion
	filesSeries, bytesSeries *model.Series
}

// deletionsOf returns the counters of a kind, which begin at 0 with its first
// file.
func (b *broker) deletionsOf(k Kind) *deletions {
	d := b.gone[k]
	if d == nil {
		d = &deletions{
			filesSeries: b.series("stallmark_pagecache_deleted_files_total", "kind", string(k)),
			bytesSeries: b.series("stallmark_pagecache_deleted_bytes_total", "kind", string(k)),
		}
		b.gone[k] = d
	}
	return d
}

func sortedKeys[K comparable, V any](m map[K]V, compare func(a, b K) int) []K {
	return slices.SortedFunc(maps.Keys(m), compare)
}
