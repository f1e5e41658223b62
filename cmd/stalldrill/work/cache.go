package work

import (
	"errors"
	"fmt"
	"os"

	"golang.org/x/sys/unix"

	"stallmark/cmd/stalldrill/host"
)

// cache fills free memory with clean pages of a file that is one hole: no disk
// is read, no room is taken, and any program that wants memory gets these pages
// at the price of reclaiming them. So nobody is killed, however full it is.
type cache struct {
	file     *os.File
	at, size int64
	step     int64
	holes    bool // gives back a page here and there
}

// gap is of how many pages one is given back.
const gap = 8

// openCache fills memory until only Floor bytes are free, before the drill
// begins; each operation then goes on by Bytes.
func openCache(h host.Host, t Task) (operation, error) {
	f, err := os.OpenFile(t.Path, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, err
	}
	if err := f.Truncate(t.Size); err != nil {
		return nil, errors.Join(fmt.Errorf("%s: %w", t.Path, err), f.Close())
	}
	c := &cache{file: f, size: t.Size, step: t.Bytes, holes: t.Do == Fragment}
	for full := false; !full; {
		if err := c.read(); err != nil {
			return nil, err
		}
		m, err := h.ReadMemory()
		if err != nil {
			return nil, err
		}
		full = m.Free <= t.Floor || c.at == 0
	}
	if err := c.punch(0, c.at); err != nil {
		return nil, err
	}
	return func() error {
		from := c.at
		if err := c.read(); err != nil {
			return err
		}
		return c.punch(from, from+c.step)
	}, nil
}

// read brings in the next part. Read-ahead on request takes single pages, also
// on a file system with large folios, so that it never has to compact.
func (c *cache) read() error {
	err := unix.Fadvise(int(c.file.Fd()), c.at, c.step, unix.FADV_WILLNEED)
	if c.at += c.step; c.at+c.step > c.size {
		c.at = 0
	}
	return err
}

// punch gives back a page here and there: memory is free then, but nowhere two
// pages in a row.
func (c *cache) punch(from, to int64) error {
	for off := from; c.holes && off < to; off += gap * page() {
		if err := unix.Fadvise(int(c.file.Fd()), off, page(), unix.FADV_DONTNEED); err != nil {
			return err
		}
	}
	return nil
}
