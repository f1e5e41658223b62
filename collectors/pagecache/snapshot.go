package pagecache

import (
	"cmp"
	"time"

	"stallmark/collectors/process"
)

// File is what is in memory of one data file.
type File struct {
	Process string // the label process
	Pid     int
	Store   string // absolute folder, as the process sees it
	Path    string // relative to Store; letters, digits and . _ - % | / only
	Kind    Kind
	Age     Age
	Size    int64 // bytes
	// Resident are the bytes in the page cache.
	Resident int64
	// Detail is what cachestat(2) tells besides; nil where only mincore(2) was
	// to be had.
	Detail *Detail
	// Parts are the resident shares, 0 to 1, of 64 parts of equal length, in the
	// order of the file; fewer where it has fewer pages.
	Parts []float64
	// Filled and Dropped are the bytes, at least, that came into memory and left
	// it since the look before this one, at Before. That is zero if there was
	// none; then they say nothing.
	Filled, Dropped int64
	Before          time.Time
	At              time.Time // of this look
}

// Detail is the state of the bytes of a file. What was dropped by
// posix_fadvise(POSIX_FADV_DONTNEED) or at the file's truncation leaves no mark
// and is not among the evicted.
type Detail struct {
	Dirty, Writeback int64 // bytes
	// Evicted bytes were in memory and were reclaimed; the recently evicted
	// among them would still be there with a little more memory.
	Evicted, RecentlyEvicted int64
}

// Snapshot returns what is known of every file that was looked at, by process,
// store and path. It may be called at any time.
func (s *Source) Snapshot() []File {
	files, readings := s.known()
	for i := range files { // apart from the beat, which waits for known
		files[i].Parts = readings[i].shares()
	}
	return files
}

// known returns the files without their parts, and what these come from.
func (s *Source) known() (files []File, readings []reading) {
	s.mu.Lock()
	defer s.mu.Unlock()
	c := clock{int64(s.cfg.PageSize), s.last, s.cfg.Recent}
	for _, id := range sortedKeys(s.brokers, compareIDs) {
		b := s.brokers[id]
		for _, r := range b.sorted() {
			if !r.at.IsZero() {
				files, readings = append(files, b.file(r, c)), append(readings, r.reading)
			}
		}
	}
	return files, readings
}

func compareIDs(a, b process.ID) int {
	return cmp.Or(cmp.Compare(a.Pid, b.Pid), cmp.Compare(a.Start, b.Start))
}

func (b *broker) file(r *record, c clock) File {
	f := File{
		Process: b.Process, Pid: b.ID.Pid, Store: r.store, Path: r.path, Kind: r.kind, Age: c.age(r),
		Size: r.reading.size, Resident: r.reading.resident(c.page),
		Filled: r.filled, Dropped: r.dropped, Before: r.before, At: r.at,
	}
	if t := r.reading.total; r.reading.detailed {
		f.Detail = &Detail{t.dirty * c.page, t.writeback * c.page, t.evicted * c.page, t.recentlyEvicted * c.page}
	}
	return f
}
