package logs

import (
	"bytes"
	"fmt"
	"slices"
	"time"

	"stallmark/collectors"
	"stallmark/collectors/jvm/gclog"
	"stallmark/collectors/logs/match"
	"stallmark/collectors/logs/stamp"
	"stallmark/storage/model"
)

// Whole is logs at rest, several at once, on the axis of their own times: lines
// go to the same consumers as those of a live host, each before the first beat
// that is not earlier than it. Add the logs, then ask the source of
// [Whole.Source] at the times of [Whole.Beats].
type Whole struct {
	Notes  []string
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
			line := l.data[l.pos:]
			if n := bytes.IndexByte(line, '\n'); n >= 0 {
				line = line[:n+1]
			}
			if t, ok := l.timeOf(line); ok && !t.Before(before) {
				break
			}
			l.pos += len(line)
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
		line := l.data[end:]
		if n := bytes.IndexByte(line, '\n'); n >= 0 {
			line = line[:n+1]
		}
		if t, ok := l.timeOf(line); ok {
			l.timed = true
			if t.After(at) {
				l.next = t
				break
			}
			l.latest = t
		}
		end += len(line)
	}
	if end == l.pos {
		return
	}
	begin := max(0, l.pos-reread)
	l.feeder.feedAfter(l.data[begin:end], l.pos-begin, l.name, int64(l.pos), true)
	l.pos = end
}

// Bounds of the axis.
const (
	wholeStep  = time.Second
	leadBefore = time.Minute // before what is of interest: conditions look back
	trailAfter = 2 * time.Minute
	maxWhole   = 14_400 // beats
	worthPause = 100 * time.Millisecond
	maxMoments = 1 << 20
)

// Beats are the times at which the source is to be asked: every second around
// what the logs say of stalls, and none in the hours between.
func (w *Whole) Beats() []time.Time {
	moments := w.moments()
	slices.Sort(moments)
	moments = slices.Compact(moments)
	var beats []time.Time
	last := int64(0)
	for _, m := range moments {
		from := max(m-int64(leadBefore/time.Second), last+1)
		for s := from; s <= m+int64(trailAfter/time.Second); s++ {
			beats = append(beats, time.Unix(s, 0).UTC())
			last = s
		}
	}
	if n := len(beats); n > maxWhole {
		w.Notes = append(w.Notes, fmt.Sprintf("the logs tell of stalls in more than %v: those before %s are left out",
			time.Duration(maxWhole)*wholeStep, beats[n-maxWhole].Format(time.RFC3339)))
		beats = beats[n-maxWhole:]
	}
	return beats
}

// moments are the seconds at which a log says something of interest; without
// any, its last.
func (w *Whole) moments() []int64 {
	var list []int64
	for _, l := range w.logs {
		w.learn(l)
	}
	for _, l := range w.logs {
		before := len(list)
		if l.kind == KindGC {
			w.tie(l)
			list = l.pauses(list)
		} else {
			list = w.hits(l, list)
		}
		if len(list) == before {
			list = l.last(list)
		}
		if len(list) == before && !l.unplaced {
			w.Notes = append(w.Notes, l.name+": no times that tell when its lines were written")
		}
		l.clock = newClock(w.source, l.file) // it has been at the end
		l.feeder = newFeeder(l.file, w.source.Open(l.file))
	}
	return list
}

// hits adds the times of the lines that tell of a stall.
func (w *Whole) hits(l *restLog, list []int64) []int64 {
	var hit match.Hit
	for from := 0; w.source.cfg.Patterns != nil && from < len(l.data) && len(list) < maxMoments; from = hit.End + 1 {
		if !w.source.cfg.Patterns.Next(l.data, from, &hit) {
			break
		}
		if p := hit.Pattern.Proof; p != model.ProofDirect && p != model.ProofHint {
			continue
		}
		s, ok := stamp.Before(l.data, hit.Start)
		if !ok {
			continue
		}
		if span, ok := l.clock.Resolve(s, hit.Pattern.Product); ok {
			list = append(list, span.From.Unix())
		}
	}
	return list
}

// pauses adds the times of long pauses of a GC log.
func (l *restLog) pauses(list []int64) []int64 {
	take := func(m gclog.Moment, d time.Duration) {
		if d >= worthPause && !m.Wall.IsZero() && len(list) < maxMoments {
			list = append(list, m.Wall.Unix(), m.Wall.Add(d).Unix())
		}
	}
	var options []gclog.Option
	if !l.file.Began.IsZero() {
		options = append(options, gclog.StartedAt(l.file.Began, startSlack))
	}
	parser := gclog.NewParser(gclog.Handler{
		Pause:     func(p *gclog.Pause) { take(p.Start, p.Duration) },
		Safepoint: func(s *gclog.Safepoint) { take(s.Start, s.Total) },
		Stall:     func(s *gclog.Stall) { take(s.Start, s.Duration) },
	}, options...)
	for line := range bytes.Lines(l.data) {
		parser.Feed(line, time.Time{})
	}
	parser.Flush()
	return list
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
