package stamp

import "time"

// parseAt reads the stamp that begins at i, in any of the layouts.
func parseAt(line []byte, i int) (Stamp, bool) {
	if i >= len(line) {
		return Stamp{}, false
	}
	c := line[i]
	var layouts []func(*cursor) (Stamp, bool)
	switch {
	case digit(c):
		layouts = digitLayouts
	case c == '[':
		layouts = bracketLayouts
	case letter(c):
		layouts = letterLayouts
	default:
		return Stamp{}, false
	}
	for _, layout := range layouts {
		at := &cursor{text: line, i: i}
		if s, ok := layout(at); ok && !at.bad {
			s.Start, s.End = i, at.i
			return s, true
		}
	}
	return Stamp{}, false
}

// The layouts by their first byte, the frequent ones first.
var (
	digitLayouts   = []func(*cursor) (Stamp, bool){numeric, dayFirst, timeOnly, epoch}
	letterLayouts  = []func(*cursor) (Stamp, bool){monthFirst, weekday, klog}
	bracketLayouts = []func(*cursor) (Stamp, bool){uptime}
)

// date puts a stamp together; dates that do not exist are refused.
func date(s Stamp, year int, month time.Month, day int, clock time.Duration) (Stamp, bool) {
	midnight := time.Date(year, month, day, 0, 0, 0, 0, time.UTC)
	s.Time = midnight.Add(clock)
	return s, midnight.Day() == day && midnight.Month() == month
}

// numeric is 2026-01-02 03:04:05,678 with -, / or . in the date, a blank, T, _ or :
// before the time, and an offset behind it.
func numeric(c *cursor) (s Stamp, ok bool) {
	year := c.number(4, 4)
	sep := c.one("-/.")
	if c.bad {
		return s, false
	}
	month := c.within(1, 2, 1, 12)
	if c.one("-/.") != sep {
		return s, false
	}
	day := c.within(1, 2, 1, 31)
	c.one(" T_:")
	c.blanks()
	clock := c.clock(&s, 1)
	if c.bad {
		return s, false
	}
	if s.Mark == 0 && c.peek() == ':' { // 03:04:05:678
		clock += c.fraction(&s, ":")
	}
	c.zone(&s)
	return date(s, year, time.Month(month), day, clock)
}

// dayFirst is 02/Jan/2026:03:04:05 +0100, 02-Jan-2026 03:04:05.678,
// 6-May-2019::03:41:49, 02 Jan 2026 03:04:05.678 and 02 Jan 03:04:05.678.
func dayFirst(c *cursor) (s Stamp, ok bool) {
	day := c.within(1, 2, 1, 31)
	c.one("/- ")
	if c.bad {
		return s, false
	}
	month := c.month()
	c.one("/- ")
	if c.bad {
		return s, false
	}
	year := 0
	if yearNext(c) {
		year = c.number(4, 4)
		c.one(": ")
		c.maybe(':')
	} else {
		s.NoYear = true
	}
	clock := c.clock(&s, 2)
	if c.bad {
		return s, false
	}
	c.zone(&s)
	return date(s, year, month, day, clock)
}

// yearNext reports whether four digits are next, and not the hour.
func yearNext(c *cursor) bool {
	ahead := cursor{text: c.text, i: c.i}
	ahead.number(4, 4)
	return !ahead.bad
}

// timeOnly is 03:04:05.678: a time without its date. Without a fraction it could
// be anything.
func timeOnly(c *cursor) (s Stamp, ok bool) {
	clock := c.clock(&s, 2)
	if c.bad || s.Mark == 0 {
		return s, false
	}
	s.NoDate = true
	return date(s, 0, time.January, 1, clock)
}

// epoch is a number of seconds (with a fraction or not), milliseconds,
// microseconds or nanoseconds since 1970, of a time from 2001 to 2100.
func epoch(c *cursor) (s Stamp, ok bool) {
	start := c.i
	for c.i < len(c.text) && digit(c.text[c.i]) && c.i-start < 20 {
		c.i++
	}
	n := c.i - start
	back := &cursor{text: c.text, i: start}
	v := back.number(10, 19)
	var unit time.Duration
	switch n {
	case 10:
		unit = time.Second
	case 13:
		unit = time.Millisecond
	case 16:
		unit = time.Microsecond
	case 19:
		unit = time.Nanosecond
	default:
		return s, false
	}
	s.Kind, s.Step = Instant, unit
	whole := int64(v) / int64(time.Second/unit)
	s.Time = time.Unix(whole, int64(v)%int64(time.Second/unit)*int64(unit)).UTC()
	if unit == time.Second {
		s.Time = s.Time.Add(c.fraction(&s, "."))
	}
	s.Mark = 0
	return s, whole >= 1e9 && whole < 4.2e9
}

// monthFirst is syslog's Jan  2 03:04:05, with the year before or behind the time,
// and Java's Jan 02, 2026 3:04:05 AM.
func monthFirst(c *cursor) (s Stamp, ok bool) {
	month := c.month()
	if c.bad || !c.maybe(' ') {
		return s, false
	}
	c.blanks()
	day := c.within(1, 2, 1, 31)
	comma := c.maybe(',')
	c.one(" ")
	if c.bad {
		return s, false
	}
	year := 0
	if yearNext(c) {
		year = c.number(4, 4)
		c.maybe(',')
		c.one(" ")
	} else if s.NoYear = !comma; comma {
		return s, false
	}
	clock := c.clock(&s, 1)
	if c.bad {
		return s, false
	}
	clock, ok = c.halfDay(clock)
	if !ok {
		return s, false
	}
	c.zone(&s)
	return date(s, year, month, day, clock)
}

// halfDay takes AM or PM into account.
func (c *cursor) halfDay(clock time.Duration) (time.Duration, bool) {
	back := c.i
	c.blanks()
	half := c.name("AM", "PM")
	if half < 0 || c.wordAfter(0) {
		c.i = back
		return clock, true
	}
	h := clock / time.Hour
	if h < 1 || h > 12 {
		return 0, false
	}
	return clock - h*time.Hour + (h%12+12*time.Duration(half))*time.Hour, true
}

// weekday is ctime's Fri Jan  2 03:04:05 2026, as dmesg -T prints it, and date's
// Fri Jan  2 03:04:05 UTC 2026.
func weekday(c *cursor) (s Stamp, ok bool) {
	if c.name("mon", "tue", "wed", "thu", "fri", "sat", "sun") < 0 || !c.maybe(' ') {
		return s, false
	}
	s, ok = monthFirst(c)
	if !ok || !s.NoYear {
		return s, ok
	}
	back := c.i
	if c.maybe(' ') && yearNext(c) {
		s.NoYear = false
		s.Time = s.Time.AddDate(c.number(4, 4), 0, 0)
		return s, true
	}
	c.i = back
	return s, true
}

// klog is I0102 03:04:05.678901, of Go programs.
func klog(c *cursor) (s Stamp, ok bool) {
	c.one("IWEF")
	month, day := c.within(2, 2, 1, 12), c.within(2, 2, 1, 31)
	c.one(" ")
	if c.bad {
		return s, false
	}
	clock := c.clock(&s, 2)
	s.NoYear = true
	s, ok = date(s, 0, time.Month(month), day, clock)
	return s, ok && s.Mark == '.'
}

// uptime is the kernel's [12345.678901].
func uptime(c *cursor) (s Stamp, ok bool) {
	c.one("[")
	c.blanks()
	sec := c.number(1, 9)
	if c.peek() != '.' {
		return s, false
	}
	frac := c.fraction(&s, ".")
	s.Kind, s.Mark = Uptime, 0
	s.Up = time.Duration(sec)*time.Second + frac
	return s, c.maybe(']') && s.Step == time.Microsecond
}
