package work

import (
	"fmt"

	"golang.org/x/sys/unix"
)

// openAnon touches random pages of memory that was filled once, as a heap is
// touched.
func openAnon(t Task) (operation, error) {
	m, err := anonymous(t.Size)
	if err != nil {
		return nil, err
	}
	_ = unix.Madvise(m, unix.MADV_NOHUGEPAGE) // not every kernel has huge pages
	touch(m, 1)
	return func() error {
		m[somewhere(t.Size, page())]++
		return nil
	}, nil
}

// openChurn maps memory, touches all of it and gives it back: a source of
// allocations that never grows.
func openChurn(t Task) operation {
	return func() error {
		m, err := anonymous(t.Bytes)
		if err != nil {
			return err
		}
		_ = unix.Madvise(m, unix.MADV_NOHUGEPAGE)
		touch(m, 1)
		return unix.Munmap(m)
	}
}

// openHuge takes memory in huge pages, for each of which the kernel must find
// 2 MiB in one piece. It keeps what it has up to Size, since a huge page that
// is given back is the next one that is found, and then begins anew.
func openHuge(t Task) operation {
	var held [][]byte
	return func() error {
		if int64(len(held)+1)*t.Bytes > t.Size {
			for _, m := range held {
				if err := unix.Munmap(m); err != nil {
					return err
				}
			}
			held = held[:0]
		}
		m, err := anonymous(t.Bytes)
		if err != nil {
			return err
		}
		if err := unix.Madvise(m, unix.MADV_HUGEPAGE); err != nil {
			return fmt.Errorf("ask for huge pages: %w", err)
		}
		touch(m, 1)
		held = append(held, m)
		return nil
	}
}

// openProtect changes the protection of memory that was just touched, and gives
// it back, as allocators and safepoints do: each time the other CPUs on which
// the process runs must drop their translations.
func openProtect(t Task) (operation, error) {
	m, err := anonymous(t.Bytes)
	if err != nil {
		return nil, err
	}
	steps := []func() error{
		func() error { return unix.Mprotect(m, unix.PROT_READ) },
		func() error { return unix.Mprotect(m, unix.PROT_READ|unix.PROT_WRITE) },
		func() error { return unix.Madvise(m, unix.MADV_DONTNEED) },
	}
	return func() error {
		touch(m, 1)
		for _, step := range steps {
			if err := step(); err != nil {
				return err
			}
		}
		return nil
	}, nil
}
