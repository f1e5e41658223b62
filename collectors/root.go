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
}

// NewLiveRoot makes a Root of the running host.
func NewLiveRoot(p Paths) *LiveRoot { return &LiveRoot{p} }

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
	path, err := r.path(name)
	if err != nil {
		return nil, err
	}
	fd, err := openRetry(path)
	if err != nil {
		return nil, &fs.PathError{Op: "open", Path: path, Err: err}
	}
	defer unix.Close(fd)
	buf, err = readAll(fd, buf[:0])
	if err != nil {
		return nil, &fs.PathError{Op: "read", Path: path, Err: err}
	}
	return buf, nil
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
		if cap(buf)-len(buf) < minRead {
			grown := make([]byte, len(buf), max(2*cap(buf), 4*minRead))
			copy(grown, buf)
			buf = grown
		}
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

// ReadDir implements [Root].
func (r *LiveRoot) ReadDir(name string) ([]string, error) {
	path, err := r.path(name)
	if err != nil {
		return nil, err
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return f.Readdirnames(-1)
}

// ReadLink implements [Root].
func (r *LiveRoot) ReadLink(name string) (string, error) {
	path, err := r.path(name)
	if err != nil {
		return "", err
	}
	return os.Readlink(path)
}
