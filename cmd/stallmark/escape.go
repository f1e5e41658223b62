package main

import (
	"fmt"
	"strings"
	"unicode"
)

// oneLine makes hostile text fit for one line of a terminal: control, format
// and other invisible characters, with which a process or device name could
// move the cursor or reverse the text, are shown as escapes.
func oneLine(s string) string { return escape(s, false) }

// cleanLines is oneLine for text of several lines.
func cleanLines(s string) string { return escape(s, true) }

func escape(s string, lines bool) string {
	var b strings.Builder
	for i, r := range s {
		switch {
		case r == '\n' && lines:
			b.WriteByte('\n')
		case r == '\t':
			b.WriteByte(' ')
		case r == unicode.ReplacementChar && !strings.HasPrefix(s[i:], "\uFFFD"):
			fmt.Fprintf(&b, `\x%02x`, s[i])
		case unicode.IsGraphic(r):
			b.WriteRune(r)
		default:
			fmt.Fprintf(&b, `\u%04x`, r)
		}
	}
	return b.String()
}
