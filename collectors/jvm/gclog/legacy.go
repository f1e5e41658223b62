package gclog

import (
	"bytes"
	"time"
)

// A legacy entry is what stands between a bracket and the one that closes it:
// "STAMP: [GC (cause) [ParNew: ...] 7M->2M(9M), 0.5437135 secs] [Times: ...]". It
// may go over many lines, hold entries inside, and be cut by what a concurrent
// thread prints at any place; that is balanced too and stands inside.

// legacyState is an entry that is not closed yet, and what the last one was.
type legacyState struct {
	depth int
	start stamp
	lines int
	form  form
	top   []byte // the entry's own text: what is in brackets inside it is left out
	old   bool   // the old generation was collected
	mark  Kind   // CMS: initial mark or remark; else empty
	bad   bool   // promotion failed
	cmf   bool   // concurrent mode failure or interruption

	skipTimes bool // the next times are of a concurrent phase
	heapDue   bool // the pause's heap follows (G1)
}

// maxEntryLines and maxEntryText bound an entry: one that goes on for longer
// lost its end.
const (
	maxEntryLines = 5000
	maxEntryText  = 4096
)

// form is what an entry at top level is.
type form int

const (
	formOther      form = iota
	formYoung           // [GC
	formG1              // [GC pause
	formFull            // [Full GC
	formRemark          // [GC remark
	formCleanup         // [GC cleanup
	formConcurrent      // [GC concurrent-, [CMS-concurrent-, [Concurrent
	formPause           // [Pause (Shenandoah of JDK 8)
	formTimes           // [Times:
	formEden            // [Eden:
)

// stops reports whether an entry is a stop-the-world pause.
func (f form) stops() bool { return f >= formYoung && f <= formCleanup || f == formPause }

// forms are how entries begin.
var forms = [...]struct {
	text string
	form form
}{
	{"GC concurrent", formConcurrent},
	{"GC Worker", formOther}, // G1's details
	{"GC pause", formG1},
	{"GC remark", formRemark},
	{"GC cleanup", formCleanup},
	{"Full GC", formFull},
	{"GC", formYoung},
	{"Times:", formTimes},
	{"Eden:", formEden},
	{"CMS-concurrent", formConcurrent},
	{"ASCMS-concurrent", formConcurrent}, // with adaptive sizes, JDK 6
	{"Concurrent ", formConcurrent},
	{"Pause ", formPause},
}

func formOf(head []byte) form {
	for _, f := range forms {
		if !bytes.HasPrefix(head, []byte(f.text)) {
			continue
		}
		if f.form == formYoung && len(head) > 2 && (isLetter(head[2]) || head[2] == ',' || head[2] == ']') &&
			!bytes.HasPrefix(head, []byte("GCBefore GC:")) { // -XX:PrintFLSStatistics, JDK 7
			continue // [GC] of another program, [GCLocker
		}
		return f.form
	}
	return formOther
}

func isLetter(c byte) bool { return 'a' <= c|0x20 && c|0x20 <= 'z' }

func (l *legacyState) abandon() {
	l.depth, l.lines, l.top = 0, 0, l.top[:0]
	l.form, l.old, l.mark, l.bad, l.cmf = formOther, false, "", false, false
}

// scanLegacy reads a line that is not of the unified log.
func (p *Parser) scanLegacy(line []byte) {
	l := &p.legacy
	if l.depth > 0 {
		if foreign(line) {
			return
		}
		if l.lines++; l.lines > maxEntryLines || l.replaced(line) {
			p.figures.Damaged++
			l.abandon()
		}
		l.flags(line)
	}
	if p.legacyText(line) {
		return
	}
	text := 0 // where the text at hand begins
	for i := 0; i < len(line); i++ {
		switch line[i] {
		case '[':
			if bytes.HasPrefix(line[i+1:], []byte("0x")) {
				continue // an address range of -XX:+PrintHeapAtGC
			}
			if l.depth == 0 {
				p.openEntry(line[text:i], line[i+1:])
			} else {
				l.inner(line[text:i], line[i+1:])
			}
			l.depth++
			text = i + 1
		case ']':
			if l.depth > 0 {
				if l.depth == 1 {
					l.add(line[text:i])
					p.closeEntry(line[text:i])
				}
				l.depth--
			}
			text = i + 1
		}
	}
	switch {
	case l.depth == 0:
	case !l.form.stops():
		l.abandon()
	case l.depth == 1:
		l.add(line[text:])
	}
}

// foreign reports lines of others that fall into an entry: those that begin with
// a date and a blank, as log frameworks and the JVM's own notes about rotation
// write it, where a stamp of a GC line has a T.
func foreign(line []byte) bool {
	return len(line) > 19 && isDigit(line[0]) && line[4] == '-' && line[7] == '-' && line[10] == ' ' && line[13] == ':'
}

// replaced reports whether a line begins another pause though the one at hand
// has not ended: its end is lost. Inside a remark a young collection is in order.
func (l *legacyState) replaced(line []byte) bool {
	open := bytes.IndexByte(line, '[')
	if open < 0 || l.mark == KindRemark || !formOf(line[open+1:]).stops() {
		return false
	}
	if open == 0 {
		return true
	}
	var s stamp
	s.legacy(line[:open])
	// A stamp that stands at the very beginning, and nothing before it.
	return (s.told || !s.wall.IsZero()) && isDigit(line[0])
}

// legacyText reads lines that are no entries; false for all others. Most lines
// are told by their first or last byte.
func (p *Parser) legacyText(line []byte) bool {
	if bytes.HasSuffix(line, []byte(" seconds")) {
		at := bytes.Index(line, []byte(stoppedText))
		if at < 0 {
			return false
		}
		var s stamp
		s.legacy(line[:at])
		if !s.told && s.wall.IsZero() && at > 0 {
			return true // half a line
		}
		p.stoppedLine(line[at:], p.at(s))
		return true
	}
	if rest, ok := bytes.CutPrefix(line, []byte("CommandLine flags: ")); ok {
		p.commandLine(rest)
		return true
	}
	if !isLetter(line[0]) {
		return isDigit(line[len(line)-1]) && p.statistics(line)
	}
	if at := bytes.Index(line, []byte(" JRE (")); at >= 0 && bytes.Contains(line[:at], []byte("VM (")) {
		if version, _, ok := group(line[at+len(" JRE ("):]); ok && p.figures.Version == "" {
			p.figures.Version = p.word(version)
		}
		return true
	}
	return isDigit(line[len(line)-1]) && p.statistics(line)
}

// commandLine finds the collector in the flags that a legacy log begins with.
func (p *Parser) commandLine(flags []byte) {
	for _, f := range [...]struct{ flag, name string }{
		{"-XX:+UseG1GC", "G1"},
		{"-XX:+UseConcMarkSweepGC", "CMS"},
		{"-XX:+UseParallelOldGC", "Parallel"},
		{"-XX:+UseParallelGC", "Parallel"},
		{"-XX:+UseSerialGC", "Serial"},
		{"-XX:+UseShenandoahGC", "Shenandoah"},
	} {
		if bytes.Contains(flags, []byte(f.flag)) {
			p.figures.collector(f.name, bytes.Contains(flags, []byte("-XX:+PrintGC")))
			return
		}
	}
}

// openEntry begins an entry at top level; before is the text in front of it.
func (p *Parser) openEntry(before, head []byte) {
	l := &p.legacy
	l.abandon()
	l.form = formOf(head)
	l.start = stamp{}
	if l.form.stops() {
		l.start.legacy(before)
		l.flags(head)
	}
}

// add keeps text of the entry itself.
func (l *legacyState) add(b []byte) {
	if !l.form.stops() {
		return
	}
	if len(l.top)+len(b) > maxEntryText {
		keep := len(l.top) / 2
		l.top = append(l.top[:keep/2], l.top[len(l.top)-keep/2:]...)
		b = b[max(0, len(b)-maxEntryText/4):]
	}
	l.top = append(append(l.top, b...), ' ')
}

// inner takes a bracket inside an entry.
func (l *legacyState) inner(before, head []byte) {
	if l.depth != 1 {
		return
	}
	l.add(before)
	head = bytes.TrimPrefix(head, []byte("AS")) // ASCMS: with adaptive sizes, JDK 6
	switch {
	case bytes.HasPrefix(head, []byte("CMS-concurrent")):
	case bytes.HasPrefix(head, []byte("CMS Perm")):
	case bytes.HasPrefix(head, []byte("CMS")), bytes.HasPrefix(head, []byte("Tenured")),
		bytes.HasPrefix(head, []byte("ParOldGen")), bytes.HasPrefix(head, []byte("PSOldGen")):
		l.old = true
	case bytes.HasPrefix(head, []byte("1 CMS-initial-mark")), bytes.HasPrefix(head, []byte("1 ASCMS-initial-mark")):
		l.mark = KindInitialMark
	case bytes.HasPrefix(head, []byte("1 CMS-remark")), bytes.HasPrefix(head, []byte("1 ASCMS-remark")), bytes.HasPrefix(head, []byte("YG occupancy")):
		l.mark = KindRemark
	}
}

// flags notices what a line of the entry says in passing.
func (l *legacyState) flags(line []byte) {
	if l.form == formG1 {
		return
	}
	if bytes.Contains(line, []byte("promotion failed")) {
		l.bad = true
	}
	if bytes.Contains(line, []byte("concurrent mode ")) {
		l.cmf = true
	}
}

// closeEntry ends an entry at top level; tail is the text before its bracket.
func (p *Parser) closeEntry(tail []byte) {
	l := &p.legacy
	switch {
	case l.form.stops():
		p.closePause()
	case l.form == formConcurrent:
		// Only those of CMS have times, and only where they end.
		cms := bytes.HasPrefix(bytes.TrimPrefix(tail, []byte("AS")), []byte("CMS-concurrent"))
		l.skipTimes = cms && bytes.Contains(tail, []byte(" secs"))
	case l.form == formTimes:
		p.timesEntry(tail)
	case l.heapDue && (l.form == formEden || bytes.Contains(tail, []byte("->")) && tail[0] == ' '):
		p.edenEntry(tail)
	}
}

// timesEntry reads "Times: user=1.92 sys=0.20, real=0.55 secs".
func (p *Parser) timesEntry(b []byte) {
	if p.legacy.skipTimes {
		p.legacy.skipTimes = false
		return
	}
	var v [3]time.Duration
	for i, key := range [...]string{"user=", "sys=", "real="} {
		at := bytes.Index(b, []byte(key))
		if at < 0 {
			return
		}
		b = b[at+len(key):]
		n, k := decimal(b)
		if k == 0 {
			return
		}
		v[i] = seconds(n)
	}
	p.cpu(-1, CPU{true, v[0], v[1], v[2]})
}

// edenEntry reads "Eden: ... Heap: 92.7M(119.0M)->97.0M(128.0M)" of the pause
// before, or " 68M->62M(126M)" (JDK 6).
func (p *Parser) edenEntry(b []byte) {
	p.legacy.heapDue = false
	at := max(0, bytes.Index(b, []byte("Heap: ")))
	if at == 0 && p.legacy.form == formEden || len(p.pending) == 0 {
		return
	}
	if h, ok := heapOf(b[at:]); ok >= 0 {
		p.pending[len(p.pending)-1].Heap = h
	}
}
