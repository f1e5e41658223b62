package files

import (
	"archive/tar"
	"archive/zip"
	"bufio"
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"path"
	"strings"
	"time"

	"github.com/klauspost/compress/zstd"
)

// Blob is one file that was given, perhaps out of an archive.
type Blob struct {
	Name string // with the archives that it was in: "logs.tar.gz/store.log"
	Data []byte
	// Changed is when it was last written to, by the word of who keeps it; zero if
	// that is not known. A copy may be as new as the copying.
	Changed time.Time
}

// BundleLimits bound what unpacking may cost: what is sent may be hostile.
type BundleLimits struct {
	File  int64 // bytes of one file, decompressed
	Total int64 // bytes of all, decompressed
	Files int
	Depth int // archives in archives
}

// DefaultBundleLimits leave room for a day of logs.
func DefaultBundleLimits() BundleLimits {
	return BundleLimits{File: 128 << 20, Total: 512 << 20, Files: 2000, Depth: 3}
}

// Bundle collects files, taking archives and compressed files apart: tar, zip,
// gzip and zstd, told by their content. What is refused or damaged is named in
// Notes and stops nothing else.
type Bundle struct {
	Blobs []Blob
	Notes []string
	// Sift picks the lines worth keeping out of those of a file that is too large
	// to be kept whole; nil keeps its end only. It is given whole lines.
	Sift func(lines []byte) []byte

	limits BundleLimits
	total  int64
}

// NewBundle makes an empty bundle.
func NewBundle(limits BundleLimits) *Bundle { return &Bundle{limits: limits} }

// Add takes a file, or the files in it.
func (b *Bundle) Add(name string, r io.Reader) { b.add(name, r, time.Time{}, 0) }

// AddFile does so for a file that was last changed at a time. Of one that is too
// large its end is read without what comes before, if r can seek.
func (b *Bundle) AddFile(name string, r io.Reader, changed time.Time) { b.add(name, r, changed, 0) }

func (b *Bundle) note(name, format string, args ...any) {
	if len(b.Notes) < 1000 {
		b.Notes = append(b.Notes, name+": "+fmt.Sprintf(format, args...))
	}
}

// add takes one file at a depth of archives.
func (b *Bundle) add(name string, r io.Reader, changed time.Time, depth int) {
	in := bufio.NewReader(r)
	head, _ := in.Peek(tarOffset + len(tarMagic))
	switch {
	case depth > b.limits.Depth:
		b.note(name, "more than %d archives in one another: not opened", b.limits.Depth)
	case bytes.HasPrefix(head, []byte("\x1f\x8b")):
		z, err := gzip.NewReader(in)
		if err != nil {
			b.note(name, "damaged gzip: %v", err)
			return
		}
		if !z.ModTime.IsZero() {
			changed = z.ModTime
		}
		b.add(strings.TrimSuffix(name, ".gz"), z, changed, depth+1)
	case bytes.HasPrefix(head, []byte(zstdMagic)):
		z, err := newDecoder(in)
		if err != nil {
			b.note(name, "damaged zstd: %v", err)
			return
		}
		defer z.Close()
		b.add(strings.TrimSuffix(name, ".zst"), z, changed, depth+1)
	case bytes.HasPrefix(head, []byte("PK\x03\x04")):
		b.zip(name, in, depth)
	case len(head) > tarOffset && bytes.HasPrefix(head[tarOffset:], []byte(tarMagic)):
		b.tar(name, in, depth)
	default:
		b.keep(name, in, r, changed)
	}
}

func unwrapped(err error) error {
	if errors.Is(err, zstd.ErrWindowSizeExceeded) || errors.Is(err, zstd.ErrDecoderSizeExceeded) {
		return errors.New("it wants too much memory")
	}
	return err
}

// full reports whether no more files are taken, and says so once.
func (b *Bundle) full(name string) bool {
	if len(b.Blobs) < b.limits.Files && b.total < b.limits.Total {
		return false
	}
	b.note(name, "over the limit of %d files or %d MiB: not read", b.limits.Files, b.limits.Total>>20)
	return true
}

func (b *Bundle) keep(name string, in, r io.Reader, changed time.Time) {
	if b.full(name) {
		return
	}
	if data, ok := b.read(name, b.nearEnd(in, r)); ok {
		b.Blobs = append(b.Blobs, Blob{name, data, changed})
	}
}

// tar takes the regular files of an archive.
func (b *Bundle) tar(name string, r io.Reader, depth int) {
	t := tar.NewReader(r)
	for entries := 0; ; entries++ {
		h, err := t.Next()
		if errors.Is(err, io.EOF) {
			return
		}
		if err != nil {
			b.note(name, "damaged or cut off: %v", err)
			return
		}
		if b.refused(name, h.Name, entries) || h.Typeflag == tar.TypeDir {
			if entries > 10*b.limits.Files {
				return
			}
			continue
		}
		if h.Typeflag != tar.TypeReg {
			b.note(name, "%q is a link or a device: not read", h.Name)
			continue
		}
		if b.full(name) {
			return
		}
		b.add(path.Join(name, path.Clean(h.Name)), t, known(h.ModTime), depth+1)
	}
}

// known is the time of an entry, zero where the archive was made without.
func known(t time.Time) time.Time {
	if t.Unix() == 0 {
		return time.Time{}
	}
	return t
}

// refused reports whether an entry is not to be taken, for its name or because
// there are too many.
func (b *Bundle) refused(archive, entry string, number int) bool {
	if number > 10*b.limits.Files {
		b.note(archive, "more than %d entries: the rest is not read", 10*b.limits.Files)
		return true
	}
	if _, err := cleanName(entry); err != nil {
		b.note(archive, "%v", err)
		return true
	}
	return false
}

// zip takes the regular files of an archive, which has to be in memory whole.
func (b *Bundle) zip(name string, r io.Reader, depth int) {
	before := b.total
	data, _ := b.read(name, r)
	b.total = before
	z, err := zip.NewReader(bytes.NewReader(data), int64(len(data)))
	if err != nil {
		b.note(name, "damaged zip: %v", err)
		return
	}
	for i, f := range z.File {
		if b.refused(name, f.Name, i) {
			continue
		}
		if f.FileInfo().IsDir() {
			continue
		}
		if !f.Mode().IsRegular() {
			b.note(name, "%q is a link or a device: not read", f.Name)
			continue
		}
		if b.full(name) {
			return
		}
		in, err := f.Open()
		if err != nil {
			b.note(name, "%q: %v", f.Name, err)
			continue
		}
		b.add(path.Join(name, path.Clean(f.Name)), in, time.Time{}, depth+1)
		in.Close()
	}
}
