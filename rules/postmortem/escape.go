package postmortem

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

// maxText bounds one piece of text, in characters.
const maxText = 600

// plain is a text without anything that is not visible: line breaks and tabs
// become spaces, control and direction characters are written out.
func plain(s string) string {
	var b strings.Builder
	n := 0
	for _, r := range s {
		if n++; n > maxText {
			b.WriteString(" ...")
			break
		}
		switch {
		case r == '\n' || r == '\r' || r == '\t':
			b.WriteByte(' ')
		case r == utf8.RuneError:
			b.WriteByte('?')
		case unicode.IsGraphic(r):
			b.WriteRune(r)
		default:
			fmt.Fprintf(&b, "(U+%04X)", r)
		}
	}
	return strings.TrimSpace(b.String())
}

// text is hostile text inside a line of Markdown: nothing in it is markup, HTML
// or a link.
func text(s string) string {
	var b strings.Builder
	s = plain(s)
	for i, r := range s {
		link := r == ':' && strings.HasPrefix(s[i:], "://") || r == '.' && i >= 3 && strings.EqualFold(s[i-3:i], "www") || r == '@'
		if strings.ContainsRune("\\`*_{}[]<>#|~&!$", r) || link {
			b.WriteByte('\\')
		}
		b.WriteRune(r)
	}
	return b.String()
}

// paragraph is text that begins a line: what would make a list, a heading or a
// rule of it is escaped too.
func paragraph(s string) string {
	s = text(s)
	if s == "" {
		return s
	}
	digits := strings.TrimLeft(s, "0123456789")
	switch {
	case strings.ContainsRune("-+=", rune(s[0])):
		return `\` + s
	case len(digits) < len(s) && (strings.HasPrefix(digits, ".") || strings.HasPrefix(digits, ")")):
		return s[:len(s)-len(digits)] + `\` + digits
	}
	return s
}

// code is a block of commands, fenced by more backticks than are in it.
func code(s string) string {
	var b strings.Builder
	run, longest := 0, 2
	for _, r := range s {
		if run++; r != '`' {
			run = 0
		}
		longest = max(longest, run)
		if r == '\n' || unicode.IsGraphic(r) {
			b.WriteRune(r)
		} else if r == '\t' {
			b.WriteByte(' ')
		} else {
			fmt.Fprintf(&b, "(U+%04X)", r)
		}
	}
	fence := strings.Repeat("`", longest+1)
	return fence + "sh\n" + strings.TrimRight(b.String(), "\n ") + "\n" + fence + "\n"
}
