package work

import (
	"os"

	"golang.org/x/sys/unix"
)

// ring hands out places of a file one after another, around and around.
type ring struct{ at, size, step int64 }

func (r *ring) next() int64 {
	off := r.at
	if r.at += r.step; r.at+r.step > r.size {
		r.at = 0
	}
	return off
}

// openAppend writes as a log is written: the next bytes each time.
func openAppend(t Task) (operation, error) {
	f, err := os.OpenFile(t.Path, os.O_WRONLY|os.O_CREATE, 0o600)
	if err != nil {
		return nil, err
	}
	block := noise(int(t.Bytes))
	places := ring{size: t.Size, step: t.Bytes}
	return func() error {
		_, err := f.WriteAt(block, places.next())
		return err
	}, nil
}

// openFsync writes and waits until the bytes are on the disk.
func openFsync(t Task) (operation, error) {
	f, err := allocated(t.Path, t.Size)
	if err != nil {
		return nil, err
	}
	block := noise(int(t.Bytes))
	places := ring{size: t.Size, step: t.Bytes}
	return func() error {
		if _, err := f.WriteAt(block, places.next()); err != nil {
			return err
		}
		return unix.Fdatasync(int(f.Fd()))
	}, nil
}
