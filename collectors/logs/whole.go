package logs

import (
	"bytes"
	"time"

	"stallmark/collectors"
	"stallmark/collectors/jvm/gclog"
	"stallmark/collectors/logs/match"
	"stallmark/collectors/logs/stamp"
)

// Whole is logs at rest, several at once, on the axis of their own times: lines
// go to the same consumers as those of a live host, each before the first beat
// that is not earlier than it. Add the logs, then ask the source of
// [Whole.Source] at the times of [Whole.Beats].
type Whole struct {
	Notes  []string
	ZoneOf func(name string) *time.Location // as the user has set it; nil: none
	source *Source
	logs   []*restLog
	beside [2]time.Time // begin and end of what the logs were given with
}

// restLog is one of them.
type restLog struct {
	name   string
	kind   Kind
	data   []byte
	file   *File
	feeder *feeder // from Beats on
	clock  *stamp.Clock
	pos    int       // of the next line
	next   time.Time // its time, zero if it is not known yet
	timed  bool      // a line with a time has been seen
	latest time.Time // of the lines that were fed
	passed int64     // lines
	ends   []lineEnd // of the lines that are not passed yet
	// unplaced: its lines tell no time that is known, so that it stands beside no other.
	unplaced bool
}

// NewWhole makes an empty one.
func NewWhole(cfg SourceConfig) *Whole {
	cfg.Now = nil
	w := &Whole{source: NewSource(cfg)}
	w.source.whole = w
	return w
}

// Source is what is to be asked in every beat.
func (w *Whole) Source() *Source { return w.source }

// Len is the number of logs.
func (w *Whole) Len() int { return len(w.logs) }

// sampleOf bounds what of a file is looked at to tell what it is, in lines.
const sampleOf = 400

// sampleOfGC is how many for a GC log, which may print hundreds of lines before
// its first pause.
const sampleOfGC = 5000

// Add takes a file if it is a log, told by its content, and reports whether it
// did. The data is kept. changed is when it was last written to, zero if nobody
// knows: it tells zones, years and the start of a JVM.
func (w *Whole) Add(name string, data []byte, changed time.Time) bool {
	kind := kindOf(data)
	if kind == "" {
		return false
	}
	w.add(name, kind, data, changed)
	return true
}

// IsLog reports whether data is a log, as [Whole.Add] tells it.
func IsLog(data []byte) bool { return kindOf(data) != "" }

// HoldsGC reports whether the file that was added last is a GC log.
func (w *Whole) HoldsGC() bool { return len(w.logs) > 0 && w.logs[len(w.logs)-1].kind == KindGC }

// Latest is when the last line of interest was written, zero if no time is known.
func Latest(beats []time.Time) time.Time {
	if len(beats) == 0 {
		return time.Time{}
	}
	return beats[len(beats)-1].Add(-trailAfter)
}

// AddLines takes lines that may be of any log, if one of them is known.
func (w *Whole) AddLines(name string, data []byte, changed time.Time) bool {
	var hit match.Hit
	if w.source.cfg.Patterns == nil || !w.source.cfg.Patterns.Next(data, 0, &hit) {
		return false
	}
	w.add(name, KindText, data, changed)
	return true
}

func (w *Whole) add(name string, kind Kind, data []byte, changed time.Time) {
	file := &File{Path: name, Kind: kind, Role: w.productIn(data), Changed: changed}
	if w.ZoneOf != nil && w.ZoneOf(name) != nil {
		file.zone = stamp.Zone{Location: w.ZoneOf(name), Proof: stamp.Set, Why: "as set"}
	}
	w.logs = append(w.logs, &restLog{name: name, kind: kind, data: data, file: file, clock: newClock(w.source, file)})
}

// productIn is the product of the first line that a pattern knows.
func (w *Whole) productIn(data []byte) string {
	var hit match.Hit
	if w.source.cfg.Patterns == nil || !w.source.cfg.Patterns.Next(data, 0, &hit) {
		return ""
	}
	return hit.Pattern.Product
}

// kindOf tells what a file is by its first lines: a GC log has what its parser
// knows, another log has a time before most of its lines and says of some how bad
// they are. Empty for anything else.
func kindOf(data []byte) Kind {
	parser := gclog.NewParser(gclog.Handler{})
	lines, stamped, levels := 0, 0, 0
	for line := range bytes.Lines(data) {
		if lines++; lines > sampleOfGC {
			break
		}
		line = bytes.TrimRight(line, "\r\n")
		parser.Feed(line, time.Time{})
		if lines > sampleOf {
			continue
		}
		if len(line) == 0 || line[0] == ' ' || line[0] == '\t' {
			lines--
			continue
		}
		if s, ok := stamp.Find(line); ok && s.Kind != stamp.Uptime {
			stamped++
			if head := line[:min(len(line), levelReach)]; levelOf(line) != "" || calm(head) {
				levels++
			}
		}
	}
	parser.Flush()
	if f := parser.Figures(); f.Pauses+f.Safepoints+f.Cycles > 0 {
		return KindGC
	}
	if lines = min(lines, sampleOf); levels > 0 && 2*stamped >= lines {
		return KindText
	}
	return ""
}

// timeOf is a line's own time, if it has one.
func (l *restLog) timeOf(line []byte) (time.Time, bool) {
	s, ok := stamp.Find(line)
	if !ok {
		return time.Time{}, false
	}
	span, ok := l.clock.Resolve(s, l.file.Role)
	return span.From, ok
}

// Skip passes over what was written before a time. Call it after [Whole.Beats].
func (w *Whole) Skip(before time.Time) {
	for _, l := range w.logs {
		for l.pos < len(l.data) {
			line := firstLine(l.data[l.pos:])
			if t, ok := l.written(line); ok && !t.Before(before) {
				break
			}
			l.pos += len(line)
			l.pass()
		}
	}
}

// Fed names the logs of which a line with a time was fed.
func (w *Whole) Fed() []string {
	var names []string
	for _, l := range w.logs {
		if !l.latest.IsZero() {
			names = append(names, l.name)
		}
	}
	return names
}

// until feeds what was written up to a time.
func (w *Whole) until(at time.Time) {
	for _, l := range w.logs {
		l.until(at)
	}
}

func (l *restLog) until(at time.Time) {
	if l.next.After(at) || l.unplaced {
		return
	}
	end := l.pos
	for end < len(l.data) {
		line := firstLine(l.data[end:])
		if t, ok := l.written(line); ok {
			l.timed = true
			if t.After(at) {
				l.next = t
				break
			}
			l.latest = t
		}
		end += len(line)
		l.pass()
	}
	if end == l.pos {
		return
	}
	begin := max(0, l.pos-reread)
	l.feeder.feedAfter(l.data[begin:end], l.pos-begin, l.name, int64(l.pos), true)
	l.pos = end
}

// state gives coverage and series of every log.
func (w *Whole) state(s *Source, out *collectors.Out) error {
	states := make([]Status, 0, len(w.logs))
	for _, l := range w.logs {
		if !l.covers(out.At()) {
			continue
		}
		st := Status{File: l.file, Found: true, Bytes: int64(l.pos)}
		states = append(states, st)
		out.Cover(coverageOf(st))
		s.emit(out, st)
	}
	s.emitZeros(out, states)
	return nil
}
