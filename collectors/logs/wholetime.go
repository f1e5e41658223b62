package logs

import (
	"bytes"
	"time"

	"stallmark/collectors/jvm/gclog"
	"stallmark/collectors/logs/match"
	"stallmark/collectors/logs/stamp"
)

// learn finds out the zone of a log before any of its lines is placed: by a line
// that holds an instant beside its stamp, or by the file's last change.
func (w *Whole) learn(l *restLog) {
	if l.kind == KindGC {
		return
	}
	if data, changed := byTime(l.data); changed {
		l.data = data
		w.Notes = append(w.Notes, l.name+": its lines are not in the order of their times; they are taken in that order")
	}
	if s, ok := l.lastStamp(); ok && !l.file.Changed.IsZero() {
		l.clock.SawEnd(s, l.file.Changed)
	}
	var hit match.Hit
	for from := 0; w.source.cfg.Patterns != nil && from < len(l.data) && l.clock.Zone().Proof != stamp.Proven && l.clock.Doubt() == ""; from = hit.End + 1 {
		if !w.source.cfg.Patterns.Next(l.data, from, &hit) {
			break
		}
		if began, exact := hit.Began(); exact {
			if s, ok := stamp.Before(l.data, hit.Start); ok {
				took, _ := hit.Duration()
				l.clock.SawStart(s, began, took)
			}
		}
	}
	if doubt := l.clock.Doubt(); doubt != "" {
		w.Notes = append(w.Notes, l.name+": its zone was "+doubt)
	}
	w.fit(l)
	if z := l.clock.Zone(); z.Proof >= stamp.FileTime {
		l.file.zone = z
	}
}

// Beside says from when to when the recording is that the logs were given with.
// Call it before [Whole.Beats].
func (w *Whole) Beside(from, to time.Time) { w.beside = [2]time.Time{from, to} }

// fit finds the zone in which a log is of the time of the recording, if that is not
// so in the zone that it would be taken for and nothing in it proves one. Only zones
// are tried that logs are written in without being set: that of the host, UTC and
// RocketMQ's. Some zone fits any log of the day.
func (w *Whole) fit(l *restLog) {
	first, last, ok := l.unzoned()
	if !ok || w.beside[1].IsZero() || l.clock.Zone().Proof >= stamp.Proven {
		return
	}
	fits := func(c *stamp.Clock) bool {
		from, known := c.Resolve(first, l.file.Role)
		to, alike := c.Resolve(last, l.file.Role)
		return known && alike && !from.From.After(w.beside[1]) && !to.From.Before(w.beside[0])
	}
	usual, _ := l.clock.Resolve(last, l.file.Role)
	if fits(l.clock) {
		return
	}
	for _, zone := range []*time.Location{w.source.cfg.Host, time.UTC, stamp.Fixed(8 * time.Hour)} {
		if zone == nil {
			continue
		}
		c := newClock(w.source, l.file)
		if c.SawBeside(zone, usual.Zone); fits(c) {
			l.clock.SawBeside(zone, usual.Zone)
			return
		}
	}
}

// unzoned are the first and the last stamp that name no zone.
func (l *restLog) unzoned() (first, last stamp.Stamp, ok bool) {
	bare := func(line []byte) (stamp.Stamp, bool) {
		s, ok := stamp.Find(bytes.TrimRight(line, "\r\n"))
		return s, ok && s.Kind == stamp.Wall && !s.Zoned
	}
	for line := range bytes.Lines(l.data) {
		if first, ok = bare(line); ok {
			break
		}
	}
	for end := l.data; ok; {
		start := bytes.LastIndexByte(bytes.TrimRight(end, "\r\n"), '\n') + 1
		if s, found := bare(end[start:]); found {
			return first, s, true
		}
		end = end[:start]
	}
	return first, last, false
}

// lastStamp is the time stamp of the last line that has one.
func (l *restLog) lastStamp() (stamp.Stamp, bool) {
	end := bytes.TrimRight(l.data, "\r\n")
	return stamp.Before(end, bytes.LastIndexByte(end, '\n')+1)
}

// endSlack is how long after its last line a file may be changed last.
const endSlack = 2 * time.Minute

// tie places a GC log that tells uptimes only: its last line was written when the
// file was changed last. That is believed of a log that is given alone, and beside
// others if one of them was changed when its last line says, since a copy may have
// the time of the copying. A log of several JVMs, or without any times, is not
// placed.
func (w *Whole) tie(l *restLog) {
	parser := gclog.NewParser(gclog.Handler{})
	for line := range bytes.Lines(l.data) {
		parser.Feed(line, time.Time{})
	}
	parser.Flush()
	f := parser.Figures()
	if !f.First.Wall.IsZero() {
		return
	}
	if f.First.Clock == gclog.ClockUptime && f.JVMs == 1 && !l.file.Changed.IsZero() && (len(w.logs) == 1 || w.faithful()) {
		l.file.Began = l.file.Changed.Add(-max(f.Last.Uptime, l.lastUptime()))
		l.clock = newClock(w.source, l.file)
		w.Notes = append(w.Notes, l.name+": tells uptimes only; its JVM is taken to have started at "+
			l.file.Began.UTC().Format(time.RFC3339)+", by the time of the file's last change")
		return
	}
	l.unplaced = true
	w.Notes = append(w.Notes, l.name+": tells no time of day, and nothing ties its lines to one: its pauses are not joined with other logs. "+
		"\"stallmark gc\" prints them; the decoration \"time\" of -Xlog or -XX:+PrintGCDateStamps places them, or a copy that keeps the file's time (cp -p, tar)")
}

// lastUptime is the last that is printed, -1 if none is.
func (l *restLog) lastUptime() time.Duration {
	end := bytes.TrimRight(l.data, "\r\n")
	for i := 0; i < sampleOf && len(end) > 0; i++ {
		start := bytes.LastIndexByte(end, '\n') + 1
		if m := gclog.LineTime(end[start:]); m.Uptime >= 0 {
			return m.Uptime
		}
		end = end[:max(0, start-1)]
	}
	return -1
}

// faithful reports whether a log with times was last changed when its last line
// was written.
func (w *Whole) faithful() bool {
	for _, l := range w.logs {
		s, ok := l.lastStamp()
		if !ok || s.Kind == stamp.Uptime || l.file.Changed.IsZero() {
			continue
		}
		span, ok := newClock(w.source, l.file).Resolve(s, l.file.Role)
		if late := l.file.Changed.Sub(span.From); ok && late > -endSlack && late < endSlack {
			return true
		}
	}
	return false
}

// last adds the time of the last line that has one.
func (l *restLog) last(list []int64) []int64 {
	if s, ok := l.lastStamp(); ok {
		if span, ok := l.clock.Resolve(s, l.file.Role); ok {
			list = append(list, span.From.Unix())
		}
	}
	return list
}

// covers reports whether a log can say anything of a moment: not long before its
// first line or after its last. Its silence then is none of the host's. A log
// without times is of any.
func (l *restLog) covers(at time.Time) bool {
	switch {
	case l.unplaced:
		return false
	case !l.timed:
		return true
	case l.latest.IsZero():
		return l.next.Sub(at) <= leadBefore
	}
	return l.pos < len(l.data) || at.Sub(l.latest) <= trailAfter
}

// covers reports whether the log of a consumer can say anything of a moment.
func (w *Whole) covers(r Reporter, at time.Time) bool {
	for _, l := range w.logs {
		if l.feeder != nil && l.feeder.consumer == Consumer(r) {
			return l.covers(at)
		}
	}
	return true
}

// countsFromBoot says what would place lines that count from the start of their
// host, if there are such.
func (l *restLog) countsFromBoot() string {
	for line := range bytes.Lines(l.data) {
		if s, ok := stamp.Find(bytes.TrimRight(line, "\r\n")); ok && s.Kind == stamp.Uptime {
			return ": they count from the boot of their host; --boot tells it, and \"dmesg -T\" or \"journalctl -k\" prints times"
		}
	}
	return ""
}
