package files

import (
	"archive/tar"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"slices"
	"strconv"
)

// entry is one file or symbolic link of a recording.
type entry struct {
	name   string // as in the archive, cleaned
	target string // of a link
	data   []byte // of a file
	link   bool
}

// entries yields a recording's entries, tick after tick; io.EOF ends it.
type entries interface {
	next() (entry, error)
	Close() error
}

// tarEntries reads a tar stream. Hard links, devices and folders are passed
// over.
type tarEntries struct {
	tar    *tar.Reader
	limits Limits
	close  func() error
}

func (t *tarEntries) next() (entry, error) {
	for {
		h, err := t.tar.Next()
		if err != nil {
			return entry{}, err
		}
		name, err := cleanName(h.Name)
		if err != nil {
			return entry{}, err
		}
		switch h.Typeflag {
		case tar.TypeSymlink:
			return entry{name: name, target: h.Linkname, link: true}, nil
		case tar.TypeReg:
			if _, _, ok := splitName(name); !ok && !isMeta(name) {
				return entry{name: name}, nil // of no tick: maybe a log of any size
			}
			data, err := readLimited(t.tar, t.limits.File, name)
			return entry{name: name, data: data}, err
		}
	}
}

func (t *tarEntries) Close() error { return t.close() }

// readLimited reads all of r, or fails if it is longer than limit.
func readLimited(r io.Reader, limit int64, name string) ([]byte, error) {
	data, err := io.ReadAll(io.LimitReader(r, limit+1))
	if err == nil && int64(len(data)) > limit {
		err = fmt.Errorf("entry %q: more than %d bytes: %w", name, limit, ErrLimit)
	}
	return data, err
}

// folderEntries reads an extracted recording. It never follows a symbolic link
// and never leaves the folder.
type folderEntries struct {
	root   *os.Root
	limits Limits
	ticks  []string // tick folders still to read, in order
	queue  []string // names of the tick being read, still to read
}

// newFolderEntries finds the ticks of an extracted recording: in the folder
// itself or in its only subfolder.
func newFolderEntries(dir string, limits Limits) (*folderEntries, error) {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, err
	}
	f := &folderEntries{root: root, limits: limits}
	if err := f.find(); err != nil {
		return nil, errors.Join(err, root.Close())
	}
	return f, nil
}

func (f *folderEntries) find() error {
	top, err := fs.ReadDir(f.root.FS(), ".")
	if err != nil {
		return err
	}
	base := "."
	if len(tickFolders(".", top)) == 0 && len(top) == 1 && top[0].IsDir() {
		base = top[0].Name()
		if top, err = fs.ReadDir(f.root.FS(), base); err != nil {
			return err
		}
	}
	f.ticks = tickFolders(base, top)
	if len(f.ticks) == 0 {
		return fmt.Errorf("no tick folders (000000, 000001 ...) in it: %w", ErrNotRecording)
	}
	if slices.ContainsFunc(top, func(e fs.DirEntry) bool { return e.Name() == nameMeta }) {
		f.queue = []string{path.Join(base, nameMeta)}
	}
	return nil
}

// tickFolders lists the numbered folders in the order of their numbers.
func tickFolders(base string, in []fs.DirEntry) []string {
	var names []string
	for _, e := range in {
		if _, err := strconv.ParseUint(e.Name(), 10, 31); err == nil && e.IsDir() {
			names = append(names, e.Name())
		}
	}
	slices.SortFunc(names, func(a, b string) int {
		x, _ := strconv.Atoi(a)
		y, _ := strconv.Atoi(b)
		return x - y
	})
	for i := range names {
		names[i] = path.Join(base, names[i])
	}
	return names
}

func (f *folderEntries) next() (entry, error) {
	for len(f.queue) == 0 {
		if len(f.ticks) == 0 {
			return entry{}, io.EOF
		}
		if err := f.list(f.ticks[0]); err != nil {
			return entry{}, err
		}
		f.ticks = f.ticks[1:]
	}
	name := f.queue[0]
	f.queue = f.queue[1:]
	return f.read(name)
}

// list queues the files of one tick.
func (f *folderEntries) list(tick string) error {
	return fs.WalkDir(f.root.FS(), tick, func(name string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.Type().IsRegular() || d.Type() == fs.ModeSymlink {
			f.queue = append(f.queue, name)
		}
		if len(f.queue) > f.limits.Entries {
			return fmt.Errorf("%s: more than %d files: %w", tick, f.limits.Entries, ErrLimit)
		}
		return nil
	})
}

func (f *folderEntries) read(name string) (entry, error) {
	info, err := f.root.Lstat(name)
	if err != nil {
		return entry{}, err
	}
	if info.Mode().Type() == fs.ModeSymlink {
		target, err := f.root.Readlink(name)
		return entry{name: name, target: target, link: true}, err
	}
	file, err := f.root.Open(name)
	if err != nil {
		return entry{}, err
	}
	defer file.Close()
	data, err := readLimited(file, f.limits.File, name)
	return entry{name: name, data: data}, err
}

func (f *folderEntries) Close() error { return f.root.Close() }
