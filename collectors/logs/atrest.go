package logs

import (
	"bytes"

	"stallmark/collectors/logs/stamp"
)

// GC is what a log of a garbage collector is, in words.
const GC = "GC log"

// LogAtRest is what a log was taken for.
type LogAtRest struct {
	Name    string
	What    string   // in words
	Product string   // whose it is, "" if that is not known
	From    int      // its first line, counted from 1: before it stood something else in the text
	Lines   int      // how many there are, up to the last
	Says    []string // what is known of it, in words
}

// Logs describes the logs, in the order in which they were added.
func (w *Whole) Logs() []LogAtRest {
	var list []LogAtRest
	for _, l := range w.logs {
		r := LogAtRest{Name: l.name, What: "log", Lines: bytes.Count(l.data, []byte{'\n'})}
		if n := len(l.data); n > 0 && l.data[n-1] != '\n' {
			r.Lines++
		}
		r.From = firstStamped(l.data)
		product := l.feeder.file.Role
		r.Product = product
		switch {
		case l.kind == KindGC:
			r.What = GC
		case product != "":
			r.What = product + " log"
		}
		if says := l.zoneInWords(); says != "" {
			r.Says = append(r.Says, says)
		}
		list = append(list, r)
	}
	return list
}

// firstStamped is the number of the first line that has a time: what stands before
// is somebody's words, or other parts of the text. It is 1 if no line has.
func firstStamped(data []byte) int {
	n := 0
	for line := range bytes.Lines(data) {
		n++
		if _, ok := stamp.Find(bytes.TrimRight(line, "\r\n")); ok {
			return n
		}
	}
	return 1
}

// zoneInWords says by which zone the lines were placed and why, empty if they say
// it themselves.
func (l *restLog) zoneInWords() string {
	if l.kind == KindGC {
		return ""
	}
	_, last, ok := l.unzoned()
	if !ok {
		return ""
	}
	span, ok := l.clock.Resolve(last, l.file.Role)
	if !ok {
		return ""
	}
	return "times without a zone: " + span.Zone.String()
}
