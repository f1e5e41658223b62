package snapshot

import (
	"archive/tar"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/klauspost/compress/zstd"
	"golang.org/x/sys/unix"
)

// Suffix is that of a snapshot's file.
const Suffix = ".stallmark"

// ErrGone is for a snapshot or link that there is not, or no longer.
var ErrGone = errors.New("no such snapshot")

// Config says where snapshots are kept and how much of them.
type Config struct {
	Dir       string // made if need be, for this user alone
	Now       func() time.Time
	MaxBytes  int64 // of all files; 0 means 1 GiB
	Automatic int   // how many that were made by themselves are kept; 0 means 50
	Limits    Limits
}

// Info is what a list shows of a snapshot.
type Info struct {
	ID   string
	Size int64 // bytes of its file
	Meta Meta
}

// Folder keeps snapshots as files and the links to them. It is safe for
// concurrent use, by several processes too: the service and the commands.
type Folder struct {
	cfg      Config
	root     *os.Root
	mu       sync.Mutex
	links    []Link
	seen     fs.FileInfo // of the file that the links were read from
	saved    time.Time   // when they were last written
	openings map[string]opening
}

// OpenFolder opens or makes the folder. A list of links that cannot be read is
// put aside, never overwritten: its links are then gone, and the error says so
// beside a folder that works.
func OpenFolder(cfg Config) (*Folder, error) {
	if cfg.MaxBytes == 0 {
		cfg.MaxBytes = 1 << 30
	}
	if cfg.Automatic == 0 {
		cfg.Automatic = 50
	}
	if cfg.Limits == (Limits{}) {
		cfg.Limits = DefaultLimits()
	}
	if err := os.MkdirAll(cfg.Dir, 0o700); err != nil {
		return nil, err
	}
	if err := ownFolder(cfg.Dir); err != nil {
		return nil, err
	}
	root, err := os.OpenRoot(cfg.Dir)
	if err != nil {
		return nil, err
	}
	f := &Folder{cfg: cfg, root: root, openings: map[string]opening{}}
	return f, f.refreshLinks()
}

// ownFolder refuses a folder that somebody else put in place by a symbolic link,
// and closes one that others may read.
func ownFolder(dir string) error {
	info, err := os.Lstat(dir)
	if err != nil {
		return err
	}
	if !info.IsDir() {
		return fmt.Errorf("%s: want a folder, this is %v", dir, info.Mode().Type())
	}
	if info.Mode().Perm()&0o077 == 0 {
		return nil
	}
	return os.Chmod(dir, 0o700)
}

// MaxBytes is how much the files of all snapshots may take.
func (f *Folder) MaxBytes() int64 { return f.cfg.MaxBytes }

// Close writes what is not written yet, and releases the folder.
func (f *Folder) Close() error {
	f.mu.Lock()
	defer f.mu.Unlock()
	var err error
	if len(f.openings) > 0 {
		err = f.changing(f.saveLinks)
	}
	return errors.Join(err, f.root.Close())
}

// validID reports whether a text can be the id of a snapshot: then it is a safe
// name for a file.
func validID(id string) bool {
	return len(id) == 64 && strings.Trim(id, "0123456789abcdef") == ""
}

// Put keeps a snapshot. The same contents twice are one snapshot.
func (f *Folder) Put(s *Snapshot) (Info, error) {
	id, data, err := s.Encode()
	if err != nil {
		return Info{}, err
	}
	if int64(len(data)) > f.cfg.Limits.Compressed {
		return Info{}, fmt.Errorf("%d MiB compressed, at most %d: %w; freeze a shorter time", len(data)>>20, f.cfg.Limits.Compressed>>20, ErrLimit)
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if err := f.makeRoom(int64(len(data)), s.Meta.By == Automatic); err != nil {
		return Info{}, err
	}
	return Info{id, int64(len(data)), s.Meta}, f.write(id+Suffix, data)
}

// Import keeps a snapshot that another instance made, an archive or a page. It is read whole and
// checked before anything is written.
func (f *Folder) Import(r io.Reader) (Info, error) {
	const around = 16 << 20 // what a page has besides the archive
	data, err := io.ReadAll(io.LimitReader(r, 2*f.cfg.Limits.Compressed+around))
	if err == nil {
		data, err = FromHTML(data)
	}
	if err != nil {
		return Info{}, err
	}
	if int64(len(data)) > f.cfg.Limits.Compressed {
		return Info{}, fmt.Errorf("more than %d MiB: %w", f.cfg.Limits.Compressed>>20, ErrLimit)
	}
	id, s, err := Decode(bytes.NewReader(data), f.cfg.Limits)
	if err != nil {
		return Info{}, err
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if err := f.makeRoom(int64(len(data)), false); err != nil {
		return Info{}, err
	}
	return Info{id, int64(len(data)), s.Meta}, f.write(id+Suffix, data)
}

// Automatic is the By of snapshots that were made by themselves.
const Automatic = "automatic"

// makeRoom refuses what would not fit, and drops the oldest automatic snapshots
// without a link when there are too many. A snapshot that somebody asked for is
// never dropped.
func (f *Folder) makeRoom(size int64, automatic bool) error {
	if err := f.refreshLinks(); err != nil {
		return err
	}
	all, err := f.list()
	if err != nil {
		return err
	}
	var total int64
	var loose []Info // automatic, without a link, oldest first
	count := 0
	for _, one := range all {
		total += one.Size
		if one.Meta.By != Automatic {
			continue
		}
		if count++; !f.linked(one.ID) {
			loose = append(loose, one)
		}
	}
	slices.SortFunc(loose, func(a, b Info) int { return a.Meta.Created.Compare(b.Meta.Created) })
	for len(loose) > 0 && (total+size > f.cfg.MaxBytes || automatic && count >= f.cfg.Automatic) {
		if err := f.root.Remove(loose[0].ID + Suffix); err != nil {
			return err
		}
		total -= loose[0].Size
		count--
		loose = loose[1:]
	}
	if total+size > f.cfg.MaxBytes {
		return fmt.Errorf("snapshots take %d MiB of at most %d: %w; delete some first", total>>20, f.cfg.MaxBytes>>20, ErrLimit)
	}
	return nil
}

// write puts a file in its place whole, or not at all.
func (f *Folder) write(name string, data []byte) error {
	temp := name + ".new"
	if err := f.root.Remove(temp); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	out, err := f.root.OpenFile(temp, os.O_WRONLY|os.O_CREATE|os.O_EXCL|unix.O_NOFOLLOW, 0o600)
	if err != nil {
		return err
	}
	_, err = out.Write(data)
	err = errors.Join(err, out.Sync(), out.Close())
	if err == nil {
		err = f.root.Rename(temp, name)
	}
	if err != nil {
		return errors.Join(err, f.root.Remove(temp))
	}
	return syncDir(f.cfg.Dir)
}

func syncDir(dir string) error {
	d, err := os.Open(dir)
	if err != nil {
		return err
	}
	return errors.Join(d.Sync(), d.Close())
}

// List gives the snapshots, the newest first. One whose file is damaged is left
// out; Get says what is wrong with it.
func (f *Folder) List() ([]Info, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	all, err := f.list()
	slices.SortFunc(all, func(a, b Info) int { return b.Meta.Created.Compare(a.Meta.Created) })
	return all, err
}

func (f *Folder) list() ([]Info, error) {
	names, err := fs.ReadDir(f.root.FS(), ".")
	if err != nil {
		return nil, err
	}
	var all []Info
	for _, n := range names {
		id, ok := strings.CutSuffix(n.Name(), Suffix)
		if !ok || !validID(id) || !n.Type().IsRegular() {
			continue
		}
		if info, err := f.info(id); err == nil {
			all = append(all, info)
		}
	}
	return all, nil
}

// Has reports whether there is a snapshot of this id.
func (f *Folder) Has(id string) bool {
	if !validID(id) {
		return false
	}
	_, err := f.root.Lstat(id + Suffix)
	return err == nil
}

// Info tells about one snapshot, from the beginning of its file.
func (f *Folder) Info(id string) (Info, error) {
	if !validID(id) {
		return Info{}, ErrGone
	}
	return f.info(id)
}

func (f *Folder) info(id string) (Info, error) {
	in, size, err := f.open(id)
	if err != nil {
		return Info{}, err
	}
	defer in.Close()
	z, err := zstd.NewReader(in, zstd.WithDecoderConcurrency(1), zstd.WithDecoderLowmem(true), zstd.WithDecoderMaxWindow(16<<20))
	if err != nil {
		return Info{}, err
	}
	defer z.Close()
	t := tar.NewReader(z)
	h, err := t.Next()
	if err != nil || h.Name != "meta.json" {
		return Info{}, fmt.Errorf("%s: %w", id, errDamaged)
	}
	info := Info{ID: id, Size: size}
	return info, json.NewDecoder(io.LimitReader(t, 1<<20)).Decode(&info.Meta)
}

// open opens the file of a snapshot.
func (f *Folder) open(id string) (*os.File, int64, error) {
	in, err := f.root.OpenFile(id+Suffix, os.O_RDONLY|unix.O_NOFOLLOW, 0)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, 0, ErrGone
	}
	if err != nil {
		return nil, 0, err
	}
	st, err := in.Stat()
	if err != nil {
		return nil, 0, errors.Join(err, in.Close())
	}
	return in, st.Size(), nil
}

// Get reads a snapshot and checks that it is what its id says.
func (f *Folder) Get(id string) (*Snapshot, error) {
	in, err := f.Raw(id)
	if err != nil {
		return nil, err
	}
	defer in.Close()
	got, s, err := Decode(in, f.cfg.Limits)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", filepath.Base(id), err)
	}
	if got != id {
		return nil, fmt.Errorf("%s: its contents are those of %s: %w", id, got, errDamaged)
	}
	return s, nil
}

// Raw opens the archive itself, for a download.
func (f *Folder) Raw(id string) (io.ReadCloser, error) {
	if !validID(id) {
		return nil, ErrGone
	}
	in, _, err := f.open(id)
	return in, err
}

// Delete removes a snapshot and its links.
func (f *Folder) Delete(id string) error {
	if !validID(id) {
		return ErrGone
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.changing(func() error {
		if err := f.root.Remove(id + Suffix); err != nil {
			if errors.Is(err, fs.ErrNotExist) {
				return ErrGone
			}
			return err
		}
		n := len(f.links)
		f.links = slices.DeleteFunc(f.links, func(l Link) bool { return l.Snapshot == id })
		if len(f.links) == n {
			return nil
		}
		return f.saveLinks()
	})
}
