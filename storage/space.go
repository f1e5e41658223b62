package storage

import (
	"errors"
	"path/filepath"

	"golang.org/x/sys/unix"
)

const (
	floorBytes = 500 << 20 // the least free space that is left to others
	floorShare = 20        // or a twentieth of the file system, if that is less
)

// freeSpace is what is available on the file system of path, in bytes, and how
// much of it must be left to others.
func freeSpace(path string) (avail, floor int64) {
	var st unix.Statfs_t
	if err := unix.Statfs(filepath.Dir(path), &st); err != nil {
		return 0, 0 // unknown: writing will tell
	}
	avail = int64(st.Bavail) * st.Bsize
	total := int64(st.Blocks) * st.Bsize
	return avail, min(floorBytes, total/floorShare)
}

// isDiskTrouble reports whether the disk, and not the file or a setting, is at
// fault, so that it may go well later.
func isDiskTrouble(err error) bool {
	for _, e := range []error{unix.ENOSPC, unix.EDQUOT, unix.EIO, unix.EROFS} {
		if errors.Is(err, e) {
			return true
		}
	}
	return false
}

var errFull = errors.New("free space is below the floor: the file does not grow")

// room is what must be free inside the file to store a minute without growing.
const room = 1 << 20

// makeRoom keeps the file from growing when free space is below the floor: the
// oldest blocks make room for the newest. Without any to give, it is errFull.
func (d *disk) makeRoom() error {
	avail, floor := d.space(d.path)
	full := floor > 0 && avail < floor
	d.update(func(st *diskState) { st.Full, st.Stopped, st.FreeBytes = full, false, avail })
	if !full {
		return nil
	}
	free := func() int64 { return int64(d.db.Stats().FreePageN) * int64(d.db.Info().PageSize) }
	for tries := 0; free() < room && tries < 4; tries++ {
		before := d.snapshot().Blocks
		if err := d.change(evict); err != nil {
			return err
		}
		d.measure()
		if d.snapshot().Blocks == before {
			break
		}
	}
	if free() < room {
		d.update(func(st *diskState) { st.Stopped = true })
		return errFull
	}
	return nil
}

// hasStopped reports whether there is no room even in the file: then nothing is
// journaled either.
func (d *disk) hasStopped() bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.state.Stopped
}
