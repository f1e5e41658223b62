package files

import (
	"bytes"
	"io"
	"slices"
)

// What is too large is read at its end: the newest lines of a log are those that
// somebody asks about.

// passOver bounds how much of a stream is read to find its end, in limits of all
// files together.
const passOver = 16

// maxFirst is how far the end of the line is looked for that a cut goes through.
const maxFirst = 64 << 10

// read reads a file up to the limits; of more it keeps the end. A damaged end
// keeps what came before it.
func (b *Bundle) read(name string, r io.Reader) ([]byte, bool) {
	room := min(b.limits.File, b.limits.Total-b.total)
	ahead := passOver * b.limits.Total
	data, read, err := tail(io.LimitReader(r, ahead), room)
	switch {
	case read >= ahead:
		b.note(name, "more than %d MiB: only the last %d of those are read", ahead>>20, room>>20)
	case read > room:
		b.note(name, "more than %d MiB: only the last %d MiB are read; give a part of it for an earlier time", room>>20, room>>20)
	}
	if err != nil {
		b.note(name, "damaged or cut off after %d bytes: %v", read, unwrapped(err))
	}
	b.total += int64(len(data))
	return data, len(data) > 0
}

// tail reads all and keeps at most the last room bytes, from the beginning of a
// line. read is how many there were.
func tail(r io.Reader, room int64) (data []byte, read int64, err error) {
	data, err = io.ReadAll(io.LimitReader(r, room))
	read = int64(len(data))
	if err != nil || read < room || room == 0 {
		return data, read, err
	}
	at, over := 0, int64(0) // data is a ring from here on
	for {
		n, failed := r.Read(data[at:])
		over += int64(n)
		if at += n; at == len(data) {
			at = 0
		}
		if failed != nil {
			if failed != io.EOF {
				err = failed
			}
			break
		}
	}
	if over == 0 {
		return data, read, err
	}
	turn(data, at)
	return wholeLines(data), read + over, err
}

// turn brings what stands at i to the front.
func turn(data []byte, i int) {
	slices.Reverse(data[:i])
	slices.Reverse(data[i:])
	slices.Reverse(data)
}

// wholeLines leaves out the rest of a line that was cut.
func wholeLines(data []byte) []byte {
	if n := bytes.IndexByte(data[:min(len(data), maxFirst)], '\n'); n >= 0 {
		return data[n+1:]
	}
	return data
}

// nearEnd leaves out what of a file need not be read, if it can seek: in reads it
// from its start, r is the file itself. One byte too many is left, by which it is
// known to be too large.
func (b *Bundle) nearEnd(in, r io.Reader) io.Reader {
	s, ok := r.(io.Seeker)
	if !ok {
		return in
	}
	room := min(b.limits.File, b.limits.Total-b.total)
	size, err := s.Seek(0, io.SeekEnd)
	if err == nil && size > room {
		_, err = s.Seek(size-room-1, io.SeekStart)
		return io.MultiReader(errorReader{err}, r)
	}
	if _, err := s.Seek(0, io.SeekStart); err != nil {
		return in // a pipe
	}
	return r
}

// errorReader fails, or is empty without an error.
type errorReader struct{ err error }

func (e errorReader) Read([]byte) (int, error) {
	if e.err != nil {
		return 0, e.err
	}
	return 0, io.EOF
}
