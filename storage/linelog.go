package storage

import (
	"bytes"
	"log/slog"
)

// lineLogger logs what is written to it, line by line: the child's standard
// error. It is for one writer.
type lineLogger struct {
	log *slog.Logger
	buf []byte
}

// maxLine bounds a line without an end.
const maxLine = 4 << 10

// Write implements io.Writer.
func (l *lineLogger) Write(b []byte) (int, error) {
	l.buf = append(l.buf, b...)
	for {
		i := bytes.IndexByte(l.buf, '\n')
		if i < 0 && len(l.buf) < maxLine {
			return len(b), nil
		}
		if i < 0 {
			i = len(l.buf) - 1
		}
		if line := bytes.TrimSpace(l.buf[:i+1]); len(line) > 0 {
			l.log.Warn("storage process says", "line", string(line))
		}
		l.buf = append(l.buf[:0], l.buf[i+1:]...)
	}
}
