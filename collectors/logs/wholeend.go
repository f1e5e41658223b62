package logs

import (
	"bytes"
	"time"

	"stallmark/collectors/jvm/gclog"
)

// lineEnd is when a line of a GC log was written, by the end of the pause that it
// tells of: up to JDK 8 the line is stamped with the beginning.
type lineEnd struct {
	line int64 // 1 for the first
	at   time.Time
}

// ended notes the end of a long pause.
func (l *restLog) ended(p *gclog.Pause) {
	if p.Duration >= worthPause && !p.Start.Wall.IsZero() && len(l.ends) < maxMoments {
		l.ends = append(l.ends, lineEnd{p.Line, p.Start.Wall.Add(p.Duration)})
	}
}

// written is when the next line was written, if that is known.
func (l *restLog) written(line []byte) (time.Time, bool) {
	t, ok := l.timeOf(line)
	if len(l.ends) > 0 && l.ends[0].line == l.passed+1 && l.ends[0].at.After(t) {
		return l.ends[0].at, true
	}
	return t, ok
}

// pass goes on to the line after the next.
func (l *restLog) pass() {
	l.passed++
	for len(l.ends) > 0 && l.ends[0].line <= l.passed {
		l.ends = l.ends[1:]
	}
}

// firstLine is the first line of data with its end.
func firstLine(data []byte) []byte {
	if n := bytes.IndexByte(data, '\n'); n >= 0 {
		return data[:n+1]
	}
	return data
}
