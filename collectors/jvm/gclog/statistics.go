package gclog

import (
	"bytes"
	"time"
)

// statistics reads a row of the table of safepoints: of -XX:+PrintSafepointStatistics
// (JDK 8 to 12, milliseconds)
//
//	12.345: G1IncCollectionPause [ 31 1 1 ] [ 0 0 0 0 12 ] 0
//
// whose times are spin, block, sync, cleanup and operation, or of
// -Xlog:safepoint+stats (JDK 13 and later, nanoseconds)
//
//	G1CollectForAllocation [ 13 0 ][ 2724 25297 15958781 15986802 ] 0
//
// whose times are sync, cleanup (up to JDK 24), operation and total. The rows
// repeat the lines of -Xlog:safepoint, so they count only where those are missing.
func (p *Parser) statistics(line []byte) bool {
	name, rest, ok := bytes.Cut(line, []byte("["))
	if !ok {
		return false
	}
	threads, rest, ok := bytes.Cut(rest, []byte("]"))
	if !ok {
		return false
	}
	rest = bytes.TrimLeft(rest, " ")
	if len(rest) == 0 || rest[0] != '[' {
		return false
	}
	times, rest, ok := bytes.Cut(rest[1:], []byte("]"))
	var v [5]int64
	if n, whole := numbers(threads, v[:]); !ok || !whole || n < 2 || n > 3 {
		return false
	}
	n, allNumbers := numbers(times, v[:])
	if page, ok := numbers(rest, make([]int64, 1)); !allNumbers || !ok || page != 1 {
		return false
	}
	s := Safepoint{Start: Moment{Uptime: -1}}
	switch {
	case n == 5:
		s.Reaching, s.Total = time.Duration(v[2])*time.Millisecond, time.Duration(v[2]+v[3]+v[4])*time.Millisecond
	case n == 3 || n == 4:
		s.Reaching, s.Total = time.Duration(v[0]), time.Duration(v[n-1])
	default:
		return false
	}
	name = bytes.TrimRight(name, " ")
	s.Operation = p.word(name[bytes.LastIndexByte(name, ' ')+1:])
	s.GC = collecting(s.Operation)
	p.figures.rows.add(&s)
	return true
}

// numbers reads whole numbers with blanks between; whole is false if there is
// anything else or there are too many.
func numbers(b []byte, v []int64) (n int, all bool) {
	for {
		b = bytes.TrimLeft(b, " ")
		if len(b) == 0 {
			return n, true
		}
		x, k := whole(b)
		if k == 0 || n == len(v) || k < len(b) && b[k] != ' ' {
			return n, false
		}
		v[n] = x
		n++
		b = b[k:]
	}
}
