package collectors

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"golang.org/x/sys/unix"
)

// Root reads the kernel's files of one host. Names are slash-separated without
// a leading slash and start with the tree they belong to: "proc/vmstat",
// "sys/block/vda/queue/scheduler", "root/etc/os-release".
//
// A Root is used by several goroutines at once. Errors wrap fs.ErrNotExist,
// fs.ErrPermission or the errno of the failed call.
type Root interface {
	// Read reads the whole file into buf[:0], grown as needed. It reads until
	// end of file: a seq_file returns about a page at a time, so a short read
	// is not the end (Documentation/filesystems/seq_file.rst).
	Read(name string, buf []byte) ([]byte, error)
	// ReadDir lists the names in a folder, in no particular order.
	ReadDir(name string) ([]string, error)
	// ReadLink returns the target of a symbolic link.
	ReadLink(name string) (string, error)
}

// Paths says where a live host's trees are mounted; in a container these
// differ from the usual places.
type Paths struct {
	Procfs string // usually /proc
	Sysfs  string // usually /sys
	Rootfs string // usually /
}

// LiveRoot reads the running host below the given paths.
type LiveRoot struct {
	paths Paths
	kept  kept
}

// NewLiveRoot makes a Root of the running host.
func NewLiveRoot(p Paths) *LiveRoot { return &LiveRoot{paths: p} }

// path turns "proc/vmstat" into the path under the configured mount.
func (r *LiveRoot) path(name string) (string, error) {
	tree, rest, _ := strings.Cut(name, "/")
	switch tree {
	case "proc":
		return filepath.Join(r.paths.Procfs, rest), nil
	case "sys":
		return filepath.Join(r.paths.Sysfs, rest), nil
	case "root":
		return filepath.Join(r.paths.Rootfs, rest), nil
	}
	return "", fmt.Errorf("read %q: want a name under proc/, sys/ or root/: %w", name, fs.ErrInvalid)
}

// minRead is the least space offered to read(2). Small, since the kernel
// allocates as much as is asked for in /proc/sys (measured: a 1 MB buffer costs
// 31 us there against 5 us).
const minRead = 128

// Read implements [Root].
func (r *LiveRoot) Read(name string, buf []byte) ([]byte, error) {
	if !keepable(name) {
		return r.readOnce(name, buf)
	}
	fd, again := r.kept.take(name)
	if fd >= 0 {
		if got, err := reread(fd, buf[:0]); err == nil {
			r.kept.put(name, fd)
			return got, nil
		}
		unix.Close(fd) // what it was of is gone; there may be another under the name
	}
	if !again || r.kept.full() {
		return r.readOnce(name, buf)
	}
	return r.readAndKeep(name, buf)
}

// readOnce opens, reads and closes a file.
func (r *LiveRoot) readOnce(name string, buf []byte) ([]byte, error) {
	fd, path, err := r.open(name)
	if err != nil {
		return nil, err
	}
	defer unix.Close(fd)
	return finish(path, fd, buf)
}

// readAndKeep keeps the file open for the next time.
func (r *LiveRoot) readAndKeep(name string, buf []byte) ([]byte, error) {
	fd, path, err := r.open(name)
	if err != nil {
		return nil, err
	}
	buf, err = finish(path, fd, buf)
	if err != nil || !regenerated(fd) {
		unix.Close(fd)
		return buf, err
	}
	r.kept.put(name, fd)
	return buf, nil
}

// finish reads an open file.
func finish(path string, fd int, buf []byte) ([]byte, error) {
	buf, err := readAll(fd, buf[:0])
	if err != nil {
		return nil, &fs.PathError{Op: "read", Path: path, Err: err}
	}
	return buf, nil
}

// open opens a file and tells its path.
func (r *LiveRoot) open(name string) (fd int, path string, err error) {
	if path, err = r.path(name); err != nil {
		return -1, "", err
	}
	if fd, err = openRetry(path); err != nil {
		return -1, path, &fs.PathError{Op: "open", Path: path, Err: err}
	}
	return fd, path, nil
}

// openRetry opens for reading without ever blocking on a FIFO or a terminal.
func openRetry(path string) (int, error) {
	for {
		fd, err := unix.Open(path, unix.O_RDONLY|unix.O_CLOEXEC|unix.O_NONBLOCK|unix.O_NOCTTY, 0)
		if !errors.Is(err, unix.EINTR) {
			return fd, err
		}
	}
}

// readAll appends everything up to end of file to buf.
func readAll(fd int, buf []byte) ([]byte, error) {
	for {
		buf = room(buf)
		n, err := unix.Read(fd, buf[len(buf):cap(buf)])
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

// room returns buf with space for another read.
func room(buf []byte) []byte {
	if cap(buf)-len(buf) >= minRead {
		return buf
	}
	grown := make([]byte, len(buf), max(2*cap(buf), 4*minRead))
	copy(grown, buf)
	return grown
}

// direntBytes is the space offered to getdents64(2): a folder of 200 threads.
const direntBytes = 8 << 10

// ReadDir implements [Root]. It goes without os.File, which would try to have
// the folder watched by epoll.
func (r *LiveRoot) ReadDir(name string) ([]string, error) {
	path, err := r.path(name)
	if err != nil {
		return nil, err
	}
	fd, err := openRetry(path)
	if err != nil {
		return nil, &fs.PathError{Op: "open", Path: path, Err: err}
	}
	defer unix.Close(fd)
	var names []string
	var buf [direntBytes]byte
	for {
		n, err := unix.Getdents(fd, buf[:])
		switch {
		case errors.Is(err, unix.EINTR):
			continue
		case err != nil:
			return names, &fs.PathError{Op: "getdents64", Path: path, Err: err}
		case n <= 0:
			return names, nil
		}
		_, _, names = unix.ParseDirent(buf[:n], -1, names)
	}
}

// ReadLink implements [Root].
func (r *LiveRoot) ReadLink(name string) (string, error) {
	path, err := r.path(name)
	if err != nil {
		return "", err
	}
	return os.Readlink(path)
}
