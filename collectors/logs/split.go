package logs

import "bytes"

// splitter cuts what was read into lines.
type splitter struct {
	skipping bool // inside a line that was longer than MaxLine
}

// feed hands the whole lines in data to emit, with the place of each in data,
// and returns how many bytes it is done with. The rest is to be given again,
// with more behind it; where there is no more (final), it is a line too.
func (s *splitter) feed(data []byte, final bool, emit func(line []byte, at int, cut bool)) int {
	pos := 0
	if s.skipping {
		end := bytes.IndexByte(data, '\n')
		if end < 0 {
			return len(data)
		}
		s.skipping = false
		pos = end + 1
	}
	for pos < len(data) {
		rest := data[pos:]
		n := bytes.IndexByte(rest, '\n')
		switch {
		case n > MaxLine:
			emit(rest[:MaxLine], pos, true)
		case n >= 0:
			emit(rest[:n], pos, false)
		case len(rest) > MaxLine:
			emit(rest[:MaxLine], pos, true)
			s.skipping = true
			return len(data)
		case final:
			emit(rest, pos, false)
			return len(data)
		default:
			return pos
		}
		pos += n + 1
	}
	return pos
}

// cleaner takes out of a line what is not text: the carriage return at its end,
// NULs as a truncated file without append mode has them, and the terminal's
// colour codes. What it returns is valid until the next call.
type cleaner struct{ buf []byte }

const escape = 0x1b

func (c *cleaner) clean(line []byte) []byte {
	line = bytes.TrimSuffix(line, []byte{'\r'})
	if bytes.IndexByte(line, 0) < 0 && bytes.IndexByte(line, escape) < 0 {
		return line
	}
	out := c.buf[:0]
	for i := 0; i < len(line); i++ {
		switch line[i] {
		case 0:
		case escape:
			i += escapeLen(line[i+1:])
		default:
			out = append(out, line[i])
		}
	}
	c.buf = out
	return out
}

// escapeLen is how many bytes after an escape belong to it: of a control
// sequence (ECMA-48, 5.4) the bracket, its parameters and the final byte; of an
// unfinished or any other one none.
func escapeLen(after []byte) int {
	if len(after) == 0 || after[0] != '[' {
		return 0
	}
	for i := 1; i < len(after) && i < 32; i++ {
		switch b := after[i]; {
		case b >= 0x40 && b <= 0x7e:
			return i + 1
		case b < 0x20 || b > 0x3f:
			return 0
		}
	}
	return 0
}
