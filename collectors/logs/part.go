package logs

import (
	"bytes"
	"time"

	"golang.org/x/sys/unix"
)

// part is one file of a stream that is being read.
type part struct {
	file     fileOf
	name     string // in the folder, as last seen
	home     string // and when it was the newest
	begun    int64  // its mtime when it was read from its start
	trace    trace
	skipping bool // its feeder's splitter is inside an overlong line
	last     info // when it was last looked at
	changed  time.Time
	checked  int64     // ctime at which its name was last compared
	due      time.Time // of the next look, unless something happens
	caughtUp bool      // there was nothing more to read at the last look
}

// outcome is what reading a part came to.
type outcome int

const (
	atEnd     outcome = iota // everything whole that is there was read
	more                     // the budget is spent, there may be more
	truncated                // it does not hold what was read any more
	failed
)

// newPart begins to read a file at an offset. If that is not at the start of a
// line, the rest of the line is passed over.
func newPart(file fileOf, name string, offset int64, now time.Time) (*part, error) {
	p := &part{file: file, name: name, home: name, changed: now}
	if offset > 0 {
		if err := p.trace.at(file, offset); err != nil {
			return nil, err
		}
		p.skipping = p.trace.tail[len(p.trace.tail)-1] != '\n'
	}
	return p, nil
}

// look asks the kernel about the file. It reports whether anything has changed
// since it was last asked.
func (p *part) look(now time.Time) (bool, error) {
	i, err := infoOf(p.file.fd)
	if err != nil {
		return false, err
	}
	same := i.size == p.last.size && i.mtime == p.last.mtime && i.ctime == p.last.ctime && i.links == p.last.links
	p.last = i
	if !same {
		p.changed = now
	}
	return !same, nil
}

// read hands on what is new, at most about budget bytes of it.
func (p *part) read(f *feeder, buf []byte, budget int, tap tapFunc) (outcome, int, error) {
	done := 0
	f.live = p.caughtUp
	defer func() { f.live = false }()
	for done < budget {
		n, result, err := p.chunk(f, buf, tap)
		done += n
		p.caughtUp = result == atEnd
		if result != more {
			return result, done, err
		}
	}
	return more, done, nil
}

// tapFunc gets a copy of all that is handed on. A nil one gets nothing.
type tapFunc func(f *File, part string, offset int64, data []byte, live bool)

// chunk reads one buffer's worth.
func (p *part) chunk(f *feeder, buf []byte, tap tapFunc) (int, outcome, error) {
	before := int(min(p.trace.offset, reread))
	n, err := p.file.readAt(buf, p.trace.offset-int64(before))
	if err != nil {
		return 0, failed, err
	}
	if !p.holds(buf[:n], before) {
		return 0, truncated, nil
	}
	if skipped := p.skipNULs(buf[before:n]); skipped > 0 {
		return skipped, more, nil
	}
	full := n == len(buf)
	done := p.give(f, buf[:n], before, false, tap)
	if !full || done == 0 {
		return done, atEnd, nil
	}
	return done, more, nil
}

// reread is how many bytes before a line are read again with it, to show them
// and for the time stamp of a record of several lines.
const reread = 2 << 10

// holds reports whether what stands before the offset is what was read there.
func (p *part) holds(buf []byte, before int) bool {
	tail := len(p.trace.tail)
	return len(buf) >= before && bytes.Equal(buf[before-tail:before], p.trace.tail)
}

// give feeds what stands at the offset, behind some that stands before it, and
// goes on behind what was used.
func (p *part) give(f *feeder, buf []byte, before int, final bool, tap tapFunc) int {
	f.split.skipping = p.skipping
	done := f.feedAfter(buf, before, p.name, p.trace.offset, final)
	p.skipping = f.split.skipping
	data := buf[before:]
	if tap != nil && done > 0 {
		tap(f.file, p.name, p.trace.offset, data[:done], f.live)
	}
	p.trace.add(data[:done])
	return done
}

// skipNULs passes over NULs at the offset: a writer that does not append leaves
// a hole in a file that was truncated under it. A large one is passed over
// without reading it.
func (p *part) skipNULs(data []byte) int {
	n := len(data) - len(bytes.TrimLeft(data, "\x00"))
	if n == 0 {
		return 0
	}
	if n == len(data) {
		if at, err := unix.Seek(p.file.fd, p.trace.offset, unix.SEEK_DATA); err == nil && at > p.trace.offset+int64(n) {
			n = int(at - p.trace.offset)
			p.trace.leap(n)
			return n
		}
	}
	p.trace.add(data[:n])
	return n
}

// finish hands on a last line without an end.
func (p *part) finish(f *feeder, buf []byte, tap tapFunc) {
	before := int(min(p.trace.offset, reread))
	n, err := p.file.readAt(buf, p.trace.offset-int64(before))
	if err != nil || n <= before || !p.holds(buf[:n], before) {
		return
	}
	p.give(f, buf[:n], before, true, tap)
}

// restart begins the file anew.
func (p *part) restart() {
	p.trace = trace{}
	p.begun = p.last.mtime
	p.skipping = false
}
