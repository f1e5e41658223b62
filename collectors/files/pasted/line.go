package pasted

import (
	"regexp"
	"strings"
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

var colours = regexp.MustCompile("\x1b(?:\\[[0-9;?]*[ -/]*[@-~]|[()][0-9A-B]|[=>])")

// lines takes a text apart, without what pasting has put before its lines.
func lines(data []byte) []line {
	rows := strings.Split(decode(data), "\n")
	if len(rows) > 0 && rows[len(rows)-1] == "" {
		rows = rows[:len(rows)-1]
	}
	list := make([]line, len(rows))
	for i, r := range rows {
		list[i] = line{i + 1, clean(r)}
	}
	unquote(list)
	unnumber(list)
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
	if strings.ContainsAny(s, "&<") {
		s = unescape(s)
	}
	if strings.ContainsAny(s, "\x00\u00a0\u3000\ufeff") {
		s = strings.NewReplacer("\x00", "", "\u00a0", " ", "\u3000", " ", "\ufeff", "").Replace(s)
	}
	return strings.ToValidUTF8(s, "\ufffd")
}
