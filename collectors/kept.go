package collectors

import (
	"errors"
	"strings"
	"sync"

	"golang.org/x/sys/unix"
)

// kept holds descriptors of files that are read again and again: reading one
// from its beginning makes the kernel write it anew (fs/seq_file.c, fs/kernfs),
// without the walk to it, which costs more than most of these files do.
type kept struct {
	mu    sync.Mutex
	files map[string]*keptFile
	open  int
	reads int // since the last sweep
}

// keptFile is one file. Its descriptor is taken out for a reading, so that two
// readers never share one.
type keptFile struct {
	fd   int // -1: none is held
	used bool
}

// Bounds of what is kept. A descriptor of a kernel file costs the kernel about
// 5 KiB, most of it the page that it writes into.
const (
	maxKept    = 256
	sweepEvery = 4096 // reads; what was not read since the last sweep is closed
)

// take gives the descriptor of a name to the caller, -1 if none is held; again
// is false for a name that has not been read lately.
func (k *kept) take(name string) (fd int, again bool) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.reads++; k.reads >= sweepEvery {
		k.sweep()
	}
	f := k.files[name]
	if f == nil {
		if k.files == nil {
			k.files = map[string]*keptFile{}
		}
		k.files[strings.Clone(name)] = &keptFile{fd: -1, used: true}
		return -1, false
	}
	f.used = true
	if fd = f.fd; fd >= 0 {
		f.fd = -1
		k.open--
	}
	return fd, true
}

// full reports whether no further descriptor would be kept.
func (k *kept) full() bool {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.open >= maxKept
}

// put takes a descriptor back, or closes it where there is one already or are
// too many.
func (k *kept) put(name string, fd int) {
	k.mu.Lock()
	defer k.mu.Unlock()
	f := k.files[name]
	if f == nil || f.fd >= 0 || k.open >= maxKept {
		unix.Close(fd)
		return
	}
	f.fd = fd
	k.open++
}

// sweep forgets what was not read since the last sweep.
func (k *kept) sweep() {
	k.reads = 0
	for name, f := range k.files {
		switch {
		case f.used:
			f.used = false
		case f.fd >= 0:
			unix.Close(f.fd)
			k.open--
			fallthrough
		default:
			delete(k.files, name)
		}
	}
}

// keepable reports whether a name is of a file that says the same through an
// old descriptor as through a new one, or fails. Files about a process's memory
// map and mounts are not: they hold what was there when they were opened.
func keepable(name string) bool {
	if rest, ok := strings.CutPrefix(name, "proc/"); ok {
		i := strings.LastIndexByte(rest, '/')
		if i < 0 {
			return rest != "mounts"
		}
		if rest[0] >= '1' && rest[0] <= '9' || strings.HasPrefix(rest, "self/") {
			switch rest[i+1:] {
			case "stat", "statm", "status", "io", "schedstat":
				return true
			}
			return false
		}
		return strings.HasPrefix(rest, "pressure/") || strings.HasPrefix(rest, "sys/vm/")
	}
	return strings.HasPrefix(name, "sys/fs/cgroup/")
}

// regenerated reports whether the descriptor is of the kernel's own file
// systems: others, and tests, have files that may be replaced under their name.
func regenerated(fd int) bool {
	var fs unix.Statfs_t
	if unix.Fstatfs(fd, &fs) != nil {
		return false
	}
	switch int64(fs.Type) {
	case unix.PROC_SUPER_MAGIC, unix.CGROUP_SUPER_MAGIC, unix.CGROUP2_SUPER_MAGIC:
		return true
	}
	return false
}

// reread appends everything up to end of file to buf, from the beginning.
func reread(fd int, buf []byte) ([]byte, error) {
	for {
		buf = room(buf)
		n, err := unix.Pread(fd, buf[len(buf):cap(buf)], int64(len(buf)))
		switch {
		case errors.Is(err, unix.EINTR):
			continue
		case err != nil:
			return nil, err
		case n == 0:
			return buf, nil
		}
		buf = buf[:len(buf)+n]
	}
}
