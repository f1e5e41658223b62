package stamp

import (
	"bytes"
	"time"
)

// Kind says what a stamp counts from.
type Kind int

// The kinds of stamps.
const (
	Wall    Kind = iota // a reading of a clock on the wall, with or without a zone
	Instant             // a point in time: counted from 1970 UTC
	Uptime              // time since the machine started
)

// Stamp is a time as a line has it.
type Stamp struct {
	Kind   Kind
	Time   time.Time     // Wall: the digits as if they were UTC; Instant: the time
	Up     time.Duration // Uptime
	Step   time.Duration // the last digit's worth: the true time is at most this much later
	Zoned  bool          // Wall: the line says the offset
	Offset time.Duration // east of UTC, if it does
	NoYear bool          // Time is in year 0
	NoDate bool          // Time is on 0000-01-01
	Mark   byte          // before the fraction of a second: ',' or '.', 0 without fraction
	JSON   bool          // a value of a JSON layout
	Seen   time.Time     // when a container's runtime or a collector got the line, if it says so before the stamp
	Start  int           // of its text in the line
	End    int
}

const (
	maxPrefix = 120 // a stamp that begins later is not the line's own
	maxWalk   = 1 << 16
)

// Find gives the line's own time stamp. A date in the middle of a message is
// not taken for one, nor one in a line that is indented.
func Find(line []byte) (Stamp, bool) {
	start := skipEscapes(line, 0)
	if inner, ok := dockerLog(line, start); ok {
		return inner, true
	}
	if start < len(line) && line[start] == '{' {
		return findJSON(line)
	}
	if outer, ok := findPlain(line, start); ok {
		return inside(line, outer), true
	}
	if s, ok := findJSONAfter(line, start); ok {
		return s, true
	}
	return afterBars(line, start)
}

// afterBars looks behind what a wrapper puts before the line: "INFO | jvm 1 | ...".
func afterBars(line []byte, at int) (Stamp, bool) {
	for range 3 {
		bar := bytes.IndexByte(line[at:min(len(line), at+maxPrefix)], '|')
		if bar < 0 {
			break
		}
		at = skipEscapes(line, at+bar+1)
		for at < len(line) && line[at] == ' ' {
			at = skipEscapes(line, at+1)
		}
		if s, ok := findPlain(line, at); ok {
			return inside(line, s), true
		}
	}
	return Stamp{}, false
}

// inside looks behind a stamp that says its zone for the program's own: kubectl,
// CRI and syslog put theirs before the line.
func inside(line []byte, outer Stamp) Stamp {
	at := outer.at()
	if at.IsZero() {
		return outer
	}
	rest := afterPrefix(line, outer.End)
	if rest < 0 {
		return outer
	}
	inner, ok := findPlain(line, rest)
	if !ok {
		inner, ok = findJSONAfter(line, rest)
	}
	if !ok || inner.Kind == Uptime {
		return outer
	}
	inner.Seen = at
	return inner
}

// at is the instant of a stamp that needs nothing else to be known.
func (s Stamp) at() time.Time {
	switch {
	case s.Kind == Instant:
		return s.Time
	case s.Kind == Wall && s.Zoned && !s.NoYear && !s.NoDate:
		return s.Time.Add(-s.Offset)
	}
	return time.Time{}
}

// afterPrefix is where the line proper begins behind a container's stamp, -1 if
// that stamp is no container's: "stdout F ", "stderr P ", or the next stamp itself.
func afterPrefix(line []byte, at int) int {
	rest := line[at:]
	trimmed := bytes.TrimLeft(rest, " \t")
	skipped := len(rest) - len(trimmed)
	if skipped == 0 {
		return -1
	}
	for _, tag := range []string{"stdout F ", "stderr F ", "stdout P ", "stderr P "} {
		if bytes.HasPrefix(trimmed, []byte(tag)) {
			return skipEscapes(line, at+skipped+len(tag))
		}
	}
	at = skipEscapes(line, at+skipped)
	next := at
	if next < len(line) && line[next] == '[' {
		next++
	}
	if next < len(line) && (digit(line[next]) || line[at] == '{') {
		return at
	}
	return -1
}

// findPlain tries every place at which a stamp may begin.
func findPlain(line []byte, from int) (Stamp, bool) {
	indented := from < len(line) && (line[from] == ' ' || line[from] == '\t')
	tokens, token := 0, from
	for i := from; i < len(line) && i < from+maxPrefix; i++ {
		c := line[i]
		switch {
		case c == 0x1b && skipEscapes(line, i) > i:
			after := skipEscapes(line, i)
			if token == i {
				token = after
			}
			i = after - 1
			continue
		case c == ' ' || c == '\t':
			if tokens = count(tokens, line[token:i]); tokens > maxTokens {
				return Stamp{}, false
			}
			token = i + 1
			continue
		case c == '{' && i == token:
			return Stamp{}, false
		}
		if starts(line, token, i) {
			if s, ok := parseAt(line, i); ok && plausible(line, s) {
				return s, true
			}
		}
		if indented && c != '[' {
			return Stamp{}, false
		}
	}
	return Stamp{}, false
}

// maxTokens is how much of text may stand before a stamp: a container's name, a
// level or a process number, in one piece.
const maxTokens = 1

// count is the number of pieces before a stamp with one more. What is in brackets
// does not count.
func count(n int, token []byte) int {
	if len(token) == 0 || token[0] == '[' || token[0] == '|' || bytes.IndexByte(token, '=') >= 0 {
		return n
	}
	return n + 1
}

// starts reports whether a stamp can begin at i: not inside a word or number.
func starts(line []byte, from, i int) bool {
	if i == from {
		return true
	}
	p := line[i-1]
	return !digit(p) && !letter(p) && p != '.' && p != '-' && p != '/' && p != '_' && p != ','
}

// plausible refuses what cannot be a line's time.
func plausible(line []byte, s Stamp) bool {
	if s.End < len(line) && (digit(line[s.End]) || letter(line[s.End])) {
		return false
	}
	year := s.Time.Year()
	return s.Kind == Uptime || s.NoYear || s.NoDate || year >= 1990 && year < 2200
}

// Before finds the stamp of the record that the line at position start of the text
// belongs to: its own, or that of the nearest line before it that has one. It
// looks back a bounded way.
func Before(text []byte, start int) (Stamp, bool) {
	low := max(0, start-maxWalk)
	for {
		end := len(text)
		if n := bytes.IndexByte(text[start:], '\n'); n >= 0 {
			end = start + n
		}
		if s, ok := Find(text[start:end]); ok {
			return s, true
		}
		if start <= low {
			return Stamp{}, false
		}
		start = bytes.LastIndexByte(text[:start-1], '\n') + 1
	}
}
