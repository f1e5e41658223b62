package pasted

import "strings"

// levels are words by which a line that begins with a time is one of a program's
// log and no row of a table.
var levels = []string{" INFO", " WARN", " ERROR", " DEBUG", " TRACE", " FATAL", "[info", "[warn", "[error", "[debug", "[trace", "[gc", "[GC", "[Full GC", "Total time for which"}

// levelWithin is how far from the beginning of a line its level stands at most,
// in bytes.
const levelWithin = 160

// loggedLine reports whether a line is one of a broker's or a JVM's log: none of
// the formats need be asked, of which each has patterns of its own. Kernel
// messages, which have a time too, are not among them.
func loggedLine(text string) bool {
	if !stamped(strings.TrimPrefix(text, "[")) {
		return false
	}
	head := text[:min(len(text), levelWithin)]
	for _, l := range levels {
		if strings.Contains(head, l) {
			return !strings.Contains(text, "blocked for more than") && !strings.Contains(head, " kernel:")
		}
	}
	return false
}

// stamped reports whether a text begins with a day and a time: "2026-03-01 03:12:41".
func stamped(s string) bool {
	const shape = "0000-00-00 00:00:00"
	if len(s) < len(shape) {
		return false
	}
	for i := range len(shape) {
		c := s[i]
		switch shape[i] {
		case '0':
			if c < '0' || c > '9' {
				return false
			}
		case ' ':
			if c != ' ' && c != 'T' {
				return false
			}
		default:
			if c != shape[i] {
				return false
			}
		}
	}
	return true
}
