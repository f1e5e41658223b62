package work

import (
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"

	"golang.org/x/sys/unix"
)

const mib = 1 << 20

// allocated opens a file whose blocks are there, so that a store to its mapping
// cannot fail for want of room.
func allocated(path string, size int64) (*os.File, error) {
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, err
	}
	if err := unix.Fallocate(int(f.Fd()), 0, 0, size); err != nil {
		return nil, errors.Join(fmt.Errorf("allocate %s: %w", path, err), f.Close())
	}
	return f, nil
}

// mapped maps a whole file for reading and writing.
func mapped(f *os.File, size int64) ([]byte, error) {
	m, err := unix.Mmap(int(f.Fd()), 0, int(size), unix.PROT_READ|unix.PROT_WRITE, unix.MAP_SHARED)
	if err != nil {
		return nil, fmt.Errorf("map %s: %w", f.Name(), err)
	}
	return m, nil
}

// onDisk opens a file of random bytes that is on the disk and not in memory. A
// file that another task has made is used as it is.
func onDisk(path string, size int64) (*os.File, error) {
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, err
	}
	st, err := f.Stat()
	if err == nil && st.Size() < size {
		err = fill(f, size)
	}
	if err == nil {
		err = forget(f)
	}
	if err != nil {
		return nil, errors.Join(fmt.Errorf("prepare %s: %w", path, err), f.Close())
	}
	return f, nil
}

// fill writes a file to its size. It gives its pages up as it goes, so that
// preparing does not push out others' pages or reach the dirty limits.
func fill(f *os.File, size int64) error {
	block := noise(4 * mib)
	for off := int64(0); off < size; off += int64(len(block)) {
		n := min(int64(len(block)), size-off)
		if _, err := f.WriteAt(block[:n], off); err != nil {
			return err
		}
		if off%(64*mib) == 0 {
			if err := forget(f); err != nil {
				return err
			}
		}
	}
	return forget(f)
}

// forget writes a file out and drops its pages from memory.
func forget(f *os.File) error {
	if err := unix.Fdatasync(int(f.Fd())); err != nil {
		return err
	}
	return unix.Fadvise(int(f.Fd()), 0, 0, unix.FADV_DONTNEED)
}

// warm brings a whole file into memory, so that a task finds it hot from its
// first operation on.
func warm(f *os.File, size int64) error {
	_, err := io.CopyBuffer(io.Discard, struct{ io.Reader }{io.NewSectionReader(f, 0, size)}, make([]byte, mib))
	return err
}

// noise is random bytes: storage may compress or drop zeros.
func noise(n int) []byte {
	b := make([]byte, n)
	for i := 0; i+8 <= n; i += 8 {
		v := rand.Uint64()
		for k := range 8 {
			b[i+k] = byte(v >> (8 * k))
		}
	}
	return b
}
