package main

import (
	"bufio"
	"encoding/binary"
	"io"
	"unicode/utf16"
	"unicode/utf8"
)

// narrow reads UTF-16 as UTF-8 if it begins with a byte order mark, as what
// Windows tools have saved does, and all else as it is.
func narrow(b *bufio.Reader) io.Reader {
	mark, _ := b.Peek(2)
	if len(mark) < 2 {
		return b
	}
	var order binary.ByteOrder
	switch {
	case mark[0] == 0xff && mark[1] == 0xfe:
		order = binary.LittleEndian
	case mark[0] == 0xfe && mark[1] == 0xff:
		order = binary.BigEndian
	default:
		return b
	}
	_, _ = b.Discard(2) // they are there
	return &wide{b: b, order: order}
}

// wide decodes UTF-16. What is no text becomes U+FFFD; half a unit at the end is
// left out.
type wide struct {
	b     *bufio.Reader
	order binary.ByteOrder
	out   []byte // decoded and not yet read
	next  []byte
}

// Read implements io.Reader.
func (w *wide) Read(p []byte) (int, error) {
	for len(w.next) == 0 {
		w.out = w.out[:0]
		for len(w.out) < 4096 {
			r, err := w.one()
			if err != nil && len(w.out) == 0 {
				return 0, err
			}
			if err != nil {
				break
			}
			w.out = utf8.AppendRune(w.out, r)
		}
		w.next = w.out
	}
	n := copy(p, w.next)
	w.next = w.next[n:]
	return n, nil
}

// one decodes one character.
func (w *wide) one() (rune, error) {
	unit, err := w.unit()
	if err != nil || !utf16.IsSurrogate(rune(unit)) {
		return rune(unit), err
	}
	low, err := w.b.Peek(2)
	if err != nil {
		return utf8.RuneError, nil
	}
	r := utf16.DecodeRune(rune(unit), rune(w.order.Uint16(low)))
	if r != utf8.RuneError {
		_, _ = w.b.Discard(2) // they are there
	}
	return r, nil
}

func (w *wide) unit() (uint16, error) {
	var b [2]byte
	_, err := io.ReadFull(w.b, b[:])
	if err == io.ErrUnexpectedEOF {
		err = io.EOF
	}
	return w.order.Uint16(b[:]), err
}
