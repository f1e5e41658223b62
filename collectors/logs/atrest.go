package logs

import (
	"bytes"

	"stallmark/collectors/logs/stamp"
)

// LogAtRest is what a log was taken for.
type LogAtRest struct {
	Name  string
	What  string   // in words
	Lines int      // how many there are
	Says  []string // what is known of it, in words
}

// Logs describes the logs, in the order in which they were added.
func (w *Whole) Logs() []LogAtRest {
	var list []LogAtRest
	for _, l := range w.logs {
		r := LogAtRest{Name: l.name, What: "log", Lines: bytes.Count(l.data, []byte{'\n'})}
		if n := len(l.data); n > 0 && l.data[n-1] != '\n' {
			r.Lines++
		}
		product := l.feeder.file.Role
		switch {
		case l.kind == KindGC:
			r.What = "GC log"
		case product != "":
			r.What = product + " log"
		}
		if l.kind != KindGC {
			zone := l.clock.Zone()
			if product == "rocketmq" && zone.Proof < stamp.Default {
				r.Says = append(r.Says, "times without a zone are RocketMQ's GMT+8")
			} else {
				r.Says = append(r.Says, "times without a zone: "+zone.String())
			}
		}
		list = append(list, r)
	}
	return list
}
