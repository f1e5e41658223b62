package work

import (
	"errors"
	"fmt"
	"os"
	"sync/atomic"

	"golang.org/x/sys/unix"
)

// forgetter drops a file's pages again before much of it has been read, so
// that cold reads stay cold.
type forgetter struct {
	left, every int64
	drop        func() error
}

func newForgetter(t Task, drop func() error) *forgetter {
	every := max(t.Size/t.Bytes/4, 1)
	return &forgetter{every, every, drop}
}

func (f *forgetter) step() error {
	if f.left--; f.left > 0 {
		return nil
	}
	f.left = f.every
	return f.drop()
}

// openData opens a file to be read, which is in memory for hot tasks and not
// for cold ones.
func openData(t Task) (*os.File, error) {
	f, err := onDisk(t.Path, t.Size)
	if err == nil && (t.Do == HotRead || t.Do == HotMap) {
		err = warm(f, t.Size)
	}
	return f, err
}

// openRead reads at random places. Without read-ahead, since a consumer of old
// messages jumps about.
func openRead(t Task) (operation, error) {
	f, err := openData(t)
	if err != nil {
		return nil, err
	}
	if err := unix.Fadvise(int(f.Fd()), 0, 0, unix.FADV_RANDOM); err != nil {
		return nil, fmt.Errorf("advise %s: %w", t.Path, err)
	}
	buf := make([]byte, t.Bytes)
	again := newForgetter(t, func() error { return unix.Fadvise(int(f.Fd()), 0, 0, unix.FADV_DONTNEED) })
	return func() error {
		if _, err := f.ReadAt(buf, somewhere(t.Size, t.Bytes)); err != nil || t.Do == HotRead {
			return err
		}
		return again.step()
	}, nil
}

// openMapRead loads from random pages of a mapping: a page that is not in
// memory is a major fault.
func openMapRead(t Task) (operation, error) {
	f, err := openData(t)
	if err != nil {
		return nil, err
	}
	m, err := mapped(f, t.Size)
	if err != nil {
		return nil, err
	}
	if err := unix.Madvise(m, unix.MADV_RANDOM); err != nil {
		return nil, fmt.Errorf("advise %s: %w", t.Path, err)
	}
	// Pages that are mapped are not dropped: they are unmapped first.
	again := newForgetter(t, func() error {
		return errors.Join(unix.Madvise(m, unix.MADV_DONTNEED), unix.Fadvise(int(f.Fd()), 0, 0, unix.FADV_DONTNEED))
	})
	var sum atomic.Uint64 // keeps the load from being optimised away
	return func() error {
		sum.Add(uint64(m[somewhere(t.Size, page())]))
		if t.Do == HotMap {
			return nil
		}
		return again.step()
	}, nil
}
