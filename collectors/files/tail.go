package files

import (
	"bytes"
	"io"
	"slices"
)

// What is too large is read at its end, since the newest lines of a log are those
// that somebody asks about, and in passing what comes before.

// passOver bounds how much of a stream is read to find its end, in limits of all
// files together.
const passOver = 16

// maxFirst is how far the end of the line is looked for that a cut goes through.
const maxFirst = 64 << 10

// read reads a file up to the limits; of more it keeps the end, and what Sift
// picks of the rest. A damaged end keeps what came before it.
func (b *Bundle) read(name string, r io.Reader) ([]byte, bool) {
	room := min(b.limits.File, b.limits.Total-b.total)
	ahead := passOver * b.limits.Total
	t := tail{room: room, sift: b.Sift}
	data, read, err := t.read(io.LimitReader(r, ahead))
	rest := "; give a part of it for an earlier time"
	if b.Sift != nil {
		rest = "; of what comes before, the lines that point at a stall"
	}
	switch {
	case read >= ahead:
		b.note(name, "more than %d MiB: only the last %d of those are read%s", ahead>>20, room>>20, rest)
	case read > room:
		b.note(name, "more than %d MiB: only the last %d MiB are read whole%s", room>>20, room>>20, rest)
	}
	if t.lost {
		b.note(name, "the earliest of those lines are left out: there are too many")
	}
	if err != nil {
		b.note(name, "damaged or cut off after %d bytes: %v", read, unwrapped(err))
	}
	b.total += int64(len(data))
	return data, len(data) > 0
}

// tail reads all and keeps the last room bytes, from the beginning of a line. Of
// what comes before it keeps what sift picks, at most a quarter of room more.
type tail struct {
	room   int64
	sift   func(lines []byte) []byte // nil: nothing
	ring   []byte                    // the last bytes; the oldest at at
	at     int
	cut    []byte // the beginning of the line that the oldest byte is in
	picked []byte
	lost   bool // of picked
}

// tailBlock is how much is passed over at once.
const tailBlock = 1 << 20

// read gives what is kept and how much there was.
func (t *tail) read(r io.Reader) (data []byte, read int64, err error) {
	t.ring, err = io.ReadAll(io.LimitReader(r, t.room))
	read = int64(len(t.ring))
	if err != nil || read < t.room || t.room == 0 {
		return t.ring, read, err
	}
	block := make([]byte, min(tailBlock, len(t.ring)))
	over := int64(0)
	for err == nil {
		var n int
		n, err = io.ReadFull(r, block[:min(len(block), len(t.ring)-t.at)])
		over += int64(n)
		t.pass(block[:n])
	}
	if err == io.EOF || err == io.ErrUnexpectedEOF {
		err = nil
	}
	if over == 0 {
		return t.ring, read, err
	}
	turn(t.ring, t.at)
	if t.sift == nil {
		return wholeLines(t.ring), read + over, err
	}
	return slices.Concat(t.picked, t.cut, t.ring), read + over, err
}

// pass puts bytes in the place of the oldest ones.
func (t *tail) pass(b []byte) {
	old := t.ring[t.at : t.at+len(b)]
	if t.sift != nil {
		t.cut = append(t.cut, old...)
		if n := bytes.LastIndexByte(t.cut, '\n') + 1; n > 0 {
			t.pick(t.sift(t.cut[:n]))
			t.cut = append(t.cut[:0], t.cut[n:]...)
		}
		t.cut = t.cut[:min(len(t.cut), maxFirst)]
	}
	copy(old, b)
	if t.at += len(b); t.at == len(t.ring) {
		t.at = 0
	}
}

// pick keeps lines, the latest where there are too many.
func (t *tail) pick(lines []byte) {
	if t.picked = append(t.picked, lines...); int64(len(t.picked)) > t.room/4 {
		half := t.picked[len(t.picked)/2:]
		t.picked, t.lost = append(t.picked[:0], half[bytes.IndexByte(half, '\n')+1:]...), true
	}
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
	if b.Sift != nil {
		room = passOver*b.limits.Total - 1
	}
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
