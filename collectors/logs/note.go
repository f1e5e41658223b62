package logs

import (
	"bytes"
	"errors"
	"strconv"
	"strings"
	"time"

	"stallmark/collectors/logs/match"
	"stallmark/collectors/logs/stamp"
	"stallmark/storage/model"
)

var errNoZone = errors.New("no zone")

// What is kept of a line and its surroundings. The lines go into the event, and
// not only their place in the file: the file may be gone when it is looked at,
// and a snapshot must hold them.
const (
	maxText     = 1000 // bytes of a line
	maxAround   = 300  // bytes of each line around it
	linesBefore = 2
	linesAfter  = 3
)

// note is a line on its way to become an event.
type note struct {
	event model.Event
	after []string
	beats int // that it has waited
}

// done is the finished event.
func (n *note) done() model.Event {
	if len(n.after) > 0 {
		n.event.Attrs["after"] = strings.Join(n.after, "\n")
	}
	return n.event
}

// noteOf makes the event of the line that was just recognised.
func (m *matcher) noteOf(l *Line, now time.Time) *note {
	h := &m.hit
	attrs := map[string]string{
		"pattern": h.Pattern.ID, "product": h.Pattern.Product, "proof": string(h.Pattern.Proof),
		"source": l.File.Path, "offset": strconv.FormatInt(l.Offset, 10),
	}
	put(attrs, "process", l.File.Process)
	put(attrs, "pid", pidText(l.File))
	put(attrs, "part", l.Part)
	put(attrs, "origin", l.Origin)
	for _, f := range h.Fields {
		putField(attrs, f)
	}
	if attrs["thread"] == "" {
		put(attrs, "thread", cut(threadOf(l.Text), maxAround))
	}
	if l.Cut {
		attrs["cut"] = "true"
	}
	var before []string
	for _, line := range l.Before(linesBefore) {
		before = append(before, cut(line, maxAround))
	}
	put(attrs, "before", strings.Join(before, "\n"))
	e := model.Event{Kind: model.EventLog, Text: cut(l.Text, maxText), Attrs: attrs}
	m.when(l, now, &e)
	return &note{event: e}
}

// when gives the event its interval and says how sure it is.
func (m *matcher) when(l *Line, now time.Time, e *model.Event) {
	took, _ := m.hit.Duration()
	began, exact := m.hit.Began()
	span, ok := m.span(l, now, took, began, exact)
	if !ok {
		span = stamp.Span{From: now.UTC(), To: now.UTC(), Early: time.Second, Note: "the line has no time: that at which it was read"}
	}
	if exact {
		span = span.Lasted(took, began)
	} else if took > 0 {
		span = span.Lasted(took, time.Time{})
	}
	e.From, e.To = span.From.UTC(), span.To.UTC()
	e.Attrs["uncertainty_ms"] = strconv.FormatInt(max(span.Early, span.Late).Milliseconds(), 10)
	if span.Zone.Location != nil {
		put(e.Attrs, "zone", span.Zone.Location.String())
	}
	put(e.Attrs, "zone_why", span.Zone.Why)
	put(e.Attrs, "time_note", span.Note)
}

// span reads the line's time stamp, or that of the record that it belongs to.
func (m *matcher) span(l *Line, now time.Time, took time.Duration, began time.Time, exact bool) (stamp.Span, bool) {
	var s stamp.Stamp
	var ok bool
	if l.At.IsZero() {
		s, ok = stamp.Before(l.block, l.start)
	} else if s, ok = stamp.Find(l.Text); ok {
		s.Seen = l.At
	} else {
		return stamp.Span{From: l.At, To: l.At, Late: time.Millisecond, Zone: stamp.Zone{Location: time.UTC, Why: "by what carried the line"}}, true
	}
	if !ok {
		return stamp.Span{}, false
	}
	if exact {
		m.clock.SawStart(s, began, took)
	} else if l.live {
		m.clock.SawLive(s, now)
	}
	return m.clock.Resolve(s, m.hit.Pattern.Product)
}

// putField puts a field under its name; times are seconds, sizes bytes.
func putField(attrs map[string]string, f match.Field) {
	name, value := f.Name, cut(f.Text, maxAround)
	switch f.Name {
	case model.FieldDuration:
		name = "seconds"
	case model.FieldSize:
		name = "bytes"
	}
	if f.OK && f.Unit != model.UnitText && f.Unit != model.UnitEpochMillis {
		value = strconv.FormatFloat(f.Value, 'g', -1, 64)
	}
	if _, taken := attrs[name]; !taken {
		put(attrs, name, value)
	}
}

func put(attrs map[string]string, key, value string) {
	if value != "" {
		attrs[key] = value
	}
}

// cut is at most n bytes of a line as valid text.
func cut(line []byte, n int) string {
	line = bytes.TrimSuffix(line, []byte{'\r'})
	short := line
	if len(line) > n {
		short = line[:n]
	}
	text := strings.ToValidUTF8(strings.ReplaceAll(string(short), "\x00", ""), "\uFFFD")
	if len(line) > n {
		text += "..."
	}
	return text
}

// threadOf is the thread in a line as RocketMQ writes it: after the level and
// before " - ". Nil if it is not one.
func threadOf(line []byte) []byte {
	for _, level := range []string{" WARN ", " INFO ", " ERROR ", " DEBUG "} {
		head := line[:min(len(line), levelReach)]
		at := bytes.Index(head, []byte(level))
		if at < 0 {
			continue
		}
		rest := line[at+len(level):]
		end := bytes.Index(rest[:min(len(rest), 80)], []byte(" - "))
		if end <= 0 || bytes.IndexByte(rest[:end], ' ') >= 0 {
			return nil
		}
		return rest[:end]
	}
	return nil
}

// follow gives a line to the events that were stored just before it.
func (m *matcher) follow(l *Line) {
	m.owed--
	m.mu.Lock()
	defer m.mu.Unlock()
	for i := len(m.lines) - 1; i >= 0 && i >= len(m.lines)-linesAfter; i-- {
		if n := m.lines[i]; len(n.after) < linesAfter {
			n.after = append(n.after, cut(l.Text, maxAround))
		}
	}
}
