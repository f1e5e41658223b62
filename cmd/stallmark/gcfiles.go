package main

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"github.com/klauspost/compress/zstd"

	"stallmark/collectors/jvm/gclog"
)

// gcSet is one log: a file, or the files of a rotated one, oldest first.
type gcSet struct {
	name  string
	files []string
	named bool // on the command line, not found in a folder
	notes []string
}

// maxGCFiles bounds how many files a folder may bring.
const maxGCFiles = 10_000

// gcSets finds the logs that arguments name. What cannot be found is an error
// beside the others.
func gcSets(args []string) ([]gcSet, error) {
	var sets []gcSet
	at := map[string]int{}
	seen := map[string]bool{}
	add := func(file string, named bool) {
		if seen[file] {
			return
		}
		seen[file] = true
		base := gclog.BaseName(file)
		i, ok := at[base]
		if !ok {
			i = len(sets)
			at[base] = i
			sets = append(sets, gcSet{name: base})
		}
		sets[i].files = append(sets[i].files, file)
		sets[i].named = sets[i].named || named
	}
	var failed error
	for _, arg := range args {
		if arg == "-" {
			sets = append(sets, gcSet{name: "-", files: []string{"-"}, named: true})
			continue
		}
		info, err := os.Stat(arg)
		switch {
		case err != nil:
			failed = errors.Join(failed, fmt.Errorf("%s: %w", arg, bareError(err)))
		case info.IsDir():
			failed = errors.Join(failed, gcFolder(arg, func(file string) { add(file, false) }))
		default:
			file := filepath.Clean(arg)
			add(file, true)
			for _, sibling := range gcSiblings(file) {
				add(sibling, true)
			}
		}
	}
	for i := range sets {
		sets[i].leaveCopies()
		orderGC(&sets[i])
	}
	return sets, failed
}

// gcSiblings are the other files of the log that a file is the written one of.
func gcSiblings(file string) []string {
	if !gclog.IsActive(file) {
		return nil
	}
	entries, err := os.ReadDir(filepath.Dir(file))
	if err != nil {
		return nil
	}
	var list []string
	base := gclog.BaseName(file)
	for _, e := range entries {
		other := filepath.Join(filepath.Dir(file), e.Name())
		if e.Type().IsRegular() && other != file && gclog.BaseName(other) == base {
			list = append(list, other)
		}
	}
	return list
}

// gcFolder names the regular files below a folder, in the order of their names.
func gcFolder(dir string, add func(string)) error {
	n := 0
	return filepath.WalkDir(dir, func(file string, e fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return fmt.Errorf("%s: %w", file, bareError(err))
		case !e.Type().IsRegular():
			return nil
		}
		if n++; n > maxGCFiles {
			return fmt.Errorf("%s: more than %d files; name a folder with fewer", dir, maxGCFiles)
		}
		add(file)
		return nil
	})
}

// orderGC puts the files of a rotated log in the order in which they were
// written.
func orderGC(set *gcSet) {
	if len(set.files) < 2 {
		set.name = set.files[0]
		return
	}
	parts := make([]gclog.Part, len(set.files))
	for i, file := range set.files {
		parts[i] = gclog.NewPart(file, bytes.NewReader(nil))
		if f, err := openGC(file); err == nil {
			// What cannot be read has no time here, and is an error when it is read.
			_ = gcDecompressed(f, func(r io.Reader) error {
				parts[i] = gclog.NewPart(file, r)
				return nil
			})
			f.Close()
		}
	}
	slices.SortFunc(parts, func(a, b gclog.Part) int { return bytes.Compare([]byte(a.Path), []byte(b.Path)) })
	gclog.Order(parts)
	for i, part := range parts {
		set.files[i] = part.Path
	}
}

// gcDecompressed reads what is compressed by gzip or zstd as what it was, by its
// first bytes.
func gcDecompressed(r io.Reader, read func(io.Reader) error) error {
	b := bufio.NewReader(r)
	head, _ := b.Peek(4) // a shorter file is no compressed one
	switch {
	case bytes.HasPrefix(head, []byte{0x1f, 0x8b}):
		z, err := gzip.NewReader(b)
		if err != nil {
			return err
		}
		return read(z)
	case bytes.Equal(head, []byte{0x28, 0xb5, 0x2f, 0xfd}):
		z, err := zstd.NewReader(b, zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxWindow(256<<20))
		if err != nil {
			return err
		}
		defer z.Close()
		return read(z)
	}
	return read(narrow(b))
}

// bareError drops the path that a file error repeats.
func bareError(err error) error {
	if pe, ok := errors.AsType[*fs.PathError](err); ok {
		return pe.Err
	}
	return err
}
