package main

import (
	"archive/tar"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/klauspost/compress/zstd"

	"stallmark/collectors/files"
	"stallmark/storage/model"
)

// tape is a recording in memory, for tests that change it.
type tape struct {
	meta   files.Meta
	frames []frame
}

// frame is one beat: the files by name, "proc/vmstat" and so on.
type frame struct {
	at    time.Time
	files map[string]string
}

// tapes are the recordings that were read so far.
type tapes struct {
	mu   sync.Mutex
	read map[string]func() (tape, error)
}

// of reads a recording once; the copy belongs to the caller.
func (s *tapes) of(t *testing.T, capture string) tape {
	t.Helper()
	s.mu.Lock()
	if s.read == nil {
		s.read = map[string]func() (tape, error){}
	}
	if s.read[capture] == nil {
		s.read[capture] = sync.OnceValues(func() (tape, error) { return readTape(capturePath(capture)) })
	}
	read := s.read[capture]
	s.mu.Unlock()
	tp, err := read()
	if err != nil {
		t.Fatal(err)
	}
	return tp.clone()
}

func (tp tape) clone() tape {
	frames := make([]frame, len(tp.frames))
	for i, f := range tp.frames {
		frames[i] = frame{f.at, maps.Clone(f.files)}
	}
	return tape{tp.meta, frames}
}

// readTape reads a recording of the older layout, whose host had 4096-byte pages.
func readTape(path string) (tape, error) {
	in, err := os.Open(path)
	if err != nil {
		return tape{}, err
	}
	defer in.Close()
	z, err := zstd.NewReader(in)
	if err != nil {
		return tape{}, err
	}
	defer z.Close()
	tp := tape{meta: files.Meta{Format: files.FormatVersion, IntervalMS: 1000, PageSize: 4096, ClockTicks: 100}}
	last := -1
	for r := tar.NewReader(z); ; {
		h, err := r.Next()
		if errors.Is(err, io.EOF) {
			return tp, nil
		}
		if err != nil {
			return tape{}, err
		}
		part := strings.SplitN(h.Name, "/", 3) // capture, tick, name
		if len(part) != 3 || h.Typeflag != tar.TypeReg {
			continue
		}
		text, err := io.ReadAll(r)
		if err != nil {
			return tape{}, err
		}
		tick, err := strconv.Atoi(part[1])
		if err != nil {
			return tape{}, fmt.Errorf("entry %q: %w", h.Name, err)
		}
		if tick != last {
			last = tick
			tp.frames = append(tp.frames, frame{files: map[string]string{}})
		}
		f := &tp.frames[len(tp.frames)-1]
		if part[2] == "meta" {
			_, rest, _ := strings.Cut(string(text), "real_ns ")
			ns, err := strconv.ParseInt(strings.Fields(rest)[0], 10, 64)
			if err != nil {
				return tape{}, err
			}
			f.at = time.Unix(0, ns).UTC()
			continue
		}
		f.files[part[2]] = string(text)
	}
}

// diagnose judges the tape, as a recording in our own layout.
func (tp tape) diagnose(t *testing.T) (model.Report, int) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "tape.tar")
	out, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	defer out.Close()
	if err := tp.write(out); err != nil {
		t.Fatal(err)
	}
	return diagnosed(t, path)
}

func (tp tape) write(out io.Writer) error {
	w := tar.NewWriter(out)
	put := func(name, text string) error {
		if err := w.WriteHeader(&tar.Header{Name: name, Mode: 0o644, Size: int64(len(text)), Typeflag: tar.TypeReg}); err != nil {
			return err
		}
		_, err := io.WriteString(w, text)
		return err
	}
	meta := tp.meta
	meta.Start = tp.frames[0].at
	data, err := json.Marshal(meta)
	if err != nil {
		return err
	}
	if err := put("meta.json", string(data)); err != nil {
		return err
	}
	for i, f := range tp.frames {
		for _, name := range slices.Sorted(maps.Keys(f.files)) {
			if err := put(fmt.Sprintf("%06d/%s", i, name), f.files[name]); err != nil {
				return err
			}
		}
		if err := put(fmt.Sprintf("%06d/at", i), f.at.Format(time.RFC3339Nano)); err != nil {
			return err
		}
	}
	return w.Close()
}

// keep leaves the files that are accepted; a beat without files is gone.
func (tp tape) keep(ok func(beat int, name string) bool) tape {
	var out []frame
	for i, f := range tp.frames {
		maps.DeleteFunc(f.files, func(name, _ string) bool { return !ok(i, name) })
		if len(f.files) > 0 {
			out = append(out, f)
		}
	}
	tp.frames = out
	return tp
}

// edit rewrites a file in each beat that has it.
func (tp tape) edit(name string, change func(beat int, text string) string) tape {
	for i, f := range tp.frames {
		if text, ok := f.files[name]; ok {
			f.files[name] = change(i, text)
		}
	}
	return tp
}

// editAll rewrites all files whose name is accepted.
func (tp tape) editAll(ok func(name string) bool, change func(name, text string) string) tape {
	for _, f := range tp.frames {
		for name, text := range f.files {
			if ok(name) {
				f.files[name] = change(name, text)
			}
		}
	}
	return tp
}

// eachLine rewrites a text line by line; an empty result drops the line.
func eachLine(text string, change func(line string) string) string {
	var b strings.Builder
	for line := range strings.Lines(text) {
		if line = change(strings.TrimSuffix(line, "\n")); line != "" {
			b.WriteString(line + "\n")
		}
	}
	return b.String()
}
