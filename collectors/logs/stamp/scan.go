package stamp

import "time"

func digit(c byte) bool  { return c >= '0' && c <= '9' }
func letter(c byte) bool { return c|0x20 >= 'a' && c|0x20 <= 'z' }
func word(c byte) bool   { return digit(c) || letter(c) || c == '_' || c == '-' }

// cursor reads a stamp byte by byte. After a mistake it is bad and gives zeros.
type cursor struct {
	text []byte
	i    int
	bad  bool
}

// number reads least to most digits.
func (c *cursor) number(least, most int) int {
	v, n := 0, 0
	for n < most && c.i < len(c.text) && digit(c.text[c.i]) {
		v = v*10 + int(c.text[c.i]-'0')
		c.i++
		n++
	}
	if n < least {
		c.bad = true
	}
	return v
}

// within is a number between bounds.
func (c *cursor) within(least, most, low, high int) int {
	v := c.number(least, most)
	if v < low || v > high {
		c.bad = true
	}
	return v
}

// peek is the next byte, 0 at the end.
func (c *cursor) peek() byte {
	if c.i < len(c.text) {
		return c.text[c.i]
	}
	return 0
}

// one takes one of the bytes.
func (c *cursor) one(of string) byte {
	b := c.peek()
	for k := range len(of) {
		if b == of[k] && c.i < len(c.text) {
			c.i++
			return b
		}
	}
	c.bad = true
	return 0
}

// maybe takes the byte if it is next.
func (c *cursor) maybe(b byte) bool {
	if c.i < len(c.text) && c.text[c.i] == b {
		c.i++
		return true
	}
	return false
}

func (c *cursor) blanks() {
	for c.maybe(' ') {
	}
}

// name takes one of the names, ignoring case, and gives its number; -1 if none is next.
func (c *cursor) name(names ...string) int {
	for k, n := range names {
		if c.i+len(n) <= len(c.text) && equalFold(c.text[c.i:c.i+len(n)], n) {
			c.i += len(n)
			return k
		}
	}
	return -1
}

func equalFold(b []byte, s string) bool {
	for i := range len(s) {
		if b[i]|0x20 != s[i]|0x20 {
			return false
		}
	}
	return true
}

// month takes the English name of a month, short or long.
func (c *cursor) month() time.Month {
	m := c.name("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
	if m < 0 {
		c.bad = true
		return time.January
	}
	c.name("uary", "ruary", "ch", "il", "e", "y", "ust", "tember", "ober", "ember")
	return time.Month(m + 1)
}

// clock reads H:MM:SS with its fraction into the stamp.
func (c *cursor) clock(s *Stamp, hours int) time.Duration {
	h := c.within(hours, 2, 0, 24)
	c.one(":")
	m := c.within(2, 2, 0, 59)
	c.one(":")
	sec := c.within(2, 2, 0, 60)
	return time.Duration(h)*time.Hour + time.Duration(m)*time.Minute + time.Duration(sec)*time.Second + c.fraction(s, ",.")
}

// fraction reads a fraction of a second behind one of the marks, if there is one.
func (c *cursor) fraction(s *Stamp, marks string) time.Duration {
	s.Step = time.Second
	if c.i+1 >= len(c.text) || !digit(c.text[c.i+1]) {
		return 0
	}
	for k := range len(marks) {
		if c.peek() != marks[k] {
			continue
		}
		s.Mark = marks[k]
		c.i++
		var v time.Duration
		for n := 0; c.i < len(c.text) && digit(c.text[c.i]); n++ {
			if n < 9 {
				v = v*10 + time.Duration(c.text[c.i]-'0')
				s.Step /= 10
			}
			c.i++
		}
		return v * max(s.Step, 1)
	}
	return 0
}

// zone reads an offset, with or without a blank before it.
func (c *cursor) zone(s *Stamp) {
	back := c.i
	if c.peek() == ' ' {
		c.i++
	}
	switch b := c.peek(); {
	case b == 'Z' && !c.wordAfter(1):
		c.i++
		s.Zoned = true
		return
	case (b == 'U' || b == 'G') && c.name("UTC", "GMT") >= 0 && !c.wordAfter(0):
		s.Zoned = true
		return
	case b == '+' || b == '-':
		if c.i++; c.offset(s, b == '-') {
			return
		}
	}
	c.i = back
}

func (c *cursor) wordAfter(n int) bool { return c.i+n < len(c.text) && word(c.text[c.i+n]) }

// offset reads hhmm, hh:mm or hh.
func (c *cursor) offset(s *Stamp, west bool) bool {
	o := cursor{text: c.text, i: c.i}
	h := o.within(2, 2, 0, 15)
	m := 0
	if o.maybe(':') || digit(o.peek()) {
		m = o.within(2, 2, 0, 59)
	}
	if o.bad || digit(o.peek()) {
		return false
	}
	s.Zoned, s.Offset = true, time.Duration(h)*time.Hour+time.Duration(m)*time.Minute
	if west {
		s.Offset = -s.Offset
	}
	c.i = o.i
	return true
}

// skipEscapes is the first position at or after i that is no ANSI escape sequence
// and no byte order mark.
func skipEscapes(line []byte, i int) int {
	for i < len(line) {
		switch {
		case line[i] == 0x1b && i+1 < len(line) && line[i+1] == '[':
			i += 2
			for i < len(line) && !letter(line[i]) {
				i++
			}
			i = min(i+1, len(line))
		case line[i] == 0:
			i++
		case i+2 < len(line) && line[i] == 0xef && line[i+1] == 0xbb && line[i+2] == 0xbf:
			i += 3
		default:
			return i
		}
	}
	return i
}
