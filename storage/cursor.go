package storage

import "encoding/binary"

// cursor reads what another process or a file has written. After a failure
// everything reads as zero and bad is set, so that one check at the end is
// enough.
type cursor struct {
	b   []byte
	bad bool
}

func (c *cursor) fail() { c.b, c.bad = nil, true }

func (c *cursor) uvarint() uint64 {
	v, n := binary.Uvarint(c.b)
	if n <= 0 {
		c.fail()
		return 0
	}
	c.b = c.b[n:]
	return v
}

func (c *cursor) varint() int64 {
	v, n := binary.Varint(c.b)
	if n <= 0 {
		c.fail()
		return 0
	}
	c.b = c.b[n:]
	return v
}

// count reads a number that must be at most limit.
func (c *cursor) count(limit int) int {
	v := c.uvarint()
	if limit < 0 || v > uint64(limit) {
		c.fail()
		return 0
	}
	return int(v)
}

// take takes n bytes.
func (c *cursor) take(n int) []byte {
	if n > len(c.b) {
		c.fail()
		return nil
	}
	b := c.b[:n]
	c.b = c.b[n:]
	return b
}

// text takes a text preceded by its length.
func (c *cursor) text() []byte { return c.take(c.count(len(c.b))) }

func (c *cursor) byte() byte {
	if b := c.take(1); b != nil {
		return b[0]
	}
	return 0
}

func (c *cursor) uint16() uint16 {
	if b := c.take(2); b != nil {
		return binary.LittleEndian.Uint16(b)
	}
	return 0
}

func (c *cursor) uint64() uint64 {
	if b := c.take(8); b != nil {
		return binary.LittleEndian.Uint64(b)
	}
	return 0
}
