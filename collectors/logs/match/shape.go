package match

import (
	"bytes"

	"stallmark/collectors/logs/stamp"
)

// maxShape bounds a shape, in bytes.
const maxShape = 240

// Shape is a line without what differs from one occurrence to the next: the time
// stamp is left out, numbers and identifiers become #, quoted texts '#'. Lines of
// one statement have one shape, mostly.
func Shape(line []byte) string {
	if s, ok := stamp.Find(line); ok && !s.JSON {
		line = line[s.End:]
	}
	line = bytes.TrimLeft(line, " ]\t|-")
	out := make([]byte, 0, maxShape)
	for i := 0; i < len(line) && len(out) < maxShape; {
		switch c := line[i]; {
		case c == '\'' || c == '"':
			if end := quoted(line, i); end > 0 {
				out = append(out, c, '#', c)
				i = end
				continue
			}
			out = append(out, c)
			i++
		case isWord(c):
			n := wordEnd(line, i)
			out = appendWord(out, line[i:n])
			i = n
		case c == ' ' || c == '\t' || c == '\r':
			if len(out) > 0 && out[len(out)-1] != ' ' {
				out = append(out, ' ')
			}
			i++
		default:
			out = append(out, c)
			i++
		}
	}
	return string(bytes.TrimRight(out, " "))
}

func isWord(c byte) bool { return isLetter(c) || c >= '0' && c <= '9' || c == '_' || c >= 0x80 }

func wordEnd(line []byte, i int) int {
	for i < len(line) && isWord(line[i]) {
		i++
	}
	return i
}

// quoted is the end of a quoted text that begins at i, 0 if it is none: an
// apostrophe inside a word, or too long.
func quoted(line []byte, i int) int {
	if i > 0 && isWord(line[i-1]) {
		return 0
	}
	n := bytes.IndexByte(line[i+1:min(len(line), i+maxShape)], line[i])
	if n < 0 {
		return 0
	}
	return i + n + 2
}

// appendWord appends a word with its numbers as #: digits at its end, or all of it
// if it is an identifier, such as a hexadecimal number. Several in a row, with a
// comma, a dot or the like between them, are one.
func appendWord(out, word []byte) []byte {
	first := bytes.IndexAny(word, "0123456789")
	if first < 0 {
		return append(out, word...)
	}
	if identifier(word, first) {
		first = 0
	}
	out = append(out, word[:first]...)
	if n := len(out); first == 0 && n >= 2 && out[n-2] == '#' && bytes.IndexByte([]byte(",.:-/"), out[n-1]) >= 0 {
		return out[:n-1]
	}
	return append(out, '#')
}

// identifier reports whether a word with a digit at first is one: letters behind
// digits, or nothing but hexadecimal digits.
func identifier(word []byte, first int) bool {
	hex := len(word) >= 4
	for i, c := range word {
		number := c >= '0' && c <= '9'
		hex = hex && (number || c|0x20 >= 'a' && c|0x20 <= 'f')
		if i > first && !number {
			return true
		}
	}
	return hex
}
