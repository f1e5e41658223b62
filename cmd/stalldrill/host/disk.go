package host

import (
	"fmt"
	"os"
	"path/filepath"

	"golang.org/x/sys/unix"
)

func pageSize() int { return os.Getpagesize() }

// Disk is the file system under a folder.
type Disk struct {
	Free     int64  // bytes that may be used without privilege
	InMemory bool   // tmpfs or ramfs: its files are memory, not disk
	Device   string // "major:minor", as in /proc/diskstats
}

// ReadDisk looks at the file system under dir.
func ReadDisk(dir string) (Disk, error) {
	var fs unix.Statfs_t
	if err := unix.Statfs(dir, &fs); err != nil {
		return Disk{}, fmt.Errorf("%s: %w", dir, err)
	}
	var st unix.Stat_t
	if err := unix.Stat(dir, &st); err != nil {
		return Disk{}, fmt.Errorf("%s: %w", dir, err)
	}
	return Disk{
		Free:     int64(fs.Bavail) * fs.Bsize,
		InMemory: fs.Type == unix.TMPFS_MAGIC || fs.Type == unix.RAMFS_MAGIC,
		Device:   fmt.Sprintf("%d:%d", unix.Major(st.Dev), unix.Minor(st.Dev)),
	}, nil
}

// WholeDisk is the device that a partition is part of, as "major:minor"; any
// other device is itself.
func (h Host) WholeDisk(device string) string {
	folder, err := filepath.EvalSymlinks(filepath.Join(h.Sys, "dev/block", device))
	if err != nil {
		return device
	}
	if _, err := os.Stat(filepath.Join(folder, "partition")); err != nil {
		return device
	}
	if whole, err := Read(filepath.Join(folder, "../dev")); err == nil {
		return whole
	}
	return device
}
