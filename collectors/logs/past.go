package logs

import (
	"bytes"
	"io"
	"slices"
)

// answer is what can be said of a file that has come into a folder.
type answer int

const (
	unsure answer = iota // it cannot be read (yet)
	no
	yes
)

// maxHeads is of how many files of a stream it is known how they begin.
const maxHeads = 64

// keepHead notes how a file begins that was read, so that a copy of it is known.
func (s *stream) keepHead(head []byte) {
	if len(head) == 0 || slices.ContainsFunc(s.heads, func(h []byte) bool { return bytes.Equal(h, head) }) {
		return
	}
	if len(s.heads) >= maxHeads {
		s.heads = s.heads[1:]
	}
	s.heads = append(s.heads, bytes.Clone(head))
}

// unread tells whether a file holds something that has not been read: it was
// written since the stream is followed, and is no copy of what was.
func (s *stream) unread(d *folder, m member) answer {
	if m.mtime < s.since {
		return no
	}
	head, err := d.head(m)
	if err != nil || len(head) == 0 {
		return unsure
	}
	if slices.ContainsFunc(s.heads, func(h []byte) bool { return bytes.Equal(h, head) }) {
		return no
	}
	for _, p := range s.parts {
		if bytes.HasPrefix(p.head(), head) {
			if p == s.current() {
				return unsure // it may come to be all that is left of it
			}
			return no
		}
	}
	return yes
}

// head is how the file begins now, or did when it was read.
func (p *part) head() []byte {
	buf := make([]byte, maxHead)
	n, err := p.file.readAt(buf, 0)
	if err != nil || n == 0 {
		return p.trace.head
	}
	return buf[:n]
}

// pastFile reads a file of the past that has not been read, or notes that it
// has; what cannot be told is left for another time.
func (s *stream) pastFile(d *folder, m member) {
	switch s.unread(d, m) {
	case unsure:
		return
	case yes:
		if head, err := d.head(m); err == nil {
			s.keepHead(head)
		}
		d.readCopy(s, m, mark{}, false)
	}
	s.forget(m.info)
}

// head reads how a file begins, unpacked.
func (d *folder) head(m member) ([]byte, error) {
	f, err := d.openMember(m)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return headOf(f, m)
}

func headOf(f fileOf, m member) ([]byte, error) {
	buf := make([]byte, maxHead)
	if !m.packed {
		n, err := f.readAt(buf, 0)
		return buf[:n], err
	}
	z, err := unpack(f, m.name)
	if err != nil {
		return nil, err
	}
	defer z.Close()
	n, err := io.ReadFull(z, buf)
	if n > 0 {
		err = nil
	}
	return buf[:n], err
}

// copyOf reports whether a file begins as what was read of a part.
func (d *folder) copyOf(m member, p *part) bool {
	head, err := d.head(m)
	return err == nil && p.trace.offset > 0 && bytes.HasPrefix(head, p.trace.head)
}
