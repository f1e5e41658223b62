package hsperf

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"strconv"
	"strings"
	"sync"

	"golang.org/x/sys/unix"

	"stallmark/collectors"
	"stallmark/collectors/process"
)

// Opener opens what a process sees, and only what its own user may read:
// [process.RootOpener].
type Opener interface {
	Open(id process.ID, path string) (*os.File, error)
	ReadDir(id process.ID, path string, limit int) ([]string, error)
}

// The names under which a [Root] gives the counters of a process, redacted, and
// the file system and path that they come from ("tmpfs /tmp/hsperfdata_x/1").
func counterName(pid int) string { return "proc/" + strconv.Itoa(pid) + "/hsperfdata" }
func placeName(pid int) string   { return counterName(pid) + ".place" }

// Root is a live Root that has, beside the kernel's files, the counter files of
// JVMs: in the process's own /tmp, which in a container is another one, under its
// pid there. Nothing but numbers and allow-listed texts comes out, so that it can
// be recorded like any other file.
type Root struct {
	collectors.Root
	files Opener

	mu    sync.Mutex
	found map[process.ID]string // paths
}

// NewRoot adds counter files to a live root.
func NewRoot(live collectors.Root, files Opener) *Root {
	return &Root{Root: live, files: files, found: map[process.ID]string{}}
}

// Read implements [collectors.Root].
func (r *Root) Read(name string, buf []byte) ([]byte, error) {
	pid, place, ok := ours(name)
	if !ok {
		return r.Root.Read(name, buf)
	}
	id, inner, err := r.identify(pid)
	if err != nil {
		return nil, err
	}
	f, where, err := r.open(id, inner)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	if place {
		return fmt.Appendf(buf[:0], "%s %s\n", fileSystem(f), where), nil
	}
	b, err := readWhole(f, buf)
	if err != nil {
		return nil, err
	}
	if b = Redact(b); b == nil {
		return nil, errDamaged("%s", where)
	}
	return b, nil
}

// ours takes a name of this package apart.
func ours(name string) (pid int, place, ok bool) {
	rest, isProc := strings.CutPrefix(name, "proc/")
	number, file, _ := strings.Cut(rest, "/")
	if !isProc || file != "hsperfdata" && file != "hsperfdata.place" {
		return 0, false, false
	}
	pid, err := strconv.Atoi(number)
	return pid, file != "hsperfdata", err == nil && pid > 0
}

// identify finds when the process began and which pid it has in its container.
func (r *Root) identify(pid int) (id process.ID, inner string, err error) {
	dir := "proc/" + strconv.Itoa(pid) + "/"
	stat, err := r.Root.Read(dir+"stat", nil)
	if err != nil {
		return id, "", err
	}
	id, ok := process.ParseID(stat)
	if !ok {
		return id, "", fmt.Errorf("%sstat: no start time", dir)
	}
	status, err := r.Root.Read(dir+"status", nil)
	if err != nil {
		return id, "", err
	}
	return id, innerPid(status, strconv.Itoa(pid)), nil
}

// innerPid is the last number of NSpid in /proc/PID/status: the pid in the
// innermost namespace. Before Linux 4.1 there is none.
func innerPid(status []byte, pid string) string {
	for line := range bytes.Lines(status) {
		if rest, ok := bytes.CutPrefix(line, []byte("NSpid:")); ok {
			if f := bytes.Fields(rest); len(f) > 0 {
				return string(f[len(f)-1])
			}
		}
	}
	return pid
}

// tmpNames bounds how many names of a /tmp are looked at.
const tmpNames = 20_000

// open opens the counter file of a process and says where it is. Of several users'
// files with that pid, those that the process may read, the newest counts.
func (r *Root) open(id process.ID, inner string) (*os.File, string, error) {
	r.mu.Lock()
	where := r.found[id]
	r.mu.Unlock()
	if where != "" {
		if f, err := r.files.Open(id, where); err == nil {
			return f, where, nil
		}
	}
	names, err := r.files.ReadDir(id, "/tmp", tmpNames)
	if err != nil {
		return nil, "", err
	}
	var newest *os.File
	var refused error
	for _, n := range names {
		if !strings.HasPrefix(n, "hsperfdata_") {
			continue
		}
		candidate := path.Join("/tmp", n, inner)
		f, err := r.files.Open(id, candidate)
		if err != nil {
			if !errors.Is(err, fs.ErrNotExist) {
				refused = err
			}
			continue
		}
		if newest != nil && !newer(f, newest) {
			f.Close()
			continue
		}
		if newest != nil {
			newest.Close()
		}
		newest, where = f, candidate
	}
	if newest == nil {
		if refused != nil {
			return nil, "", refused
		}
		return nil, "", &fs.PathError{Op: "open", Path: "/tmp/hsperfdata_*/" + inner, Err: unix.ENOENT}
	}
	r.remember(id, where)
	return newest, where, nil
}

// maxFound bounds how many paths are remembered.
const maxFound = 1024

func (r *Root) remember(id process.ID, where string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if len(r.found) >= maxFound {
		clear(r.found)
	}
	r.found[id] = where
}

func newer(a, b *os.File) bool {
	x, errX := a.Stat()
	y, errY := b.Stat()
	return errX == nil && errY == nil && x.ModTime().After(y.ModTime())
}

// attempts is how often a file is read that changes its structure meanwhile.
const attempts = 3

// readWhole reads a counter file in which no counter was added meanwhile. Values
// move at any time: each is eight aligned bytes and comes over whole.
func readWhole(f *os.File, buf []byte) ([]byte, error) {
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	if info.Size() > MaxFile {
		return nil, errDamaged("%d bytes long", info.Size())
	}
	for range attempts {
		n := int(info.Size())
		if cap(buf) < n {
			buf = make([]byte, n)
		}
		buf = buf[:n]
		if n, err = f.ReadAt(buf, 0); err != nil && !errors.Is(err, io.EOF) {
			return nil, err
		}
		buf = buf[:n]
		var again [prologueSize]byte
		if _, err := f.ReadAt(again[:], 0); err != nil && !errors.Is(err, io.EOF) {
			return nil, err
		}
		if n < prologueSize || bytes.Equal(again[:], buf[:prologueSize]) {
			return buf, nil
		}
	}
	return nil, ErrNotReady
}

// fileSystem names the file system of an open file.
func fileSystem(f *os.File) string {
	var st unix.Statfs_t
	if err := unix.Fstatfs(int(f.Fd()), &st); err != nil {
		return "unknown"
	}
	switch st.Type {
	case unix.TMPFS_MAGIC:
		return "tmpfs"
	case unix.EXT4_SUPER_MAGIC:
		return "ext4"
	case unix.XFS_SUPER_MAGIC:
		return "xfs"
	case unix.BTRFS_SUPER_MAGIC:
		return "btrfs"
	case unix.OVERLAYFS_SUPER_MAGIC:
		return "overlay"
	}
	return string(strconv.AppendUint([]byte("0x"), uint64(uint32(st.Type)), 16))
}
