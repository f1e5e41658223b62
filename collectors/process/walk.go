package process

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// walker goes from a root folder to a file, part by part.
type walker struct {
	who   credentials
	self  string // our own /proc/self/fd
	dirs  []int  // open folders from the root to where it stands
	links int
}

// Bounds of one path.
const (
	maxSymlinks = 40 // as the kernel's
	maxParts    = 512
)

func (w *walker) close() {
	for _, fd := range w.dirs {
		unix.Close(fd)
	}
}

// open goes to the file and opens it for reading.
func (w *walker) open(path string) (*os.File, error) {
	file, err := w.walk(path)
	if err != nil {
		return nil, err
	}
	if file < 0 {
		return nil, refuse("a folder, not a file")
	}
	defer unix.Close(file)
	return w.reopen(file)
}

// list goes to the folder and reads at most limit names in it.
func (w *walker) list(path string, limit int) ([]string, error) {
	f, err := w.folder(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	names, err := f.Readdirnames(limit)
	if errors.Is(err, io.EOF) {
		err = nil
	}
	return names, err
}

// folder goes to the folder and opens it for listing.
func (w *walker) folder(path string) (*os.File, error) {
	file, err := w.walk(path)
	if err != nil {
		return nil, err
	}
	if file >= 0 {
		unix.Close(file)
		return nil, unix.ENOTDIR
	}
	here := w.dirs[len(w.dirs)-1]
	if err := w.check(here, 4, "the process may not list it"); err != nil {
		return nil, err
	}
	const flags = unix.O_RDONLY | unix.O_DIRECTORY | unix.O_NONBLOCK | unix.O_CLOEXEC
	fd, err := unix.Openat(here, ".", flags|unix.O_NOATIME, 0)
	if errors.Is(err, unix.EPERM) { // not its owner
		fd, err = unix.Openat(here, ".", flags, 0)
	}
	if err != nil {
		return nil, err
	}
	return os.NewFile(uintptr(fd), "folder"), nil
}

// walk goes where the path leads and returns the file there, to be closed, or -1
// if it stands in a folder.
func (w *walker) walk(path string) (int, error) {
	if err := w.reach(w.dirs[0]); err != nil {
		return -1, err
	}
	parts := strings.Split(path, "/")
	for len(parts) > 0 {
		if len(parts) > maxParts {
			return -1, unix.ENAMETOOLONG
		}
		part := parts[0]
		parts = parts[1:]
		switch part {
		case "", ".":
			continue
		case "..":
			w.up()
			continue
		}
		file, more, err := w.step(part)
		if err != nil {
			return -1, err
		}
		parts = append(more, parts...)
		if file < 0 {
			continue
		}
		if len(parts) > 0 {
			unix.Close(file)
			return -1, unix.ENOTDIR
		}
		return file, nil
	}
	return -1, nil
}

// up leaves a folder; the root's parent is the root.
func (w *walker) up() {
	if last := len(w.dirs) - 1; last > 0 {
		unix.Close(w.dirs[last])
		w.dirs = w.dirs[:last]
	}
}

// step takes one part of the path: into a folder, through a link (more is what
// it says), or to a file, which it returns.
func (w *walker) step(part string) (file int, more []string, err error) {
	here := w.dirs[len(w.dirs)-1]
	fd, err := unix.Openat(here, part, unix.O_PATH|unix.O_NOFOLLOW|unix.O_CLOEXEC, 0)
	if err != nil {
		return -1, nil, err
	}
	var st unix.Stat_t
	if err = unix.Fstat(fd, &st); err != nil {
		unix.Close(fd)
		return -1, nil, err
	}
	switch st.Mode & unix.S_IFMT {
	case unix.S_IFDIR:
		w.dirs = append(w.dirs, fd)
		return -1, nil, w.reach(fd)
	case unix.S_IFLNK:
		defer unix.Close(fd)
		more, err = w.follow(fd)
		return -1, more, err
	case unix.S_IFREG:
		return fd, nil, nil
	}
	unix.Close(fd)
	return -1, nil, refuse("not a regular file")
}

// follow reads a link; an absolute one starts again at the root.
func (w *walker) follow(link int) ([]string, error) {
	if w.links++; w.links > maxSymlinks {
		return nil, unix.ELOOP
	}
	target := make([]byte, unix.PathMax)
	n, err := unix.Readlinkat(link, "", target)
	if err != nil {
		return nil, err
	}
	if n == 0 || n == len(target) {
		return nil, refuse("an unreadable link")
	}
	if target[0] == '/' {
		for len(w.dirs) > 1 {
			w.up()
		}
	}
	return strings.Split(string(target[:n]), "/"), nil
}

// reach checks that the process may go through a folder.
func (w *walker) reach(dir int) error {
	return w.check(dir, 1, "the process may not enter a folder on the way")
}

// check compares a file's or folder's permissions with the process's user.
func (w *walker) check(fd int, want uint32, why string) error {
	var st unix.Stat_t
	if err := unix.Fstat(fd, &st); err != nil {
		return err
	}
	name := filepath.Join(w.self, strconv.Itoa(fd))
	var on unix.Statfs_t
	if err := unix.Statfs(name, &on); err != nil {
		return err
	}
	if slices.Contains(activeFilesystems, int64(on.Type)) {
		return refuse("on a file system that acts when it is read")
	}
	if !w.who.may(&st, want) {
		return refuse("%s", why)
	}
	if w.who.override || st.Uid == w.who.uid {
		return nil
	}
	if n, err := unix.Getxattr(name, "system.posix_acl_access", nil); err == nil && n > 0 {
		return refuse("it has an access control list")
	}
	return nil
}

// activeFilesystems run code of somebody when a file on them is read: the
// kernel's own, and those served by a process.
var activeFilesystems = []int64{
	unix.PROC_SUPER_MAGIC, unix.SYSFS_MAGIC, unix.DEBUGFS_MAGIC, unix.TRACEFS_MAGIC, unix.FUSE_SUPER_MAGIC,
	unix.AUTOFS_SUPER_MAGIC, unix.SECURITYFS_MAGIC, unix.CGROUP_SUPER_MAGIC, unix.CGROUP2_SUPER_MAGIC, unix.BPF_FS_MAGIC,
}

// reopen opens the very file that the walk found.
func (w *walker) reopen(found int) (*os.File, error) {
	if err := w.check(found, 4, "the process may not read it"); err != nil {
		return nil, err
	}
	name := filepath.Join(w.self, strconv.Itoa(found))
	fd, err := unix.Open(name, unix.O_RDONLY|unix.O_NONBLOCK|unix.O_NOCTTY|unix.O_CLOEXEC, 0)
	if err != nil {
		return nil, err
	}
	var a, b unix.Stat_t
	if unix.Fstat(found, &a) != nil || unix.Fstat(fd, &b) != nil || a.Dev != b.Dev || a.Ino != b.Ino {
		unix.Close(fd)
		return nil, refuse("it changed while it was opened")
	}
	return os.NewFile(uintptr(fd), filepath.Base(name)), nil
}
