package format

import (
	"fmt"
	"strings"
	"unicode"
)

// maxText bounds a piece of foreign text on the page.
const maxText = 600

// Code is Clean for what is to be typed or read whole, a command or an
// expression: it is never cut.
func Code(s string) string { return clean(s, len(s)) }

// Clean makes foreign text (a device, a thread, a log line) safe to look at:
// control and invisible formatting characters, which could hide or reorder what
// stands beside them, become visible escapes, and very long text is cut.
// Escaping for HTML is the template's work.
func Clean(s string) string { return clean(s, maxText) }

func clean(s string, limit int) string {
	s = strings.ToValidUTF8(s, "\uFFFD")
	var b strings.Builder
	n := 0
	for _, r := range s {
		if n++; n > limit {
			b.WriteString("…")
			break
		}
		switch {
		case r == '\n':
			b.WriteRune(r)
		case r == '\t':
			b.WriteRune(' ')
		case unicode.Is(unicode.Cc, r), unicode.Is(unicode.Cf, r), unicode.Is(unicode.Co, r), r == '\u2028', r == '\u2029':
			fmt.Fprintf(&b, "\\u%04x", r)
		default:
			b.WriteRune(r)
		}
	}
	return b.String()
}
