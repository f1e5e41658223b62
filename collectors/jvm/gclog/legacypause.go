package gclog

import "bytes"

// closePause ends a stop-the-world entry: l.top is its own text.
func (p *Parser) closePause() {
	l := &p.legacy
	top := bytes.TrimRight(l.top, " ")
	pause := Pause{ID: -1}
	if l.form == formPause {
		p.shenandoahPause(&pause, top)
		return
	}
	body, ok := bytes.CutSuffix(top, []byte(" secs"))
	if !ok {
		p.figures.Damaged++
		return
	}
	v, at := decimalBefore(body)
	if at < 0 {
		p.figures.Damaged++
		return
	}
	pause.Duration = seconds(v)
	p.legacyKind(&pause, top[:at])
	pause.Heap, _ = heapOf(top[:at])
	pause.PromotionFailed = pause.PromotionFailed || l.bad
	pause.ConcurrentFailed = l.cmf
	pause.Start = p.at(l.start)
	if pause.Start.Clock == ClockArrival { // the line is written at the end
		pause.Start = pause.Start.earlier(pause.Duration)
	}
	p.ended(pause)
	l.skipTimes = false
	l.heapDue = pause.Heap.After == Unknown && (l.form == formG1 || l.form == formFull)
}

// shenandoahPause reads "Pause Final Mark (process weakrefs), 1.983 ms", whose
// stamp is that of its end. With "start" it is the line that begins one.
func (p *Parser) shenandoahPause(pause *Pause, top []byte) {
	body, ok := bytes.CutSuffix(top, []byte(" ms"))
	if !ok {
		return
	}
	v, at := decimalBefore(body)
	if at < 0 {
		return
	}
	pause.Duration = millis(v)
	text := bytes.TrimRight(body[:at], ", ")
	heap, start := heapOf(text)
	pause.Heap = heap
	if start >= 0 {
		text = text[:start]
	}
	p.figures.collector("Shenandoah", false)
	p.describe(pause, bytes.TrimPrefix(text, []byte("Pause ")))
	pause.Start = p.at(p.legacy.start).earlier(pause.Duration)
	p.ended(*pause)
}

// legacyKind finds the kind and the cause in the own text of an entry: "GC pause
// (G1 Evacuation Pause) (young) (initial-mark), ".
func (p *Parser) legacyKind(pause *Pause, text []byte) {
	l := &p.legacy
	switch l.form {
	case formFull:
		pause.Kind = KindFull
		text = text[len("Full GC"):]
	case formG1:
		pause.Kind = KindYoung
		text = text[len("GC pause"):]
		p.figures.collector("G1", false)
	case formRemark:
		pause.Kind = KindRemark
		return
	case formCleanup:
		pause.Kind = KindCleanup
		p.figures.collector("G1", false)
		return
	default:
		pause.Kind = KindYoung
		text = text[len("GC"):]
	}
	p.legacyGroups(pause, text)
	switch {
	case l.mark != "":
		pause.Kind = l.mark
		p.figures.collector("CMS", false)
	case l.old && l.form == formYoung, l.cmf:
		pause.Kind = KindFull
	}
}

// legacyGroups reads what follows the name: the cause in parentheses, then what
// G1 says of the pause, and "--" of the parallel collector, a failed promotion.
func (p *Parser) legacyGroups(pause *Pause, text []byte) {
	first := true
	for {
		text = bytes.TrimLeft(text, " ")
		if rest, ok := bytes.CutPrefix(text, []byte("--")); ok { // JDK 8 prints the cause first
			pause.PromotionFailed = true
			text = rest
			continue
		}
		if len(text) == 0 {
			return
		}
		if text[0] != '(' {
			// What was printed in between: the rest may follow it.
			at := bytes.IndexByte(text, '(')
			if at < 0 || p.legacy.form != formG1 {
				return
			}
			text, first = text[at:], false
		}
		inside, rest, ok := group(text[1:])
		if !ok {
			return
		}
		p.legacyGroup(pause, inside, first)
		text, first = rest, false
	}
}

func (p *Parser) legacyGroup(pause *Pause, b []byte, first bool) {
	switch string(b) {
	case "young":
	case "mixed", "partial":
		pause.Kind = KindMixed
	case "initial-mark":
		if p.legacy.form == formG1 {
			pause.Kind = KindConcurrentStart
		}
	case "to-space exhausted", "to-space overflow":
		pause.EvacuationFailed = true
	case "CMS Initial Mark":
		pause.Kind, p.legacy.mark = KindInitialMark, KindInitialMark
	case "CMS Final Remark":
		pause.Kind, p.legacy.mark = KindRemark, KindRemark
	default:
		if first {
			pause.Cause = p.word(b)
		}
	}
}
