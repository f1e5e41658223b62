package logs

import (
	"bytes"
	"hash/fnv"
	"io"
)

// mark says how far a file was read, and by what its content can be known again
// under another name or inode: the first bytes and those before the offset.
type mark struct {
	Offset  int64  `json:"offset"`
	HeadLen int    `json:"head_len"`
	Head    uint64 `json:"head"`
	TailLen int    `json:"tail_len"`
	Tail    uint64 `json:"tail"`
}

// The longest parts of a file that a mark tells by.
const (
	maxHead = 256
	maxTail = 128
)

// sum is FNV-1a: it tells files apart, it protects nothing.
func sum(b []byte) uint64 {
	h := fnv.New64a()
	h.Write(b) //nolint:errcheck // never fails
	return h.Sum64()
}

// sane reports whether a mark can be one of ours.
func (m mark) sane() bool {
	return m.Offset >= 0 && m.HeadLen >= 0 && m.HeadLen <= maxHead && m.TailLen >= 0 && m.TailLen <= maxTail &&
		int64(m.HeadLen) <= m.Offset && int64(m.TailLen) <= m.Offset && (m.Offset == 0 || m.HeadLen > 0 && m.TailLen > 0)
}

// matches reports whether an open file holds what the mark was made of.
func (m mark) matches(f fileOf) bool {
	var buf [maxHead]byte
	if n, err := f.readAt(buf[:m.HeadLen], 0); err != nil || n < m.HeadLen || sum(buf[:n]) != m.Head {
		return false
	}
	n, err := f.readAt(buf[:m.TailLen], m.Offset-int64(m.TailLen))
	return err == nil && n == m.TailLen && sum(buf[:n]) == m.Tail
}

// skip reads a stream up to the offset and reports whether it holds what the
// mark was made of.
func (m mark) skip(r io.Reader) bool {
	head := make([]byte, m.HeadLen)
	if _, err := io.ReadFull(r, head); err != nil || sum(head) != m.Head {
		return false
	}
	between := m.Offset - int64(m.TailLen) - int64(m.HeadLen)
	tail := head
	if between > 0 {
		if _, err := io.CopyN(io.Discard, r, between); err != nil {
			return false
		}
		tail = nil
	} else {
		tail = tail[max(int64(len(tail))+between, 0):]
	}
	rest := make([]byte, m.TailLen-len(tail))
	if _, err := io.ReadFull(r, rest); err != nil {
		return false
	}
	return sum(append(bytes.Clone(tail), rest...)) == m.Tail
}

// trace keeps the bytes that marks are made of while a file is read.
type trace struct {
	offset int64
	head   []byte
	tail   []byte
}

// add goes on over data.
func (t *trace) add(data []byte) {
	if missing := maxHead - len(t.head); missing > 0 && int64(len(t.head)) == t.offset {
		t.head = append(t.head, data[:min(missing, len(data))]...)
	}
	t.offset += int64(len(data))
	if len(data) >= maxTail {
		t.tail = append(t.tail[:0], data[len(data)-maxTail:]...)
		return
	}
	keep := min(maxTail-len(data), len(t.tail))
	copy(t.tail, t.tail[len(t.tail)-keep:])
	t.tail = append(t.tail[:keep], data...)
}

// leap goes on over n NULs, a block of the file system at least.
func (t *trace) leap(n int) {
	nuls := make([]byte, maxHead)
	t.add(nuls)
	t.offset += int64(n - len(nuls))
}

func (t *trace) mark() mark {
	return mark{t.offset, len(t.head), sum(t.head), len(t.tail), sum(t.tail)}
}

// at loads a trace from a file that is begun at an offset.
func (t *trace) at(f fileOf, offset int64) error {
	head, tail := make([]byte, min(maxHead, offset)), make([]byte, min(maxTail, offset))
	n, err := f.readAt(head, 0)
	if err == nil && n < len(head) {
		err = io.ErrUnexpectedEOF
	}
	if err != nil {
		return err
	}
	n, err = f.readAt(tail, offset-int64(len(tail)))
	if err == nil && n < len(tail) {
		err = io.ErrUnexpectedEOF
	}
	if err != nil {
		return err
	}
	t.offset, t.head, t.tail = offset, head, tail
	return nil
}
