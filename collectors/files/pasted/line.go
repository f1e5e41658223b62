package pasted

import (
	"bytes"
	"regexp"
	"strings"
	"unicode/utf16"
)

// line is one line of a text, cleaned of what pasting adds.
type line struct {
	no   int    // counted from 1
	text string // without quote marks, colours and the end of line; blanks on the left are kept
}

// fields are the words of the line.
func (l line) fields() []string { return strings.Fields(l.text) }

// blank reports whether nothing is on it.
func (l line) blank() bool { return strings.TrimSpace(l.text) == "" }

var elision = regexp.MustCompile(`^\s*(?:\.{2,}|…|[\[(<]?(?:\.\.\.|snip|cut|skipped)[\])>]?)\s*$`)

// elided reports whether somebody says on this line that lines were cut out.
func elided(l line) bool { return elision.MatchString(l.text) }

// maxLine is how much of a line is looked at, in bytes. No tool prints more.
const maxLine = 64 << 10

var (
	colours = regexp.MustCompile("\x1b\\[[0-9;?]*[ -/]*[@-~]")
	quotes  = regexp.MustCompile(`^(?:>+ ?)+`)
)

// lines takes a text apart. Quote marks of mails are cut off only where most
// lines have them: a line of a shell may begin with one.
func lines(data []byte) []line {
	text := decode(data)
	rows := strings.Split(text, "\n")
	if len(rows) > 0 && rows[len(rows)-1] == "" {
		rows = rows[:len(rows)-1]
	}
	quoted := 0
	for _, r := range rows {
		if strings.HasPrefix(r, ">") {
			quoted++
		}
	}
	list := make([]line, len(rows))
	for i, r := range rows {
		if 2*quoted > len(rows) {
			r = quotes.ReplaceAllString(r, "")
		}
		list[i] = line{i + 1, clean(r)}
	}
	return list
}

// clean takes colours, carriage returns, NUL bytes and hard spaces out.
func clean(s string) string {
	if len(s) > maxLine {
		s = s[:maxLine]
	}
	s = strings.TrimRight(s, "\r")
	if i := strings.LastIndexByte(s, '\r'); i >= 0 { // a line that was drawn over
		s = s[i+1:]
	}
	if strings.ContainsRune(s, '\x1b') {
		s = colours.ReplaceAllString(s, "")
	}
	if strings.ContainsAny(s, "\x00\u00a0\u3000\ufeff") {
		s = strings.NewReplacer("\x00", "", "\u00a0", " ", "\u3000", " ", "\ufeff", "").Replace(s)
	}
	return strings.ToValidUTF8(s, "\ufffd")
}

// decode gives the text as UTF-8: Windows tools save pastes as UTF-16.
func decode(data []byte) string {
	var little bool
	switch {
	case bytes.HasPrefix(data, []byte{0xff, 0xfe}):
		little = true
	case bytes.HasPrefix(data, []byte{0xfe, 0xff}):
	default:
		return string(data)
	}
	data = data[2:]
	units := make([]uint16, 0, len(data)/2)
	for ; len(data) >= 2; data = data[2:] {
		u := uint16(data[0])<<8 | uint16(data[1])
		if little {
			u = uint16(data[1])<<8 | uint16(data[0])
		}
		units = append(units, u)
	}
	return string(utf16.Decode(units))
}
