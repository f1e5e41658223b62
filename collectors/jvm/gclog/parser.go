package gclog

import (
	"bytes"
	"strings"
	"time"
)

// Parser reads one log, line by line. It keeps no lines: memory is bounded
// whatever is fed. Not for several goroutines at once.
type Parser struct {
	handler Handler
	figures Figures
	clock   clock
	now     time.Time // when the line at hand was read; zero for files
	line    int64
	jvm     int
	events  int64 // of this JVM

	// What is handed out stands here, so that nothing is allocated for it.
	stop  Safepoint
	wait  Stall
	cycle Cycle

	pending   []Pause // ended, but their processor times or safepoint may follow
	since     time.Time
	safepoint string // operation of the safepoint under way (JDK 11, 12)
	evacuated int64  // GC id of "To-space exhausted"; -1: none
	upgraded  int64  // GC id of "Cannot finish degeneration"
	// concurrent is the GC id of a concurrent phase that has just ended: CMS of JDK
	// 9 to 13 prints processor times for those too, which are no pause's.
	concurrent int64
	causes     [8]cycleCause
	nextCause  int
	words      map[string]string // causes, operations and threads, each kept once

	legacy legacyState
}

// cycleCause is why a concurrent cycle was begun: its pauses do not repeat it.
type cycleCause struct {
	id    int64
	cause string
}

// Option changes a new parser.
type Option func(*Parser)

// StartedAt tells when the JVM started, as /proc/PID/stat does, so that a log
// with uptimes only has times. A restart seen in the log ends it.
func StartedAt(start time.Time, slack time.Duration) Option {
	return func(p *Parser) { p.clock.start, p.clock.slack, p.clock.fixed = start, slack, true }
}

// NewParser makes a parser that hands what it finds to h.
func NewParser(h Handler, options ...Option) *Parser {
	p := &Parser{handler: h, jvm: 1, evacuated: -1, upgraded: -1, concurrent: -1, words: map[string]string{}}
	p.clock.last = -1
	p.figures.JVMs = 1
	for i := range p.causes {
		p.causes[i].id = -1
	}
	for _, o := range options {
		o(p)
	}
	return p
}

// maxPending bounds how many pauses wait for what follows them.
const maxPending = 32

// settleAfter is how long a pause of a live log waits for its processor times
// and its safepoint.
const settleAfter = time.Second

// Feed reads one line, with or without its end. now is when it was read, for
// logs that are being written; zero for files at rest. The line is not kept.
func (p *Parser) Feed(line []byte, now time.Time) {
	p.line++
	p.now = now
	p.figures.Lines++
	p.figures.Bytes += int64(len(line)) + 1
	line = bytes.TrimRight(line, "\r\n\x00 ")
	for len(line) > 0 && line[0] == 0 { // what truncating a log leaves (JDK 8)
		line = line[1:]
	}
	if len(line) == 0 {
		return
	}
	switch {
	case line[0] == '[' && p.unified(line):
	case bare(line):
		p.message(line, nil)
	case p.legacy.depth == 0 && p.prefixed(line):
	default:
		p.scanLegacy(line)
	}
}

// bare reports a unified line without any decoration.
func bare(line []byte) bool {
	switch line[0] {
	case 'G':
		return len(line) > 4 && string(line[:3]) == "GC(" && isDigit(line[3])
	case 'S':
		return bytes.HasPrefix(line, []byte(`Safepoint "`))
	case 'A':
		return bytes.HasPrefix(line, []byte("Allocation Stall ("))
	case 'R':
		return bytes.HasPrefix(line, []byte("Relocation Stall ("))
	case 'U':
		return bytes.HasPrefix(line, []byte("Using "))
	case 'I':
		return bytes.HasPrefix(line, []byte("Initializing "))
	case 'E':
		return bytes.HasPrefix(line, []byte("Entering safepoint region"))
	case 'O':
		return bytes.HasPrefix(line, []byte("Out Of Memory ("))
	}
	return false
}

// Tick tells the time without a line, so that what a live log has completed is
// handed out though nothing follows.
func (p *Parser) Tick(now time.Time) {
	switch {
	case len(p.pending) == 0:
	case p.since.IsZero(): // nobody knows when its line was read
		p.since = now
	case now.Sub(p.since) >= settleAfter:
		p.settle(nil)
	}
}

// Flush hands out what waits for more lines: at the end of a file.
func (p *Parser) Flush() { p.settle(nil) }

// Figures are the figures of all that was handed out so far.
func (p *Parser) Figures() *Figures { return &p.figures }

// newJVM begins another run of a JVM in the same log.
func (p *Parser) newJVM() {
	p.settle(nil)
	p.jvm++
	p.figures.JVMs++
	p.events = 0
	p.clock = clock{last: -1}
	p.evacuated, p.upgraded, p.concurrent, p.safepoint = -1, -1, -1, ""
	p.legacy.abandon()
	for i := range p.causes {
		p.causes[i].id = -1
	}
}

// at is the moment of the line at hand; it notices that a JVM was started again.
func (p *Parser) at(s stamp) Moment {
	if p.clock.restarted(s) {
		p.newJVM()
	}
	p.clock.see(s, p.now)
	return p.clock.moment(s, p.now)
}

// ended takes a pause whose line is complete.
func (p *Parser) ended(pause Pause) {
	pause.Line, pause.JVM = p.line, p.jvm
	p.events++
	if pause.ID == p.concurrent {
		p.concurrent = -1
	}
	p.absorb(&pause)
	if n := len(p.pending); n > 0 && (n >= maxPending || p.figures.Safepoints == 0 && p.figures.Pauses+int64(n) > maxPending) {
		p.release(nil, n)
	}
	if len(p.pending) == 0 {
		p.since = p.now
	}
	p.pending = append(p.pending, pause)
}

// absorb makes full collections that were reported inside this young one part of
// it (Serial and CMS of JDK 9 to 13 print the inner one first).
func (p *Parser) absorb(outer *Pause) {
	for outer.Kind == KindYoung || outer.Kind == KindFull {
		n := len(p.pending)
		if n == 0 {
			return
		}
		inner := &p.pending[n-1]
		if inner.Kind != KindFull || outer.ID < 0 || inner.ID <= outer.ID || inner.Duration > outer.Duration || !within(inner.Start, outer.Start) {
			return
		}
		outer.Kind = KindFull
		outer.CPU = inner.CPU
		p.figures.Nested++
		p.pending = p.pending[:n-1]
	}
}

// within reports whether a pause that began at inner may have begun inside one
// that began at outer; both have ended by now.
func within(inner, outer Moment) bool {
	switch {
	case inner.Uptime >= 0 && outer.Uptime >= 0:
		return inner.Uptime >= outer.Uptime-2*stampSlack
	case !inner.Wall.IsZero() && !outer.Wall.IsZero():
		return !inner.Wall.Before(outer.Wall.Add(-2 * stampSlack))
	}
	return true
}

// settle hands out all pending pauses; those that were in the safepoint s, if it
// is not nil, with that. It reports whether there were any.
func (p *Parser) settle(s *Safepoint) (held bool) { return p.release(s, len(p.pending)) }

func (p *Parser) release(s *Safepoint, n int) (held bool) {
	for i := range p.pending[:n] {
		pause := &p.pending[i]
		if s != nil && s.held(pause) {
			held = true
			pause.Stopped, pause.Reaching = s.Total, max(0, s.Reaching)
		}
		p.figures.pause(pause)
		if p.handler.Pause != nil {
			p.handler.Pause(pause)
		}
	}
	p.pending = append(p.pending[:0], p.pending[n:]...)
	return held
}

// held reports whether the pause was in this safepoint, whose line follows it.
func (s *Safepoint) held(p *Pause) bool {
	const slack = 10 * time.Millisecond // the lines are not printed at once
	if p.Duration > s.Total+stampSlack {
		return false
	}
	a, b := s.Start.Uptime-p.Start.Uptime, p.Start.Uptime+p.Duration-s.Start.Uptime-s.Total
	if s.Start.Uptime < 0 || p.Start.Uptime < 0 {
		if s.Start.Wall.IsZero() || p.Start.Wall.IsZero() {
			return s.Operation == "" || collecting(s.Operation)
		}
		a = s.Start.Wall.Sub(p.Start.Wall)
		b = p.Start.Wall.Add(p.Duration).Sub(s.Start.Wall.Add(s.Total))
	}
	return a <= slack && b <= slack
}

// stopped takes a safepoint whose line is complete.
func (p *Parser) stopped(s Safepoint) {
	s.Line, s.JVM = p.line, p.jvm
	p.events++
	p.stop = s
	p.stop.GC = p.settle(&p.stop) || collecting(s.Operation)
	p.figures.safepoint(&p.stop)
	if p.handler.Safepoint != nil {
		p.handler.Safepoint(&p.stop)
	}
}

// collecting reports whether a VM operation is one of a collector, by the names
// in HotSpot's vmOperation.hpp.
func collecting(operation string) bool {
	for _, word := range [...]string{"GC", "Collect", "G1", "CMS", "Shenandoah", "ZMark", "ZRelocate", "XMark", "XRelocate", "ZOperation", "ZVerify", "HeapWalk"} {
		if strings.Contains(operation, word) {
			return true
		}
	}
	return false
}

// cpu takes processor times; id is that of the collection, -1 if not printed.
func (p *Parser) cpu(id int64, c CPU) {
	for i := len(p.pending) - 1; i >= 0; i-- {
		if pause := &p.pending[i]; !pause.CPU.Known && (id < 0 || pause.ID == id) {
			pause.CPU = c
			p.figures.cpu(c)
			return
		}
	}
	if id >= 0 && id == p.concurrent {
		p.concurrent = -1
		return
	}
	p.figures.cpu(c)
}

// stall takes a thread's wait.
func (p *Parser) stall(s Stall) {
	s.Line, s.JVM = p.line, p.jvm
	p.events++
	p.wait = s
	p.figures.stall(&p.wait)
	if p.handler.Stall != nil {
		p.handler.Stall(&p.wait)
	}
}

// maxWords bounds how many different causes, operations and threads are kept.
const maxWords = 4096

// maxWord bounds each of them.
const maxWord = 200

// word makes a string of b without allocating for those seen before.
func (p *Parser) word(b []byte) string {
	if len(b) > maxWord {
		b = b[:maxWord]
	}
	if s, ok := p.words[string(b)]; ok {
		return s
	}
	s := string(bytes.ToValidUTF8(b, []byte("?")))
	if len(p.words) < maxWords {
		p.words[s] = s
	}
	return s
}
