package format

import (
	"fmt"
	"strings"
	"unicode"
)

// maxText bounds a piece of foreign text on the page.
const maxText = 600

// Clean makes foreign text (a device, a thread, a log line) safe to look at:
// control and invisible formatting characters, which could hide or reorder what
// stands beside them, become visible escapes, and very long text is cut.
// Escaping for HTML is the template's work.
func Clean(s string) string {
	s = strings.ToValidUTF8(s, "\uFFFD")
	var b strings.Builder
	n := 0
	for _, r := range s {
		if n++; n > maxText {
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
