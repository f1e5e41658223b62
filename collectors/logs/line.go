package logs

import (
	"bytes"
	"time"

	"stallmark/collectors/logs/stamp"
)

// MaxLine is the longest line that is handed on whole, in bytes. Of a longer
// one the beginning is, with Cut set.
const MaxLine = 64 << 10

// Kind says which consumers a log is for.
type Kind string

// The kinds of logs.
const (
	KindText   Kind = "text"   // a program's log
	KindGC     Kind = "gc"     // a JVM's garbage collection and safepoint log
	KindKernel Kind = "kernel" // the kernel's log
)

// File is a log as its consumers know it, whatever the files are called that it
// is rotated to.
type File struct {
	Path    string // as its owner sees it
	Kind    Kind
	Process string // stable name of the watched process that writes it, empty if none
	Pid     int    // of that process, 0 if none
	Role    string // of that process
	Start   uint64 // of that process, in clock ticks after boot; 0 if not known
	Zone    string // of its time stamps as configured, empty to be guessed
	Format  Format // of what carries its lines as configured, empty to be found out

	// Of logs at rest; zero if not known.
	Changed time.Time  // when it was last written to
	Began   time.Time  // when the JVM started whose log it is
	zone    stamp.Zone // what the whole of it says of its stamps
}

// Line is one line of a log. It is valid until the consumer returns.
type Line struct {
	File   *File
	Part   string    // name of the file that it stands in, which may have been rotated since
	Offset int64     // of its first byte in that file
	Text   []byte    // without its end, a container's prefix, NULs and colours
	At     time.Time // when it was written by the word of a container runtime or journal; zero if there is none
	Origin string    // unit, container or stream by the same word; empty if there is none
	Cut    bool      // it was longer than MaxLine

	block []byte // what was read together with it
	start int    // of the line in block
	whole bool   // block begins where a line does
	live  bool   // it was written just before it was read
}

// Before returns up to n whole lines before this one, oldest first, as they
// stand in the file. There may be fewer: only what was read with the line is
// looked at.
func (l *Line) Before(n int) [][]byte {
	var found [][]byte
	end := l.start
	for range n {
		if end <= 0 || end > len(l.block) {
			break
		}
		at := bytes.LastIndexByte(l.block[:end-1], '\n')
		if at < 0 && !l.whole {
			break // its beginning is not here
		}
		found = append(found, l.block[at+1:end-1])
		end = at + 1
	}
	for i, j := 0, len(found)-1; i < j; i, j = i+1, j-1 {
		found[i], found[j] = found[j], found[i]
	}
	return found
}

// Consumer takes the lines of one log, in their order and never two at a time.
// Consumers of several logs are called by several goroutines.
type Consumer interface {
	Line(l *Line)
}
