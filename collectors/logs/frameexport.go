package logs

import (
	"bytes"
	"encoding/binary"
	"strconv"
	"time"
)

// exportEntry is a record of journalctl -o export as far as it has been read
// (systemd, Journal Export Formats): lines KEY=VALUE, and for values that are
// not plain text a line KEY, eight bytes with the length, the value and a line
// feed. An empty line ends the record.
type exportEntry struct {
	message []byte
	at      time.Time
	unit    string
	cut     bool

	key    string // of the binary value that is being read, empty if none is
	binary []byte // its length and as much of it as is kept
	seen   int64  // bytes of it, with the length before it
}

// exportLine takes a line of the file. A line without "=" begins a binary value.
func (f *framer) exportLine(raw []byte) (frame, bool) {
	e := &f.export
	if e.key != "" && !bytes.HasPrefix(raw, []byte("__CURSOR=")) {
		e.more(raw)
		return frame{}, false
	}
	e.key = ""
	if len(raw) == 0 {
		return e.finish()
	}
	key, value, text := bytes.Cut(raw, []byte{'='})
	switch {
	case text:
		e.set(string(key), value)
	case fieldName(raw):
		e.key, e.binary, e.seen = string(raw), e.binary[:0], 0
	}
	return frame{}, false
}

// fieldName reports whether a line can be the name of a field.
func fieldName(raw []byte) bool {
	for _, b := range raw {
		if (b < 'A' || b > 'Z') && b != '_' && (b < '0' || b > '9') {
			return false
		}
	}
	return len(raw) <= 64
}

// more goes on with a binary value; the line feeds in it are its own.
func (e *exportEntry) more(raw []byte) {
	e.seen += int64(len(raw)) + 1
	room := MaxLine + 8 - len(e.binary)
	if room > 0 {
		e.binary = append(e.binary, raw[:min(len(raw), room)]...)
		if len(raw) < room {
			e.binary = append(e.binary, '\n')
		}
	}
	if len(e.binary) < 8 {
		return
	}
	size := binary.LittleEndian.Uint64(e.binary)
	if size < 1<<40 && e.seen < int64(size)+9 {
		return
	}
	value := e.binary[8:min(uint64(len(e.binary)), 8+min(size, MaxLine))]
	e.cut = e.cut || e.key == "MESSAGE" && size > MaxLine
	e.set(e.key, value)
	e.key = ""
}

func (e *exportEntry) set(key string, value []byte) {
	switch key {
	case "__CURSOR":
		*e = exportEntry{message: e.message[:0], binary: e.binary[:0]}
	case "__REALTIME_TIMESTAMP":
		e.at = microseconds(value)
	case "MESSAGE":
		e.message = append(e.message[:0], value...)
	case "_SYSTEMD_UNIT":
		e.unit = string(value)
	case "SYSLOG_IDENTIFIER":
		e.unit = firstText(e.unit, string(value))
	}
}

// finish is the record's message, of which only the first line counts as a line
// of its own: others follow it in the text.
func (e *exportEntry) finish() (frame, bool) {
	out := frame{text: e.message, at: e.at, source: e.unit, cut: e.cut}
	ok := len(e.message) > 0
	*e = exportEntry{message: e.message[:0], binary: e.binary[:0]}
	return out, ok
}

// kmsgHead reads "6,1234,5678901,-" of a record of /dev/kmsg
// (Documentation/ABI/testing/dev-kmsg): microseconds since boot are third.
func kmsgHead(raw []byte) (up time.Duration, text []byte, ok bool) {
	head, text, ok := bytes.Cut(raw[:min(len(raw), 1<<16)], []byte{';'})
	if !ok || len(head) > 80 {
		return 0, nil, false
	}
	parts := bytes.Split(head, []byte{','})
	if len(parts) < 4 {
		return 0, nil, false
	}
	var us int64
	for i, p := range parts[:3] {
		n, err := strconv.ParseInt(string(p), 10, 64)
		if err != nil || n < 0 || n > 1<<52 {
			return 0, nil, false
		}
		if i == 2 {
			us = n
		}
	}
	return time.Duration(us) * time.Microsecond, text, true
}

// kmsgLine reads a record of the kernel's ring buffer. The lines with its
// properties, which begin with a blank, are passed over.
func (f *framer) kmsgLine(raw []byte) (frame, bool) {
	if len(raw) == 0 || raw[0] == ' ' {
		return frame{}, false
	}
	up, text, ok := kmsgHead(raw)
	if !ok {
		return frame{text: raw}, true
	}
	out := frame{text: unescapeKmsg(text)}
	if !f.boot.IsZero() {
		out.at = f.boot.Add(up).UTC()
	}
	return out, true
}

// unescapeKmsg replaces \xNN; most texts have none.
func unescapeKmsg(text []byte) []byte {
	if !bytes.Contains(text, []byte(`\x`)) {
		return text
	}
	var out []byte
	for i := 0; i < len(text); i++ {
		if text[i] == '\\' && i+3 < len(text) && text[i+1] == 'x' {
			if v, err := strconv.ParseUint(string(text[i+2:i+4]), 16, 8); err == nil {
				out = append(out, byte(v))
				i += 3
				continue
			}
		}
		out = append(out, text[i])
	}
	return out
}
