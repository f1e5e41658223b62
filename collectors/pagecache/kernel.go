package pagecache

import (
	"errors"
	"os"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"

	"stallmark/collectors/process"
)

// live asks the running kernel.
type live struct {
	files Opener
	page  int64
}

func (l live) list(id process.ID, path string, limit int) ([]string, error) {
	return l.files.ReadDir(id, path, limit)
}

func (l live) open(id process.ID, path string) (handle, error) {
	f, err := l.files.Open(id, path)
	if err != nil {
		return nil, err
	}
	quiet(f)
	return &openFile{f: f, page: l.page}, nil
}

// quiet keeps the file's access time as it is: mapping a file counts as a read.
// Only its owner may ask for that; to others it is refused, and the file system
// decides (relatime: once a day).
func quiet(f *os.File) {
	if flags, err := unix.FcntlInt(f.Fd(), unix.F_GETFL, 0); err == nil {
		_, _ = unix.FcntlInt(f.Fd(), unix.F_SETFL, flags|unix.O_NOATIME)
	}
}

// openFile is a file of the running host.
type openFile struct {
	f    *os.File
	page int64
	vec  []byte // answers of mincore, a byte a page
}

func (o *openFile) close() { o.f.Close() }

// zfsMagic is ZFS's file system type; its data is in a cache of its own (ARC).
const zfsMagic = 0x2fc12fc1

func (o *openFile) stat() (status, error) {
	var st unix.Stat_t
	if err := retry(func() error { return unix.Fstat(int(o.f.Fd()), &st) }); err != nil {
		return status{}, err
	}
	var on unix.Statfs_t
	if err := retry(func() error { return unix.Fstatfs(int(o.f.Fd()), &on) }); err != nil {
		return status{}, err
	}
	return status{
		size: st.Size, dev: uint64(st.Dev), ino: st.Ino,
		modified: time.Unix(st.Mtim.Unix()),
		layered:  int64(on.Type) == unix.OVERLAYFS_SUPER_MAGIC,
		foreign:  int64(on.Type) == zfsMagic,
	}, nil
}

// cachestat asks by cachestat(2), which Linux has since 6.5. Those who neither
// own a file nor may write it get EPERM (since 6.14 and its stable relatives).
func (o *openFile) cachestat(off, n int64) (pages, error) {
	var c unix.Cachestat_t
	r := unix.CachestatRange{Off: uint64(off), Len: uint64(n)}
	err := retry(func() error { return unix.Cachestat(uint(o.f.Fd()), &r, &c, 0) })
	return pages{int64(c.Cache), int64(c.Dirty), int64(c.Writeback), int64(c.Evicted), int64(c.Recently_evicted)}, err
}

// mincore asks by mincore(2) on a mapping of the range. The mapping allows no
// access at all: nothing can touch the data by mistake, and locking memory
// (mlockall with MCL_FUTURE) does not read it in.
func (o *openFile) mincore(off, n int64) (pages, error) {
	addr, err := unix.MmapPtr(int(o.f.Fd()), off, nil, uintptr(n), unix.PROT_NONE, unix.MAP_SHARED)
	if err != nil {
		return pages{}, err
	}
	defer func() { _ = unix.MunmapPtr(addr, uintptr(n)) }()
	count := int((n + o.page - 1) / o.page)
	if cap(o.vec) < count {
		o.vec = make([]byte, count)
	}
	vec := o.vec[:count]
	err = retry(func() error {
		_, _, errno := unix.Syscall(unix.SYS_MINCORE, uintptr(addr), uintptr(n), uintptr(unsafe.Pointer(&vec[0])))
		if errno != 0 {
			return errno
		}
		return nil
	})
	if err != nil {
		return pages{}, err
	}
	var p pages
	for _, b := range vec {
		p.cached += int64(b & 1)
	}
	return p, nil
}

// beyond is how far behind the end of a file tells looks: further than any
// folio reaches.
const beyond = 1 << 30

// tells asks about a page behind the end of the file. There is none, so if the
// kernel calls it resident it tells nothing about the others either.
func (o *openFile) tells() (bool, error) {
	st, err := o.stat()
	if err != nil {
		return false, err
	}
	p, err := o.mincore((st.size/beyond+2)*beyond, o.page)
	return p.cached == 0, err
}

// retry repeats a call that a signal interrupted.
func retry(call func() error) error {
	for {
		if err := call(); !errors.Is(err, unix.EINTR) {
			return err
		}
	}
}
