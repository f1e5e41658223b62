package stamp

import (
	"bytes"
	"time"
)

// jsonKeys are the names under which JSON layouts keep the time, the surer ones
// first.
var jsonKeys = []string{
	"@timestamp", "timestamp", "__REALTIME_TIMESTAMP", "timeMillis", "epochSecond", "datetime", "asctime", "date", "time", "ts", "t",
}

// findJSON reads the time of a line that is a JSON object.
func findJSON(line []byte) (Stamp, bool) {
	for _, key := range jsonKeys {
		at := jsonValue(line, key)
		if at < 0 {
			continue
		}
		if s, ok := parseAt(line, at); ok {
			s.JSON = true
			if key == "epochSecond" {
				s = nanoOfSecond(line, s)
			}
			return s, true
		}
	}
	return Stamp{}, false
}

// findJSONAfter is findJSON for a line with something before the object, such as
// a container's name.
func findJSONAfter(line []byte, from int) (Stamp, bool) {
	open := bytes.IndexByte(line[from:], '{')
	if open < 0 || open > maxPrefix || !bytes.HasPrefix(line[from+open:], []byte(`{"`)) {
		return Stamp{}, false
	}
	s, ok := findJSON(line[from+open:])
	s.Start, s.End = s.Start+from+open, s.End+from+open
	return s, ok
}

// jsonValue is where the value of a key begins, inside its quotes; -1 if the key
// is not there.
func jsonValue(line []byte, key string) int {
	for from := 0; ; {
		at := bytes.Index(line[from:], []byte(key))
		if at < 0 {
			return -1
		}
		at += from
		from = at + len(key)
		if at == 0 || line[at-1] != '"' || from >= len(line) || line[from] != '"' {
			continue
		}
		i := from + 1
		for i < len(line) && (line[i] == ' ' || line[i] == ':' || line[i] == '"') {
			i++
		}
		if i < len(line) {
			return i
		}
	}
}

// nanoOfSecond adds what Log4j 2 keeps beside the seconds.
func nanoOfSecond(line []byte, s Stamp) Stamp {
	at := jsonValue(line, "nanoOfSecond")
	if at < 0 {
		return s
	}
	c := cursor{text: line, i: at}
	if ns := c.within(1, 9, 0, 999_999_999); !c.bad {
		s.Time, s.Step = s.Time.Add(time.Duration(ns)), time.Nanosecond
	}
	return s
}

// dockerLog reads Docker's json-file: the program's line is in "log", the time at
// which Docker got it in "time".
func dockerLog(line []byte, from int) (Stamp, bool) {
	const head = `{"log":"`
	if !bytes.HasPrefix(line[from:], []byte(head)) {
		return Stamp{}, false
	}
	var seen time.Time
	if i := bytes.LastIndex(line, []byte(`"time":"`)); i >= 0 {
		if outer, ok := parseAt(line, i+len(`"time":"`)); ok {
			seen = outer.at()
		}
	}
	rest := skipEscapes(line, from+len(head))
	s, ok := findPlain(line, rest)
	if !ok {
		return Stamp{}, false
	}
	s.Seen = seen
	return s, true
}
