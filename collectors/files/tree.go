package files

import (
	"io/fs"
	"slices"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"stallmark/collectors"
)

// maxAge is how old the content of a slow file may be that stands in for one
// that a tick does not have.
const maxAge = 10 * time.Second

// tree is one tick as a Root. Names are answered exactly as they were asked for
// when recording; only what is not there by name is looked for through symbolic
// links, for recordings made by hand.
type tree struct {
	at    time.Time
	flat  collectors.MapRoot
	dirs  map[string][]string // listings as recorded
	errs  map[string]error    // reads that failed
	slow  map[string]aged     // slow files of earlier ticks
	procs map[string]bool     // folders of processes that this tick has files of
}

// aged is a file's content and when it was read.
type aged struct {
	at   time.Time
	data []byte
}

func newTree() *tree {
	return &tree{
		flat: collectors.MapRoot{
			Files: map[string][]byte{},
			Links: map[string]string{},
		},
		dirs:  map[string][]string{},
		errs:  map[string]error{},
		procs: map[string]bool{},
	}
}

// addFile puts a raw file.
func (t *tree) addFile(name string, data []byte) {
	t.flat.Files[name] = data
	if p := processOf(name); p != "" {
		t.procs[p] = true
	}
}

// Read implements collectors.Root.
func (t *tree) Read(name string, buf []byte) ([]byte, error) {
	if data, ok := t.flat.Files[name]; ok {
		return append(buf[:0], data...), nil
	}
	if err, ok := t.errs[name]; ok {
		return nil, &fs.PathError{Op: "read", Path: name, Err: err}
	}
	if data, ok := t.earlier(name); ok {
		return append(buf[:0], data...), nil
	}
	return t.flat.Read(name, buf)
}

// earlier answers for a slow file from an earlier tick.
func (t *tree) earlier(name string) ([]byte, bool) {
	old, ok := t.slow[name]
	if !ok || t.at.Sub(old.at) > maxAge {
		return nil, false
	}
	if p := processOf(name); p != "" && !t.procs[p] {
		return nil, false
	}
	return old.data, true
}

// ReadDir implements collectors.Root.
func (t *tree) ReadDir(name string) ([]string, error) {
	if list, ok := t.dirs[name]; ok {
		return slices.Clone(list), nil
	}
	if err, ok := t.errs[name]; ok {
		return nil, &fs.PathError{Op: "open", Path: name, Err: err}
	}
	return t.flat.ReadDir(name)
}

// ReadLink implements collectors.Root.
func (t *tree) ReadLink(name string) (string, error) {
	if target, ok := t.flat.Links[name]; ok {
		return target, nil
	}
	if err, ok := t.errs[name]; ok {
		return "", &fs.PathError{Op: "readlink", Path: name, Err: err}
	}
	return t.flat.ReadLink(name)
}

// remember hands the slow files of t on to the next tick.
func (t *tree) remember(next *tree) {
	next.slow = map[string]aged{}
	for name, old := range t.slow {
		if next.at.Sub(old.at) <= maxAge {
			next.slow[name] = old
		}
	}
	for name, data := range t.flat.Files {
		if sparse(name) {
			next.slow[name] = aged{t.at, data}
		}
	}
}

// errnoByName gives the error with a name such as "EACCES".
func errnoByName(name string) (unix.Errno, bool) {
	for e := unix.Errno(1); e < 200; e++ {
		if unix.ErrnoName(e) == name {
			return e, true
		}
	}
	return 0, false
}

// plainChild reports whether name can be the name of something in a folder.
func plainChild(name string) bool {
	return name != "." && fs.ValidPath(name) && !strings.Contains(name, "/")
}
