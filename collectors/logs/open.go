package logs

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"golang.org/x/sys/unix"

	"stallmark/collectors/process"
)

// Files opens what a process names as that process would see it, and only what
// its own user may read. [process.RootOpener] is the live one.
type Files interface {
	// Open opens a regular file for reading, without waiting for anything.
	Open(id process.ID, path string) (*os.File, error)
	// OpenFolder opens a folder for listing.
	OpenFolder(id process.ID, path string) (*os.File, error)
}

// errNotRegular is what opening a device, a pipe or a folder fails with.
var errNotRegular = errors.New("not a regular file")

// hostFiles opens paths that the user of this program has named, with the
// rights of this program.
type hostFiles struct{ root string }

func (h hostFiles) path(path string) string {
	if h.root == "" || h.root == "/" {
		return path
	}
	return filepath.Join(h.root, path)
}

// open never blocks on a FIFO and refuses everything but a regular file.
func (h hostFiles) open(path string) (*os.File, error) {
	const flags = unix.O_RDONLY | unix.O_NONBLOCK | unix.O_NOCTTY | unix.O_CLOEXEC
	fd, err := unix.Open(h.path(path), flags, 0)
	if err != nil {
		return nil, &os.PathError{Op: "open", Path: path, Err: err}
	}
	i, err := infoOf(fd)
	if err == nil && !i.regular {
		err = fmt.Errorf("%s: %w", path, errNotRegular)
	}
	if err != nil {
		unix.Close(fd)
		return nil, err
	}
	return os.NewFile(uintptr(fd), path), nil
}

func (h hostFiles) openFolder(path string) (*os.File, error) {
	fd, err := unix.Open(h.path(path), unix.O_RDONLY|unix.O_DIRECTORY|unix.O_NONBLOCK|unix.O_CLOEXEC, 0)
	if err != nil {
		return nil, &os.PathError{Op: "open", Path: path, Err: err}
	}
	return os.NewFile(uintptr(fd), path), nil
}

// opener is where the files of one target are opened.
type opener struct {
	files Files
	host  hostFiles
	owner process.ID // zero: the host's
}

func (o opener) open(path string) (*os.File, error) {
	if o.owner == (process.ID{}) {
		return o.host.open(path)
	}
	if o.files == nil {
		return nil, process.ErrRefused
	}
	return o.files.Open(o.owner, path)
}

func (o opener) openFolder(path string) (*os.File, error) {
	if o.owner == (process.ID{}) {
		return o.host.openFolder(path)
	}
	if o.files == nil {
		return nil, process.ErrRefused
	}
	return o.files.OpenFolder(o.owner, path)
}
