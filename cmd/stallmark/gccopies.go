package main

import (
	"bytes"
	"fmt"
	"io"
	"slices"
)

// gcHead is how much of a file tells it from others: a log has times in it.
const gcHead = 4096

// leaveCopies leaves out files that begin as another of the set: the same log,
// compressed or copied, would count twice. The longest is kept.
func (s *gcSet) leaveCopies() {
	if len(s.files) < 2 {
		return
	}
	heads := make([][]byte, len(s.files))
	for i, file := range s.files {
		heads[i] = gcHeadOf(file)
	}
	var left []string
	for i, file := range s.files {
		for j, other := range s.files {
			if i != j && alike(heads[i], heads[j]) && !slices.Contains(left, other) && !longer(i, j, s.files) {
				left = append(left, file)
				s.notes = append(s.notes, fmt.Sprintf("%s: begins as %s does: taken for a copy and left out", file, other))
				break
			}
		}
	}
	s.files = slices.DeleteFunc(s.files, func(file string) bool { return slices.Contains(left, file) })
}

// alike reports whether two files begin with the same bytes, as far as the shorter
// goes.
func alike(a, b []byte) bool {
	n := min(len(a), len(b))
	return n > 0 && bytes.Equal(a[:n], b[:n])
}

// longer reports whether the i-th of two files that begin alike has more in it; of
// equals the one that was named first.
func longer(i, j int, files []string) bool {
	a, b := gcLength(files[i]), gcLength(files[j])
	return a > b || a == b && i < j
}

// gcHeadOf is the beginning of what is in a file, empty if it cannot be read.
func gcHeadOf(file string) (head []byte) {
	readGCFile(file, func(r io.Reader) { head, _ = io.ReadAll(io.LimitReader(r, gcHead)) })
	return head
}

// gcLength is how many bytes can be read of what is in a file.
func gcLength(file string) (n int64) {
	readGCFile(file, func(r io.Reader) { n, _ = io.Copy(io.Discard, r) })
	return n
}

// readGCFile reads a file as far as that goes: what cannot be read is an error
// later, when its figures are.
func readGCFile(file string, read func(io.Reader)) {
	f, err := openGC(file)
	if err != nil {
		return
	}
	defer f.Close()
	_ = gcDecompressed(f, func(r io.Reader) error {
		read(r)
		return nil
	})
}
