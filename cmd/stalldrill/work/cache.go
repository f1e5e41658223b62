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
	buf      []byte
	pieces   bool // single pages with holes between them
}

// holes is of how many pages one is given back to leave a gap.
const holes = 16

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
	c := &cache{file: f, size: t.Size, buf: make([]byte, t.Bytes), pieces: t.Do == Fragment}
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
	if c.pieces {
		if err := c.punch(0, c.at); err != nil {
			return nil, err
		}
	}
	return c.step, nil
}

func (c *cache) step() error {
	from := c.at
	if err := c.read(); err != nil || !c.pieces {
		return err
	}
	return c.punch(from, from+int64(len(c.buf)))
}

// read brings in the next part. Read-ahead by request takes single pages,
// reading takes them in large folios where the file system can.
func (c *cache) read() error {
	var err error
	if c.pieces {
		err = unix.Fadvise(int(c.file.Fd()), c.at, int64(len(c.buf)), unix.FADV_WILLNEED)
	} else {
		_, err = c.file.ReadAt(c.buf, c.at)
	}
	if c.at += int64(len(c.buf)); c.at+int64(len(c.buf)) > c.size {
		c.at = 0
	}
	return err
}

// punch gives back a page here and there: memory is free then, but nowhere two
// pages in a row.
func (c *cache) punch(from, to int64) error {
	for off := from; off < to; off += holes * page() {
		if err := unix.Fadvise(int(c.file.Fd()), off, page(), unix.FADV_DONTNEED); err != nil {
			return err
		}
	}
	return nil
}
