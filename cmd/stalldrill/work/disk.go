package work

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"golang.org/x/sys/unix"
)

// openFlush writes out, again and again, a file that others dirty.
func openFlush(t Task) (operation, error) {
	f, err := os.OpenFile(t.Path, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, err
	}
	if t.Do == Flush {
		return func() error { return unix.Fdatasync(int(f.Fd())) }, nil
	}
	const all = unix.SYNC_FILE_RANGE_WAIT_BEFORE | unix.SYNC_FILE_RANGE_WRITE | unix.SYNC_FILE_RANGE_WAIT_AFTER
	return func() error { return unix.SyncFileRange(int(f.Fd()), 0, 0, all) }, nil
}

// openDirect writes at random places past the page cache.
func openDirect(t Task) (operation, error) {
	f, err := allocated(t.Path, t.Size)
	if err != nil {
		return nil, err
	}
	if err := f.Close(); err != nil {
		return nil, err
	}
	direct, err := os.OpenFile(t.Path, os.O_RDWR|unix.O_DIRECT, 0)
	if err != nil {
		return nil, fmt.Errorf("O_DIRECT: %w", err)
	}
	block, err := anonymous(t.Bytes) // aligned, as O_DIRECT wants
	if err != nil {
		return nil, err
	}
	copy(block, noise(len(block)))
	return func() error {
		_, err := direct.WriteAt(block, somewhere(t.Size, t.Bytes))
		return err
	}, nil
}

// openSmall makes, writes and removes small files, as a build does or, with
// fsync, as a careful program with many small records.
func openSmall(t Task) (operation, error) {
	if err := os.MkdirAll(t.Path, 0o700); err != nil {
		return nil, err
	}
	name := filepath.Join(t.Path, t.Name)
	block, back := noise(int(t.Bytes)), make([]byte, t.Bytes)
	return func() error {
		f, err := os.OpenFile(name, os.O_RDWR|os.O_CREATE|os.O_TRUNC, 0o600)
		if err != nil {
			return err
		}
		_, err = f.WriteAt(block, 0)
		switch {
		case err != nil:
		case t.Do == SmallSyncs:
			err = f.Sync()
		default:
			_, err = f.ReadAt(back, 0)
		}
		return errors.Join(err, f.Close(), os.Remove(name))
	}, nil
}

// openCopy copies a file step by step, and begins anew at its end.
func openCopy(t Task) (operation, error) {
	from, err := onDisk(t.Path, t.Size)
	if err != nil {
		return nil, err
	}
	to, err := os.OpenFile(t.Path+".copy", os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, err
	}
	buf := make([]byte, t.Bytes)
	var at int64
	return func() error {
		n, err := from.ReadAt(buf, at)
		if err != nil && !errors.Is(err, io.EOF) {
			return err
		}
		if at += int64(n); n < len(buf) {
			at = 0
			return to.Truncate(0) // as removing the copy and making it anew
		}
		_, err = to.WriteAt(buf[:n], at-int64(n))
		return err
	}, nil
}
