package gclog

import (
	"bytes"
	"strings"
	"time"
)

// pauseLine reads what follows "Pause ": "Young (Normal) (G1 Evacuation Pause)
// 6M->6M(96M) 7.508ms". Without a duration it is the line that begins a pause.
func (p *Parser) pauseLine(id int64, b []byte, d *decorations) {
	length, text, ok := milliseconds(b)
	if !ok {
		return
	}
	pause := Pause{ID: id, Duration: length}
	heap, at := heapOf(text)
	pause.Heap = heap
	if at >= 0 {
		text = text[:at]
	}
	p.describe(&pause, text)
	if pause.Kind == KindOther && subPhase(text) {
		return
	}
	pause.Start = p.at(p.stampOf(d)).earlier(length)
	if p.evacuated == id {
		pause.EvacuationFailed, p.evacuated = true, -1
	}
	if p.upgraded == id {
		pause.Upgraded, p.upgraded = true, -1
	}
	if pause.Cause == "" {
		pause.Cause = p.causeOf(id)
	}
	p.ended(pause)
}

// subPhase reports the parts of a pause that ZGC prints with gc+phases=debug:
// "Roots Threads (ZWorker#0)", "Retire TLABS (VM Thread)".
func subPhase(text []byte) bool {
	for _, word := range [...]string{"Roots ", "Weak Roots ", "Retire ", "Remap "} {
		if bytes.HasPrefix(text, []byte(word)) {
			return true
		}
	}
	return bytes.Contains(text, []byte("(VM Thread)")) || bytes.Contains(text, []byte("Worker#"))
}

// causeOf is why the cycle with this id was begun.
func (p *Parser) causeOf(id int64) string {
	for _, c := range p.causes {
		if c.id == id {
			return c.cause
		}
	}
	return ""
}

// names of pauses, as HotSpot prints them after "Pause ". The first that fits
// counts.
var names = [...]struct {
	text      string
	kind      Kind
	collector string
}{
	{"Young", KindYoung, ""},
	{"Full", KindFull, ""},
	{"Incremental", KindYoung, ""}, // native images of GraalVM
	{"Remark", KindRemark, ""},
	{"Cleanup", KindCleanup, "G1"},
	{"Mixed", KindMixed, "G1"},
	{"Initial Mark", KindInitialMark, ""}, // with a cause: G1 of JDK 9 and 10
	{"Degenerated GC", KindDegenerated, "Shenandoah"},
	{"Init Mark", KindMarkStart, "Shenandoah"},
	{"Final Mark", KindMarkEnd, "Shenandoah"},
	{"Init Update", KindUpdateRefs, "Shenandoah"},
	{"Final Update", KindUpdateRefs, "Shenandoah"},
	{"Final Roots", KindFinalRoots, "Shenandoah"},
	{"Final Evac", KindFinalRoots, "Shenandoah"},
	{"Mark Start", KindMarkStart, "ZGC"},
	{"Mark End", KindMarkEnd, "ZGC"},
	{"Relocate Start", KindRelocateStart, "ZGC"},
}

// describe finds kind, cause and detail in "Young (Mixed) (G1 Evacuation Pause) ".
func (p *Parser) describe(pause *Pause, text []byte) {
	open := bytes.IndexByte(text, '(')
	name := text
	if open >= 0 {
		name = text[:open]
	}
	pause.Kind = KindOther
	for _, n := range names {
		if bytes.HasPrefix(name, []byte(n.text)) {
			pause.Kind = n.kind
			p.figures.collector(n.collector, false)
			break
		}
	}
	for open >= 0 {
		inside, rest, ok := group(text[open+1:])
		if !ok {
			return
		}
		p.parenthesis(pause, inside)
		text = rest
		open = bytes.IndexByte(text, '(')
	}
}

// parenthesis takes one "(...)" after the name of a pause.
func (p *Parser) parenthesis(pause *Pause, b []byte) {
	switch pause.Kind {
	case KindMarkStart, KindMarkEnd, KindRelocateStart, KindUpdateRefs, KindFinalRoots, KindDegenerated, KindOther:
		pause.Detail = p.join(pause.Detail, b)
		return
	}
	switch s := string(b); {
	case s == "Normal", s == "Prepare Mixed":
		if s != "Normal" {
			pause.Detail = p.join(pause.Detail, b)
		}
		p.figures.collector("G1", false)
	case s == "Mixed":
		pause.Kind = KindMixed
		p.figures.collector("G1", false)
	case s == "Concurrent Start":
		pause.Kind = KindConcurrentStart
		p.figures.collector("G1", false)
	case strings.HasPrefix(s, "Evacuation Failure"):
		pause.EvacuationFailed = true
		pause.Detail = p.join(pause.Detail, b)
	case len(b) > 0 && isDigit(b[0]) && b[len(b)-1] == 's': // (0.158s, 0.170s) of early builds
	case pause.Cause == "":
		pause.Cause = p.word(b)
		if pause.Kind == KindInitialMark {
			pause.Kind = KindConcurrentStart
		}
	default:
		pause.Detail = p.join(pause.Detail, b)
	}
}

// join appends to a detail.
func (p *Parser) join(detail string, b []byte) string {
	if detail == "" {
		return p.word(b)
	}
	return p.word(append(append([]byte(detail), "; "...), b...))
}

// stoppedText begins the line of a safepoint of JDK 6 to 12.
const stoppedText = "Total time for which application threads were stopped: "

// stoppedLine reads it: "... stopped: 0.0018727 seconds, Stopping threads took:
// 0.0002023 seconds". It is printed at the end of the stop.
func (p *Parser) stoppedLine(b []byte, end Moment) {
	total, n := decimal(b[len(stoppedText):])
	if n == 0 || !bytes.HasPrefix(b[len(stoppedText)+n:], []byte(" seconds")) {
		return
	}
	s := Safepoint{Operation: p.safepoint, Total: seconds(total), Reaching: -1}
	p.safepoint = ""
	const took = "Stopping threads took: "
	if at := bytes.Index(b, []byte(took)); at >= 0 {
		if v, k := decimal(b[at+len(took):]); k > 0 {
			s.Reaching = seconds(v)
		}
	}
	s.Start = end.earlier(s.Total)
	p.stopped(s)
}

// safepointLine reads what follows `Safepoint "` (JDK 13 and later): the name
// and a list of "key: nanoseconds ns", of which unknown keys are passed over.
func (p *Parser) safepointLine(b []byte, d *decorations) {
	quote := bytes.IndexByte(b, '"')
	if quote < 0 {
		return
	}
	s := Safepoint{Operation: p.word(b[:quote]), Total: -1, Reaching: -1}
	for rest := b[quote+1:]; len(rest) > 0; {
		var item []byte
		item, rest, _ = bytes.Cut(rest, []byte(", "))
		key, value, ok := bytes.Cut(item, []byte(": "))
		if !ok {
			continue
		}
		v, n := whole(value)
		if n == 0 || string(value[n:]) != " ns" {
			continue
		}
		switch string(key) {
		case "Reaching safepoint":
			s.Reaching = time.Duration(v)
		case "Total":
			s.Total = time.Duration(v)
		}
	}
	if s.Total < 0 {
		return // cut off
	}
	s.Start = p.at(p.stampOf(d)).earlier(s.Total)
	p.stopped(s)
}
