package main

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"time"
	_ "time/tzdata" // zones can be named on hosts without zone files

	"github.com/klauspost/compress/zstd"

	"stallmark/collectors/logs/match"
	"stallmark/collectors/logs/stamp"
)

// matcher is one run of "rules match".
type matcher struct {
	p      *program
	set    *match.Set
	told   told
	nearby map[string]nearbyZone // by folder
	out    matchOutput
	shapes *shapeTable
	counts map[string]int64 // by pattern
	faults bool
}

// openLog opens a log, decompressed, with the time of its last change.
func (m *matcher) openLog(file string) (io.ReadCloser, time.Time, error) {
	if file == "-" {
		r, err := decompressed(m.p.stdin)
		return r, m.p.now(), err
	}
	info, err := os.Stat(file)
	if err != nil {
		return nil, time.Time{}, err
	}
	if info.IsDir() {
		return nil, time.Time{}, fmt.Errorf("%s is a folder: name the files in it", file)
	}
	f, err := os.Open(file)
	if err != nil {
		return nil, time.Time{}, err
	}
	r, err := decompressed(f)
	if err != nil {
		f.Close()
		return nil, time.Time{}, fmt.Errorf("%s: %w", file, err)
	}
	return closeBoth{r, f}, info.ModTime(), nil
}

// lastStamp looks at the end of a file that is not compressed: its last line tells
// the zone by the time of the last change, before the first line is printed.
func lastStamp(file string) (stamp.Stamp, bool) {
	info, err := os.Stat(file)
	if err != nil || !info.Mode().IsRegular() {
		return stamp.Stamp{}, false // a pipe can be read once only
	}
	f, err := os.Open(file)
	if err != nil {
		return stamp.Stamp{}, false // it is said elsewhere
	}
	defer f.Close()
	end := make([]byte, min(info.Size(), 64<<10))
	n, _ := f.ReadAt(end, info.Size()-int64(len(end)))
	end = bytes.TrimRight(end[:n], "\r\n")
	return stamp.Before(end, bytes.LastIndexByte(end, '\n')+1)
}

// closeBoth closes a decompressor and the file below it.
type closeBoth struct {
	io.ReadCloser
	file io.Closer
}

func (c closeBoth) Close() error { return errors.Join(c.ReadCloser.Close(), c.file.Close()) }

// decompressed looks at the first bytes, whatever the name says.
func decompressed(r io.Reader) (io.ReadCloser, error) {
	b := bufio.NewReaderSize(r, 64<<10)
	magic, _ := b.Peek(4)
	switch {
	case bytes.HasPrefix(magic, []byte{0x1f, 0x8b}):
		return gzip.NewReader(b)
	case bytes.Equal(magic, []byte{0x28, 0xb5, 0x2f, 0xfd}):
		z, err := zstd.NewReader(b, zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxWindow(128<<20))
		if err != nil {
			return nil, err
		}
		return z.IOReadCloser(), nil
	}
	return io.NopCloser(narrow(b)), nil
}

// nearbyZone is the offset that a log says in its stamps, for the other logs in
// its folder.
type nearbyZone struct {
	offset time.Duration
	file   string
}

// lookNearby finds, among the files, logs whose stamps say their zone, such as GC
// logs. A pipe can be read once only, so it is left alone.
func (m *matcher) lookNearby(files []string) {
	for _, file := range files {
		if info, err := os.Stat(file); err != nil || !info.Mode().IsRegular() {
			continue
		}
		r, _, err := m.openLog(file)
		if err != nil {
			continue // it is said when its turn comes
		}
		head := make([]byte, 64<<10)
		n, _ := io.ReadFull(r, head)
		r.Close()
		if s, ok := firstZoned(head[:n]); ok {
			m.nearby[filepath.Dir(file)] = nearbyZone{s.Offset, filepath.Base(file)}
		}
	}
}

// firstZoned is the first stamp in a text that says its zone, and not by a
// container's runtime, which writes UTC wherever it is.
func firstZoned(text []byte) (stamp.Stamp, bool) {
	for line := range bytes.Lines(text) {
		if s, ok := stamp.Find(line); ok && s.Zoned && !s.JSON && s.Seen.IsZero() && line[s.End-1] != 'Z' {
			return s, true
		}
	}
	return stamp.Stamp{}, false
}
