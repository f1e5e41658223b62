package pagecache

import (
	"os"
	"time"

	"stallmark/collectors/process"
)

// Opener opens what a process names as that process would see it, and only what
// its own user may read. [process.RootOpener] is the live one.
type Opener interface {
	// Open opens a regular file for reading.
	Open(id process.ID, path string) (*os.File, error)
	// ReadDir returns names in a folder, in no particular order; if it returns
	// limit names, there may be more.
	ReadDir(id process.ID, path string, limit int) ([]string, error)
}

// opener is an [Opener] whose files can be asked about.
type opener interface {
	open(id process.ID, path string) (handle, error)
	list(id process.ID, path string, limit int) ([]string, error)
}

// handle is an open file. Ranges are in bytes and begin at a page.
type handle interface {
	stat() (status, error)
	cachestat(off, n int64) (pages, error)
	mincore(off, n int64) (pages, error)
	// tells reports whether mincore tells the truth about this file: since 5.2
	// it calls everything resident to those who neither own nor may write it.
	tells() (bool, error)
	close()
}

// status is what a file is besides its contents.
type status struct {
	size     int64 // bytes
	dev, ino uint64
	modified time.Time
	layered  bool // on overlayfs, where cachestat sees an empty file
	foreign  bool // on a file system with a cache of its own beside the page cache
}

// pages counts pages by their state; all but cached only where told.
type pages struct {
	cached, dirty, writeback, evicted, recentlyEvicted int64
}

func (p *pages) add(q pages) {
	p.cached += q.cached
	p.dirty += q.dirty
	p.writeback += q.writeback
	p.evicted += q.evicted
	p.recentlyEvicted += q.recentlyEvicted
}
