package pagecache

import (
	"errors"
	"math"
	"time"

	"golang.org/x/sys/unix"
)

// maxParts is into how many parts of equal length a file is taken.
const maxParts = 64

// How many bytes are asked about at once, so that one question is short.
const (
	cachestatWindow = 1 << 30
	mincoreWindow   = 64 << 20
)

// Why a file was not told about.
var (
	errWithheld = errors.New("the kernel tells what is in memory only to those who own a file or may write it")
	errForeign  = errors.New("the file system keeps a cache of its own beside the page cache (ZFS)")
	errTooLarge = errors.New("a file is too large to be asked about in time")
)

// reading is what is in memory of one file.
type reading struct {
	status
	length   int64    // pages
	parts    []uint32 // resident pages of each part
	total    pages
	detailed bool // all of total is told; otherwise only cached
}

// looker asks about files, one at a time.
type looker struct {
	page     int64 // bytes
	now      func() time.Time
	patience time.Duration // for one file

	noCachestat bool // this kernel does not have it
	barred      bool // it has, but somebody forbids it
	layered     bool // files were on overlayfs
}

// look asks about all of a file.
func (l *looker) look(h handle) (reading, error) {
	st, err := h.stat()
	if err != nil || st.size <= 0 {
		return reading{status: st, detailed: true}, err
	}
	r := reading{status: st, length: (st.size-1)/l.page + 1}
	if st.foreign {
		return r, errForeign
	}
	if !st.layered && !l.noCachestat {
		err := l.fill(&r, cachestatWindow, h.cachestat)
		switch {
		case err == nil:
			r.detailed = true
			return r, nil
		case errors.Is(err, unix.ENOSYS):
			l.noCachestat = true
		case !errors.Is(err, unix.EPERM) && !errors.Is(err, unix.EACCES) && !errors.Is(err, unix.EOPNOTSUPP):
			return r, err
		}
	}
	truth, err := h.tells()
	if err != nil {
		return r, err
	}
	if !truth {
		return r, errWithheld
	}
	l.layered = l.layered || st.layered
	l.barred = l.barred || !st.layered && !l.noCachestat
	return r, l.fill(&r, mincoreWindow, h.mincore)
}

// fill asks part by part.
func (l *looker) fill(r *reading, window int64, ask func(off, n int64) (pages, error)) error {
	end := l.now().Add(l.patience)
	count := min(maxParts, r.length)
	r.parts, r.total = make([]uint32, count), pages{}
	for i := range count {
		from, to := partAt(i, count, r.length), partAt(i+1, count, r.length)
		for from < to {
			n := min(to-from, window/l.page)
			p, err := ask(from*l.page, n*l.page)
			if err != nil {
				return err
			}
			from += n
			r.parts[i] = uint32(min(int64(r.parts[i])+p.cached, math.MaxUint32))
			r.total.add(p)
			if l.now().After(end) {
				return errTooLarge
			}
		}
	}
	return nil
}

// partAt is the first page of part i of count; of files of 2^63 bytes too.
func partAt(i, count, length int64) int64 {
	return length/count*i + length%count*i/count
}

// shares are the resident shares of the parts, 0 to 1.
func (r *reading) shares() []float64 {
	count := int64(len(r.parts))
	shares := make([]float64, count)
	from := int64(0)
	for i := range count {
		to := partAt(i+1, count, r.length)
		shares[i] = min(float64(r.parts[i])/float64(to-from), 1)
		from = to
	}
	return shares
}

// resident is how many bytes of the file are in memory.
func (r *reading) resident(page int64) int64 { return min(r.total.cached*page, r.size) }

// since tells how many pages came into memory and how many left it, at least,
// since an earlier look at the same file. Pages that were written at the end of
// a file that grew did not come from the disk and do not count.
func (r *reading) since(old *reading) (filled, dropped int64) {
	if r.length != old.length {
		change := r.total.cached - old.total.cached
		return max(change-max(r.length-old.length, 0), 0), max(-change, 0)
	}
	for i, now := range r.parts {
		change := int64(now) - int64(old.parts[i])
		filled += max(change, 0)
		dropped += max(-change, 0)
	}
	return filled, dropped
}
