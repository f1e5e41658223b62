package host

import (
	"bytes"
	"fmt"
	"math"
	"strings"
	"unicode"

	"stallmark/collectors"
)

// file is one of the kernel's files, read again and again into one buffer.
type file struct {
	name string
	buf  []byte
}

// read reads the whole file. The bytes are good until the next read.
func (f *file) read(root collectors.Root) ([]byte, error) {
	data, err := root.Read(f.name, f.buf)
	if err != nil {
		return nil, collectors.GapOf(f.name, err, mendFor(f.name))
	}
	f.buf = data
	return data, nil
}

// mendFor says what usually helps when a file cannot be read.
func mendFor(name string) string {
	tree, _, _ := strings.Cut(name, "/")
	return fmt.Sprintf("mount the host's /%s readable and name it with --%sfs", tree, tree)
}

// lines walks over the lines of a file. The kernel ends every line, so a last
// line without an end has been cut and might hold half a number: it is a fault
// and is not given.
type lines struct {
	rest   []byte
	number int // of the line given last, from 1
	faults faults
}

// readLines begins at the first line.
func readLines(name string, data []byte) lines {
	return lines{rest: data, faults: faults{file: name}}
}

// next gives the next line without its end.
func (l *lines) next() ([]byte, bool) {
	if len(l.rest) == 0 {
		return nil, false
	}
	l.number++
	end := bytes.IndexByte(l.rest, '\n')
	if end < 0 {
		l.rest = nil
		l.fault("an end of line: the file has been cut short")
		return nil, false
	}
	line := l.rest[:end]
	l.rest = l.rest[end+1:]
	return line, true
}

// fault notes that the line given last is not what was expected.
func (l *lines) fault(want string) { l.faults.add(l.number, want) }

// err is what the whole reading comes to: nil, partial if something was used,
// else failed.
func (l *lines) err(used bool) error {
	if used {
		return l.faults.partial()
	}
	if l.faults.count > 0 {
		return fmt.Errorf("%s", l.faults.text())
	}
	return fmt.Errorf("%s: nothing known in it", l.faults.file)
}

// faults collects what was wrong with the lines of one file. The first one is
// named, the others are counted.
type faults struct {
	file  string
	line  int
	want  string
	count int
}

func (f *faults) add(line int, want string) {
	if f.count == 0 {
		f.line, f.want = line, want
	}
	f.count++
}

// text names file, line and what was expected.
func (f *faults) text() string {
	more := ""
	if f.count > 1 {
		more = fmt.Sprintf(" (and %d more lines)", f.count-1)
	}
	return fmt.Sprintf("%s line %d: want %s%s", f.file, f.line, f.want, more)
}

// partial is nil if nothing was wrong.
func (f *faults) partial() error {
	if f.count == 0 {
		return nil
	}
	return collectors.Partial(f.text(), "report this line with the kernel's version: the file has a form unknown here")
}

// cutField gives the first field of a line, without spaces and tabs, and what
// follows it. The field is empty at the end of the line.
func cutField(b []byte) (field, rest []byte) {
	i := 0
	for i < len(b) && (b[i] == ' ' || b[i] == '\t') {
		i++
	}
	start := i
	for i < len(b) && b[i] != ' ' && b[i] != '\t' {
		i++
	}
	return b[start:i], b[i:]
}

// cutUint gives the unsigned number that is the first field.
func cutUint(b []byte) (v uint64, rest []byte, ok bool) {
	field, rest := cutField(b)
	v, ok = parseUint(field)
	return v, rest, ok
}

// safeDigits is how many decimal digits always fit into 64 bits.
const safeDigits = 19

// parseUint reads a decimal number that fills b.
func parseUint(b []byte) (uint64, bool) {
	if len(b) == 0 || len(b) > safeDigits+1 {
		return 0, false
	}
	var v uint64
	for i, c := range b {
		d := uint64(c - '0')
		if d > 9 || i >= safeDigits && v > (math.MaxUint64-d)/10 {
			return 0, false
		}
		v = v*10 + d
	}
	return v, true
}

// parseInt is parseUint with a sign: old kernels let some gauges go below zero.
func parseInt(b []byte) (float64, bool) {
	if len(b) > 0 && b[0] == '-' {
		v, ok := parseUint(b[1:])
		return -float64(v), ok
	}
	v, ok := parseUint(b)
	return float64(v), ok
}

// isName reports whether b can be part of a metric name.
func isName(b []byte) bool {
	for _, c := range b {
		letter := 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || '0' <= c && c <= '9' || c == '_'
		if !letter {
			return false
		}
	}
	return len(b) > 0
}

// maxText bounds a text that comes from a device or a mount.
const maxText = 256

// cleanText makes a text of unknown origin fit for a label or a fact: valid
// UTF-8 without control characters, trimmed and bounded. White space becomes a
// space.
func cleanText(b []byte) string {
	s := strings.ToValidUTF8(string(b[:min(len(b), 4*maxText)]), "\uFFFD")
	s = strings.Map(func(r rune) rune {
		switch {
		case unicode.IsSpace(r):
			return ' '
		case unicode.IsControl(r):
			return '\uFFFD'
		}
		return r
	}, strings.TrimSpace(s))
	if runes := []rune(s); len(runes) > maxText {
		s = string(runes[:maxText])
	}
	return s
}
