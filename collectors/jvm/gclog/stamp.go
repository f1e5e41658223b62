package gclog

import "time"

// stamp is what a line says of its own time.
type stamp struct {
	wall   time.Time // zero: not said
	uptime time.Duration
	told   bool // uptime is
}

// stampSlack is how far a printed time can be from the true one: all clocks but
// the nanosecond ones are cut to milliseconds.
const stampSlack = time.Millisecond

// isoLen is the length of "2026-12-01T05:28:05".
const isoLen = 19

// isoTime reads "2026-12-01T05:28:05.754+0530" at the start of b: the time and
// its length, 0 if it is none. Without an offset it is none either: nobody could
// say when that was.
func isoTime(b []byte) (t time.Time, n int) {
	if len(b) < isoLen+3 || b[4] != '-' || b[7] != '-' || b[10] != 'T' || b[13] != ':' || b[16] != ':' {
		return t, 0
	}
	var f [6]int
	for i, at := range [6]int{0, 5, 8, 11, 14, 17} {
		width := 2
		if i == 0 {
			width = 4
		}
		v, k := whole(b[at : at+width])
		if k != width {
			return t, 0
		}
		f[i] = int(v)
	}
	n = isoLen
	nanos := 0
	if p := decimalPoint(b[n:]); p > 0 {
		n += p
		for part := scale / 10; n < len(b) && isDigit(b[n]); n++ {
			nanos += int(b[n]-'0') * part
			part /= 10
		}
	}
	offset, k := isoOffset(b[n:])
	if k == 0 {
		return t, 0
	}
	t = time.Date(f[0], time.Month(f[1]), f[2], f[3], f[4], f[5], nanos, time.UTC)
	return t.Add(-offset), n + k
}

// isoOffset reads "+0530", "+05:30" or "Z".
func isoOffset(b []byte) (offset time.Duration, n int) {
	if len(b) > 0 && b[0] == 'Z' {
		return 0, 1
	}
	if len(b) < 5 || b[0] != '+' && b[0] != '-' {
		return 0, 0
	}
	h, k := whole(b[1:3])
	at := 3
	if b[at] == ':' {
		at++
	}
	if len(b) < at+2 {
		return 0, 0
	}
	m, l := whole(b[at : at+2])
	if k != 2 || l != 2 {
		return 0, 0
	}
	offset = time.Duration(h)*time.Hour + time.Duration(m)*time.Minute
	if b[0] == '-' {
		offset = -offset
	}
	return offset, at + 2
}

// epochMillis divides milliseconds of uptime from those since 1970: as an uptime
// it would be three years.
const epochMillis = 100_000_000_000

// decoration reads one group of a unified line, without its brackets, into s.
func (s *stamp) decoration(b []byte) {
	if len(b) < 2 || !isDigit(b[0]) {
		return
	}
	if t, n := isoTime(b); n > 0 {
		if s.wall.IsZero() || t.Nanosecond() != 0 {
			s.wall = t
		}
		return
	}
	v, n := decimal(b)
	switch string(b[n:]) {
	case "s":
		s.set(time.Duration(v), false)
	case "ms":
		if v/scale >= epochMillis {
			if s.wall.IsZero() {
				s.wall = time.UnixMilli(v / scale).UTC()
			}
			return
		}
		s.set(time.Duration(v/1000), false)
	case "ns":
		s.nanos(b)
	}
}

// set keeps the finest uptime.
func (s *stamp) set(d time.Duration, finer bool) {
	if !s.told || finer {
		s.uptime, s.told = d, true
	}
}

// nanos reads nanoseconds: of the uptime only if they fit the uptime told
// before, since the other clock in nanoseconds has an arbitrary beginning.
func (s *stamp) nanos(b []byte) {
	v, _ := whole(b)
	d := time.Duration(v) - s.uptime
	if s.told && d > -2*time.Millisecond && d < 2*time.Millisecond {
		s.set(time.Duration(v), true)
	}
}

// legacy reads the stamps at the end of what stands before a bracket:
// "2022-07-26T21:00:40.750+0800: 3.117: #0: ".
func (s *stamp) legacy(b []byte) {
	for {
		for len(b) > 0 && (b[len(b)-1] == ' ' || b[len(b)-1] == ':') {
			b = b[:len(b)-1]
		}
		start := len(b)
		for start > 0 && b[start-1] != ' ' {
			start--
		}
		word := b[start:]
		if n := len("2022-07-26T21:00:40.750+0800"); len(word) > n {
			// The stamp may follow without a blank what was cut before it.
			if t, k := isoTime(word[len(word)-n:]); k == n {
				s.wall = t
				return
			}
		}
		if t, k := isoTime(word); k > 0 && k == len(word) {
			s.wall = t
			return
		}
		if len(word) > 0 && word[0] == '#' {
			b = b[:start]
			continue
		}
		v, at := decimalBefore(word)
		if at != 0 || s.told || decimalPlaces(word) < 3 {
			return
		}
		s.set(time.Duration(v), false)
		b = b[:start]
	}
}

// decimalPlaces is how many digits stand after the decimal point at the end of b.
func decimalPlaces(b []byte) int {
	n := 0
	for n < len(b) && isDigit(b[len(b)-1-n]) {
		n++
	}
	if n == len(b) {
		return 0
	}
	return n
}

// clock turns stamps into moments, and sees that a JVM was started again.
type clock struct {
	last  time.Duration // newest uptime of this JVM
	start time.Time     // when this JVM started; zero if nobody knows
	slack time.Duration
	fixed bool // start was given
}

// backStep is how far uptime may go back in one JVM: threads write their lines
// a little out of order.
const backStep = time.Second

// arrivalSlack is how late a line of a live log may be read.
const arrivalSlack = time.Second

// restarted reports whether this uptime is of another JVM than those before.
func (c *clock) restarted(s stamp) bool { return s.told && s.uptime < c.last-backStep }

// see takes the time of a line that was read at now (zero for a file at rest).
func (c *clock) see(s stamp, now time.Time) {
	if !s.told {
		return
	}
	c.last = max(c.last, s.uptime)
	if now.IsZero() || c.fixed {
		return
	}
	if begin := now.Add(-s.uptime); c.start.IsZero() || begin.Before(c.start) {
		c.start, c.slack = begin, arrivalSlack
	}
}

// moment is when the line with this stamp was written.
func (c *clock) moment(s stamp, now time.Time) Moment {
	m := Moment{Uptime: -1, Slack: stampSlack}
	if s.told {
		m.Clock, m.Uptime = ClockUptime, s.uptime
	}
	switch {
	case !s.wall.IsZero():
		m.Clock, m.Wall = ClockWall, s.wall.UTC()
	case s.told && !c.start.IsZero():
		m.Clock, m.Wall, m.Slack = ClockDerived, c.start.Add(s.uptime).UTC(), c.slack
	case !s.told && !now.IsZero():
		m.Clock, m.Wall, m.Slack = ClockArrival, now.UTC(), arrivalSlack
	case !s.told:
		m.Slack = 0
	}
	return m
}
