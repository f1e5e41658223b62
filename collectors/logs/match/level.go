package match

import "bytes"

// Level is how serious a line calls itself.
type Level int

// The levels that matter here.
const (
	LevelNone    Level = iota // says nothing, or less than a warning
	LevelWarning              // WARN
	LevelError                // ERROR and above
)

// String is the level's usual name.
func (l Level) String() string { return [...]string{"", "warning", "error"}[l] }

const (
	maxHeader = 200 // a level stands before the message
	maxWord   = 8
)

// LevelOf finds the level in what stands before a line's message: the first word
// that is the name of one, in capitals, or in brackets or quotes.
func LevelOf(line []byte) Level {
	if level, ok := jsonLevel(line); ok {
		return level
	}
	head := line[:min(len(line), maxHeader)]
	for i := 0; i < len(head); {
		if !isLetter(head[i]) {
			i++
			continue
		}
		start := i
		for i < len(head) && isLetter(head[i]) {
			i++
		}
		fenced := start > 0 && i < len(head) && head[start-1] == '[' && (head[i] == ']' || head[i] == ' ')
		if level, ok := levelWord(head[start:i], fenced); ok {
			return level
		}
	}
	return LevelNone
}

func isLetter(c byte) bool { return c|0x20 >= 'a' && c|0x20 <= 'z' }

// levelWord gives the level of a word, and whether it is one. In small letters it
// must be fenced in, since "error" may be a word of the message.
func levelWord(word []byte, fenced bool) (Level, bool) {
	if len(word) > maxWord || len(word) < 3 {
		return LevelNone, false
	}
	var b [maxWord]byte
	capitals := true
	for i, c := range word {
		capitals = capitals && c&0x20 == 0
		b[i] = c &^ 0x20
	}
	if !capitals && !fenced {
		return LevelNone, false
	}
	switch string(b[:len(word)]) {
	case "WARN", "WARNING":
		return LevelWarning, true
	case "ERROR", "FATAL", "SEVERE", "CRITICAL", "CRIT", "ALERT", "EMERG":
		return LevelError, true
	case "INFO", "DEBUG", "TRACE", "NOTICE", "FINE", "FINER", "FINEST", "CONFIG":
		return LevelNone, true
	}
	return LevelNone, false
}

// jsonLevel reads the level of a JSON layout.
func jsonLevel(line []byte) (Level, bool) {
	if open := bytes.IndexByte(line[:min(len(line), maxHeader)], '{'); open < 0 {
		return LevelNone, false
	}
	for _, key := range []string{`"level":`, `"severity":`, `"log.level":`, `"loglevel":`, `"lvl":`} {
		at := bytes.Index(line, []byte(key))
		if at < 0 {
			continue
		}
		rest := bytes.TrimLeft(line[at+len(key):], ` "`)
		n := 0
		for n < len(rest) && isLetter(rest[n]) {
			n++
		}
		return levelWord(rest[:n], true)
	}
	return LevelNone, false
}
