package logs

import (
	"bytes"
	"cmp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"stallmark/collectors"
	"stallmark/collectors/logs/match"
	"stallmark/collectors/logs/stamp"
	"stallmark/storage/model"
)

// matcher is the consumer of a text log: it looks for known lines, counts every
// one, and makes events of some. Line runs on the folder's goroutine, Report on
// the beat's; a line that matches nothing takes no lock and allocates nothing.
type matcher struct {
	source *Source
	hit    match.Hit
	owed   int // lines that stored events still want after them

	mu    sync.Mutex // of what follows
	clock *stamp.Clock
	file  *File
	found map[string]*tally
	lines []*note // waiting for the beat
}

// tally is what is known of one pattern in one log.
type tally struct {
	pattern *model.LogPattern
	matches counter
	seconds measure
	waited  measure
	bytes   measure
	second  time.Time // in which events are being stored
	stored  int       // in that second
	more    int       // lines of that second that are counted only
	until   time.Time // of those
	last    *note     // that stands for them
}

// counter is a series that is reported with 0 once before it rises, since a
// counter that begins high shows no increase.
type counter struct {
	series *model.Series
	value  float64
	told   bool
}

func (c *counter) report(out *collectors.Out) {
	if !c.told {
		c.told = true
		out.Add(c.series, 0)
		return
	}
	out.Add(c.series, c.value)
}

// measure sums up a field.
type measure struct {
	sum, count counter
	max        *model.Series
	highest    float64 // since the last beat
}

func (m *measure) add(v float64) {
	m.sum.value += v
	m.count.value++
	m.highest = max(m.highest, v)
}

func (m *measure) report(out *collectors.Out) {
	if m.max == nil {
		return
	}
	told := m.count.told
	m.sum.report(out)
	m.count.report(out)
	if !told {
		out.Add(m.max, 0) // its value is told with the count that it belongs to
		return
	}
	out.Add(m.max, m.highest)
	m.highest = 0
}

// Bounds of what becomes events.
const (
	storedPerSecond = 3  // of one pattern in one log
	maxWaiting      = 60 // events of one log in one beat
	maxTallies      = 300
)

func newMatcher(s *Source, file *File) *matcher {
	return &matcher{source: s, file: file, found: map[string]*tally{}, clock: newClock(s, file)}
}

// newClock makes the clock by which a log's stamps are read.
func newClock(s *Source, file *File) *stamp.Clock {
	o := stamp.Options{Host: s.cfg.Host, Reference: s.now(), Boot: s.cfg.Boot}
	if zone, err := ParseZone(file.Zone); err == nil {
		o.Zone = zone
	}
	if !file.Changed.IsZero() {
		o.Reference = file.Changed
	}
	if file.Kind == KindGC { // it counts from the start of its JVM
		o.Boot = file.Began
	}
	c := stamp.NewClock(o)
	c.Known(file.zone)
	return c
}

// shown implements zoned.
func (m *matcher) shown() string {
	m.mu.Lock()
	defer m.mu.Unlock()
	if z := m.clock.Zone(); z.Proof == stamp.Observed || z.Proof == stamp.Proven {
		return z.Location.String()
	}
	return ""
}

// Line implements Consumer.
func (m *matcher) Line(l *Line) {
	if m.owed > 0 {
		m.follow(l)
	}
	if !m.source.inUse.Load().set.Match(l.Text, &m.hit) {
		if level := levelOf(l.Text); level != "" {
			m.source.unknown.add(l, level, m.source.now)
		}
		return
	}
	m.take(l)
}

// take counts a line that was recognised and keeps it, if there is room.
func (m *matcher) take(l *Line) {
	now := m.source.now()
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.file != l.File { // its process was started again
		m.file, m.found = l.File, map[string]*tally{}
	}
	t := m.tallyOf(m.hit.Pattern)
	if t == nil {
		return
	}
	t.matches.value++
	took, hasTook := m.hit.Duration()
	if hasTook {
		m.measured(&t.seconds, "seconds", t.pattern.ID).add(took.Seconds())
	}
	if waited, ok := m.hit.Waited(); ok {
		m.measured(&t.waited, "waited_seconds", t.pattern.ID).add(waited.Seconds())
	}
	size, hasSize := m.hit.Size()
	if hasSize {
		m.measured(&t.bytes, "bytes", t.pattern.ID).add(size)
	}
	if second := now.Truncate(time.Second); !second.Equal(t.second) {
		m.close(t)
		t.second, t.stored = second, 0
	}
	if t.pattern.Proof == model.ProofNoise {
		return
	}
	if t.stored >= storedPerSecond || len(m.lines) >= maxWaiting {
		t.more++
		t.until = now
		return
	}
	t.stored++
	n := m.noteOf(l, now)
	m.lines = append(m.lines, n)
	t.last = n
	m.owed = linesAfter
}

func (m *matcher) tallyOf(p *model.LogPattern) *tally {
	t := m.found[p.ID]
	if t == nil && len(m.found) < maxTallies {
		t = &tally{pattern: p, matches: counter{series: seriesOf("stallmark_log_matches_total", m.file, "pattern", p.ID)}}
		m.found[p.ID] = t
	}
	if t != nil {
		t.pattern = p // it may have been read again
	}
	return t
}

// measured makes the series of a field when there is one.
func (m *matcher) measured(to *measure, unit, pattern string) *measure {
	if to.max == nil {
		name := "stallmark_log_match_" + unit + "_"
		to.sum.series = seriesOf(name+"sum", m.file, "pattern", pattern)
		to.count.series = seriesOf(name+"count", m.file, "pattern", pattern)
		to.max = seriesOf(name+"max", m.file, "pattern", pattern)
	}
	return to
}

// close writes what was counted only onto the last event that was stored.
func (m *matcher) close(t *tally) {
	if t.more > 0 && t.last != nil {
		t.last.event.Count = 1 + t.more
		if t.until.After(t.last.event.To) && t.until.Sub(t.last.event.To) < time.Minute {
			t.last.event.To = t.until.UTC()
		}
	}
	t.more, t.last = 0, nil
}

// Report implements Reporter.
func (m *matcher) Report(out *collectors.Out) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, t := range m.sorted() {
		t.matches.report(out)
		t.seconds.report(out)
		t.waited.report(out)
		t.bytes.report(out)
		if !t.second.Add(time.Second).After(out.At()) {
			m.close(t)
		}
	}
	m.lines = slices.DeleteFunc(m.lines, func(n *note) bool {
		if n.beats++; n.beats < 2 || m.open(n) {
			return false
		}
		out.Event(n.done())
		return true
	})
}

// open reports whether an event may still come to stand for more lines.
func (m *matcher) open(n *note) bool {
	t := m.found[n.event.Attrs["pattern"]]
	return t != nil && t.last == n
}

// sorted lists the tallies in a fixed order, so that a beat's series are in the
// order of the beat before.
func (m *matcher) sorted() []*tally {
	list := make([]*tally, 0, len(m.found))
	for _, t := range m.found {
		list = append(list, t)
	}
	slices.SortFunc(list, func(a, b *tally) int { return cmp.Compare(a.pattern.ID, b.pattern.ID) })
	return list
}

// pidText is the pid label, empty without a process.
func pidText(f *File) string {
	if f.Pid == 0 {
		return ""
	}
	return strconv.Itoa(f.Pid)
}

// levels are the words by which a line says that it is a warning or worse.
var levels = []struct{ word, level string }{
	{"WARN", "warn"}, {"ERROR", "error"}, {"FATAL", "fatal"}, {"SEVERE", "error"},
}

// levelReach is how far into a line its level is looked for.
const levelReach = 96

// levelOf is the level of a line if it is a warning or worse, else empty. It
// allocates nothing.
func levelOf(line []byte) string {
	head := line[:min(len(line), levelReach)]
	for _, l := range levels {
		at := bytes.Index(head, []byte(l.word))
		if at < 0 || at > 0 && isLetter(head[at-1]) || calm(head[:at]) {
			continue
		}
		return l.level
	}
	return ""
}

// calm reports whether a line has said before that it is no warning.
func calm(head []byte) bool {
	return bytes.Contains(head, []byte("INFO")) || bytes.Contains(head, []byte("DEBUG")) || bytes.Contains(head, []byte("TRACE"))
}

func isLetter(b byte) bool { return b|0x20 >= 'a' && b|0x20 <= 'z' }

// ParseZone reads a zone as the user names it: "Asia/Shanghai", "UTC", "+08:00".
func ParseZone(name string) (*time.Location, error) {
	if name == "" {
		return nil, errNoZone
	}
	if strings.HasPrefix(name, "+") || strings.HasPrefix(name, "-") {
		t, err := time.Parse("-07:00", name)
		if err != nil {
			return nil, err
		}
		_, offset := t.Zone()
		return stamp.Fixed(time.Duration(offset) * time.Second), nil
	}
	return time.LoadLocation(name)
}
