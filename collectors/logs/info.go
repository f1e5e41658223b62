package logs

import (
	"errors"
	"os"
	"time"

	"golang.org/x/sys/unix"
)

// inode is a file's identity while it exists; the number is used again later.
type inode struct {
	dev, ino uint64
}

// info is what the kernel says of a file besides its contents.
type info struct {
	inode
	size    int64
	mtime   int64 // nanoseconds since 1970
	ctime   int64
	btime   int64 // when it was made, 0 where the file system does not say
	links   uint32
	regular bool
	link    bool
	folder  bool
}

// sameFile reports whether a is the file that b was, and not another one under
// its number: by the time it was made or else by what a finished file keeps.
func (a info) sameFile(b info) bool {
	if a.inode != b.inode {
		return false
	}
	if a.btime != 0 && b.btime != 0 {
		return a.btime == b.btime
	}
	return a.size == b.size && a.mtime == b.mtime
}

const statxMask = unix.STATX_BASIC_STATS | unix.STATX_BTIME

// infoAt asks about a name in an open folder, without following a link.
func infoAt(dir int, name string) (info, error) {
	return statx(dir, name, unix.AT_SYMLINK_NOFOLLOW)
}

// infoOf asks about an open file.
func infoOf(fd int) (info, error) { return statx(fd, "", unix.AT_EMPTY_PATH) }

// statx falls back to fstatat(2) before Linux 4.11.
func statx(dir int, name string, flags int) (info, error) {
	var x unix.Statx_t
	err := unix.Statx(dir, name, flags, statxMask, &x)
	if errors.Is(err, unix.ENOSYS) || errors.Is(err, unix.EPERM) {
		return fstat(dir, name, flags)
	}
	if err != nil {
		return info{}, err
	}
	i := info{
		inode: inode{unix.Mkdev(x.Dev_major, x.Dev_minor), x.Ino}, size: int64(x.Size),
		mtime: x.Mtime.Sec*int64(time.Second) + int64(x.Mtime.Nsec), ctime: x.Ctime.Sec*int64(time.Second) + int64(x.Ctime.Nsec),
		links: x.Nlink,
	}
	if x.Mask&unix.STATX_BTIME != 0 {
		i.btime = x.Btime.Sec*int64(time.Second) + int64(x.Btime.Nsec)
	}
	i.setType(uint32(x.Mode))
	return i, nil
}

func fstat(dir int, name string, flags int) (info, error) {
	var st unix.Stat_t
	var err error
	if name == "" {
		err = unix.Fstat(dir, &st)
	} else {
		err = unix.Fstatat(dir, name, &st, flags&unix.AT_SYMLINK_NOFOLLOW)
	}
	if err != nil {
		return info{}, err
	}
	i := info{
		inode: inode{uint64(st.Dev), st.Ino}, size: st.Size, mtime: st.Mtim.Nano(), ctime: st.Ctim.Nano(), links: uint32(st.Nlink),
	}
	i.setType(st.Mode)
	return i, nil
}

func (i *info) setType(mode uint32) {
	switch mode & unix.S_IFMT {
	case unix.S_IFREG:
		i.regular = true
	case unix.S_IFLNK:
		i.link = true
	case unix.S_IFDIR:
		i.folder = true
	}
}

// fileOf keeps an open file together with its descriptor, which needs no lock
// to be read from.
type fileOf struct {
	*os.File
	fd int
}

func handleOf(f *os.File) fileOf { return fileOf{f, int(f.Fd())} }

// readAt fills buf from an offset; it returns less at the end of the file.
func (f fileOf) readAt(buf []byte, offset int64) (int, error) {
	total := 0
	for total < len(buf) {
		n, err := unix.Pread(f.fd, buf[total:], offset+int64(total))
		switch {
		case errors.Is(err, unix.EINTR):
			continue
		case err != nil:
			return total, err
		case n == 0:
			return total, nil
		}
		total += n
	}
	return total, nil
}
