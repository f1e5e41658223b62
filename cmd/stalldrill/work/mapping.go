package work

import (
	"encoding/binary"
	"errors"
	"fmt"
	"os"

	"golang.org/x/sys/unix"
)

// openMapAppend appends to a mapping all of whose pages are there.
func openMapAppend(t Task) (operation, error) {
	f, err := allocated(t.Path, t.Size)
	if err != nil {
		return nil, err
	}
	m, err := mapped(f, t.Size)
	if err != nil {
		return nil, err
	}
	touch(m, 1)
	block := noise(int(t.Bytes))
	places := ring{size: t.Size, step: t.Bytes}
	return func() error {
		copy(m[places.next():], block)
		return nil
	}, nil
}

// openMapCold appends to a mapping that nobody has touched: each new page is a
// fault. At its end it goes on in a new file, as a log rolls.
func openMapCold(t Task) (operation, error) {
	block := noise(int(t.Bytes))
	var m []byte
	var last string
	files := 0
	roll := func() error {
		files++
		path := fmt.Sprintf("%s.%d", t.Path, files)
		f, err := allocated(path, t.Size)
		if err != nil {
			return err
		}
		old := m
		if m, err = mapped(f, t.Size); err != nil {
			return errors.Join(err, f.Close())
		}
		if old != nil {
			err = errors.Join(unix.Munmap(old), os.Remove(last))
		}
		last = path
		return errors.Join(err, f.Close())
	}
	if err := roll(); err != nil {
		return nil, err
	}
	var at int64
	return func() error {
		if at+t.Bytes > t.Size {
			if err := roll(); err != nil {
				return err
			}
			at = 0
		}
		copy(m[at:], block)
		at += t.Bytes
		return nil
	}, nil
}

// openMapStore stores to random places of a warm mapping, as an index does.
func openMapStore(t Task) (operation, error) {
	f, err := allocated(t.Path, t.Size)
	if err != nil {
		return nil, err
	}
	m, err := mapped(f, t.Size)
	if err != nil {
		return nil, err
	}
	touch(m, 1)
	var value uint64
	return func() error {
		value++
		binary.NativeEndian.PutUint64(m[somewhere(t.Size, 8):], value)
		return nil
	}, nil
}
