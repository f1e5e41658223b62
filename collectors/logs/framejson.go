package logs

import (
	"bytes"
	"encoding/json"
	"strconv"
	"time"
	"unicode/utf16"
	"unicode/utf8"
)

// jsonLine reads a record of Docker's json-file driver. The driver cuts lines
// into pieces of 16 KiB, of which the last one ends with a line feed
// (moby/daemon/logger/copier.go). What is no such record is handed on as it is.
func (f *framer) jsonLine(raw []byte, cut bool) (frame, bool) {
	text, rest, ok := jsonText(raw, "log", f.text[:0])
	if !ok {
		return frame{text: raw, cut: cut}, true
	}
	f.text = text
	stream := ""
	switch {
	case bytes.Contains(rest, []byte(`"stream":"stdout"`)):
		stream = "stdout"
	case bytes.Contains(rest, []byte(`"stream":"stderr"`)):
		stream = "stderr"
	}
	line, ended := bytes.CutSuffix(text, []byte{'\n'})
	line, whole, tooLong := f.join(stream, line, !ended && !cut)
	return frame{text: line, at: jsonTime(rest), source: stream, cut: cut || tooLong}, whole
}

// jsonTime reads the member "time".
func jsonTime(raw []byte) time.Time {
	_, value, ok := bytes.Cut(raw, []byte(`"time":"`))
	end := bytes.IndexByte(value, '"')
	if !ok || end < 0 {
		return time.Time{}
	}
	at, err := time.Parse(time.RFC3339Nano, string(value[:end]))
	if err != nil {
		return time.Time{}
	}
	return at.UTC()
}

// jsonText appends the text of a member to a buffer, and returns what follows
// its closing quote. A text that is cut off is as long as it is.
func jsonText(raw []byte, key string, to []byte) (text, rest []byte, ok bool) {
	at := bytes.Index(raw, []byte(`"`+key+`":"`))
	if at < 0 {
		return nil, nil, false
	}
	raw = raw[at+len(key)+4:]
	for len(raw) > 0 {
		stop := bytes.IndexAny(raw, `"\`)
		if stop < 0 {
			return append(to, raw...), nil, true
		}
		to = append(to, raw[:stop]...)
		if raw[stop] == '"' {
			return to, raw[stop+1:], true
		}
		var n int
		to, n = unescape(to, raw[stop:])
		raw = raw[stop+n:]
	}
	return to, nil, true
}

// unescape appends what an escape stands for, and returns how long it was.
func unescape(to, raw []byte) (text []byte, n int) {
	if len(raw) < 2 {
		return to, len(raw)
	}
	switch raw[1] {
	case 'n':
		return append(to, '\n'), 2
	case 't':
		return append(to, '\t'), 2
	case 'r':
		return append(to, '\r'), 2
	case 'b', 'f':
		return append(to, ' '), 2
	case 'u':
		r, ok := hexRune(raw)
		if !ok {
			return to, 2
		}
		if utf16.IsSurrogate(r) {
			if low, ok := hexRune(raw[6:]); ok {
				if both := utf16.DecodeRune(r, low); both != utf8.RuneError {
					return utf8.AppendRune(to, both), 12
				}
			}
		}
		return utf8.AppendRune(to, r), 6
	}
	return append(to, raw[1]), 2
}

// hexRune reads \uXXXX.
func hexRune(raw []byte) (rune, bool) {
	if len(raw) < 6 || raw[0] != '\\' || raw[1] != 'u' {
		return 0, false
	}
	v, err := strconv.ParseUint(string(raw[2:6]), 16, 32)
	return rune(v), err == nil
}

// journalEntry is what is read of a record of journalctl -o json.
type journalEntry struct {
	Message    json.RawMessage `json:"MESSAGE"` // text, or numbers where it is not UTF-8
	Time       string          `json:"__REALTIME_TIMESTAMP"`
	Unit       string          `json:"_SYSTEMD_UNIT"`
	Identifier string          `json:"SYSLOG_IDENTIFIER"`
}

// journalLine reads a record of journalctl -o json (systemd.journal-fields(7)).
func (f *framer) journalLine(raw []byte) (frame, bool) {
	var e journalEntry
	if err := json.Unmarshal(raw, &e); err != nil {
		return frame{text: raw}, true
	}
	var text string
	if json.Unmarshal(e.Message, &text) != nil {
		var numbers []uint8
		var wide []int
		if json.Unmarshal(e.Message, &wide) != nil {
			return frame{}, false // null: too long for the journal to print
		}
		for _, n := range wide {
			numbers = append(numbers, byte(n))
		}
		text = string(numbers)
	}
	if text == "" {
		return frame{}, false
	}
	return frame{text: []byte(text), at: microseconds([]byte(e.Time)), source: firstText(e.Unit, e.Identifier)}, true
}

func firstText(list ...string) string {
	for _, s := range list {
		if s != "" {
			return s
		}
	}
	return ""
}

// microseconds is a time counted in microseconds since 1970.
func microseconds(text []byte) time.Time {
	us, err := strconv.ParseInt(string(text), 10, 64)
	if err != nil || us <= 0 || us > 1<<52 {
		return time.Time{}
	}
	return time.UnixMicro(us).UTC()
}
