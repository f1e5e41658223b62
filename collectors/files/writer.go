package files

import (
	"errors"
	"io/fs"
	"maps"
	"path"
	"strings"
	"sync"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"stallmark/collectors"
	"stallmark/storage/model"
)

// WriterConfig is what a [Writer] needs.
type WriterConfig struct {
	Meta Meta // without Format, Start and Facts, which the writer sets
	Root collectors.Root
	// Filter makes content fit to leave the host, for instance by keeping only
	// allow-listed arguments of a command line; nil leaves the file out. It is
	// asked about every file, by several goroutines at once. Without a Filter
	// command lines are left out. Environments and everything below root/ are
	// left out in any case.
	Filter func(name string, data []byte) []byte
	// Patient makes Commit wait for the disk instead of losing a tick, for
	// copying a recording, where no beat is to be kept.
	Patient bool
}

// Writer records: it is the Root that the sources read from while recording,
// and a Sink for the facts that they find. What they read between two commits
// is one tick. Reads go through unchanged; only the recording is filtered.
type Writer struct {
	cfg     WriterConfig
	archive *archive

	mu    sync.Mutex // guards what follows
	cur   *recorded
	begun bool // meta.json is written
	ticks int
	lost  int
}

// recorded is what was read for one tick.
type recorded struct {
	files  map[string][]byte
	links  map[string]string
	dirs   map[string][]string
	errors map[string]string // errno names
	facts  map[string]string
}

func newRecorded() *recorded {
	return &recorded{
		files:  map[string][]byte{},
		links:  map[string]string{},
		dirs:   map[string][]string{},
		errors: map[string]string{},
		facts:  map[string]string{},
	}
}

// SetRoot changes the root that is read, between beats.
func (w *Writer) SetRoot(r collectors.Root) { w.cfg.Root = r }

// Read implements collectors.Root.
func (w *Writer) Read(name string, buf []byte) ([]byte, error) {
	data, err := w.cfg.Root.Read(name, buf)
	if !recordable(name) {
		return data, err
	}
	if err != nil {
		w.note(func(r *recorded) { r.errors[name] = errnoName(err) })
		return data, err
	}
	if kept := w.filtered(name, data); kept != nil {
		w.note(func(r *recorded) { r.files[name] = kept })
	}
	return data, nil
}

// filtered returns a copy of what may be recorded, nil for nothing.
func (w *Writer) filtered(name string, data []byte) []byte {
	kept := append([]byte{}, data...)
	switch {
	case w.cfg.Filter != nil:
		return w.cfg.Filter(name, kept)
	case path.Base(name) == "cmdline" && name != "proc/cmdline":
		return nil
	}
	return kept
}

// ReadDir implements collectors.Root.
func (w *Writer) ReadDir(name string) ([]string, error) {
	list, err := w.cfg.Root.ReadDir(name)
	if recordable(name) {
		kept := append([]string{}, list...)
		w.note(func(r *recorded) {
			if err != nil {
				r.errors[name] = errnoName(err)
				return
			}
			r.dirs[name] = kept
		})
	}
	return list, err
}

// ReadLink implements collectors.Root.
func (w *Writer) ReadLink(name string) (string, error) {
	target, err := w.cfg.Root.ReadLink(name)
	if recordable(name) {
		w.note(func(r *recorded) {
			if err != nil {
				r.errors[name] = errnoName(err)
				return
			}
			r.links[name] = target
		})
	}
	return target, err
}

func (w *Writer) note(put func(*recorded)) {
	w.mu.Lock()
	defer w.mu.Unlock()
	put(w.cur)
}

// recordable reports whether a name may be in a recording at all: files of the
// host's own tree, of a process's root and environments may not.
func recordable(name string) bool {
	if !fs.ValidPath(name) {
		return false
	}
	parts := strings.Split(name, "/")
	switch parts[0] {
	case "sys", "logs":
		return true
	case "proc":
		inside := len(parts) > 3 && (parts[2] == "root" || parts[2] == "cwd")
		return !inside && parts[len(parts)-1] != "environ"
	}
	return false
}

// errnoName names the errno in err; errors without one become EIO.
func errnoName(err error) string {
	if e, ok := errors.AsType[syscall.Errno](err); ok {
		if name := unix.ErrnoName(e); name != "" {
			return name
		}
	}
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return "ENOENT"
	case errors.Is(err, fs.ErrPermission):
		return "EACCES"
	}
	return "EIO"
}

// Put puts what no source has read, under a name of the recording's format: the
// bytes of followed logs. The data is not copied.
func (w *Writer) Put(name string, data []byte) {
	w.note(func(r *recorded) { r.files[name] = data })
}

// Fact implements collectors.Sink: facts go into the recording.
func (w *Writer) Fact(f model.Fact) {
	w.note(func(r *recorded) { r.facts[f.Key] = f.Value })
}

// Append implements collectors.Sink. Samples follow from the files.
func (w *Writer) Append(model.Batch) {}

// Event implements collectors.Sink. Events follow from the files.
func (w *Writer) Event(model.Event) {}

// Coverage implements collectors.Sink. Coverage follows from the files.
func (w *Writer) Coverage([]model.Coverage) {}

// Commit ends a tick: what has been read since the last commit was read for
// the beat at the given time. It does not wait for the disk; when that is more
// than a minute of beats behind, the tick is lost and counted.
func (w *Writer) Commit(at time.Time) {
	w.mu.Lock()
	defer w.mu.Unlock()
	tick := job{number: w.ticks, at: at.UTC(), rec: w.cur}
	if !w.begun {
		meta := w.cfg.Meta
		meta.Format, meta.Start, meta.Facts = FormatVersion, tick.at, w.cur.facts
		tick.meta = &meta
	}
	next := newRecorded()
	if w.archive.offer(tick, w.cfg.Patient) {
		w.begun = true
		w.ticks++
	} else {
		w.lost++
		maps.Copy(next.facts, w.cur.facts) // a fact is told once: it must not be lost
	}
	w.cur = next
}

// Ticks is how many ticks have been committed and how many of the beats were
// lost because the disk was too slow.
func (w *Writer) Ticks() (committed, lost int) {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.ticks, w.lost
}

// Close writes what is committed and ends the archive. It does not close the
// underlying file.
func (w *Writer) Close() error { return w.archive.close() }
