package gclog

import (
	"bytes"
	"time"
)

// decorations are the leading groups of a unified line.
type decorations struct {
	groups [maxGroups][]byte
	n      int
}

// maxGroups: there are twelve decorators.
const maxGroups = 12

// split takes the leading groups off a line: "[0.047s][info][gc,start ] text".
// ok is false where a group holds blanks inside, as legacy lines do.
func (d *decorations) split(line []byte) (message []byte, ok bool) {
	for len(line) > 0 && line[0] == '[' && d.n < maxGroups {
		end := bytes.IndexByte(line, ']')
		if end < 0 {
			return nil, false
		}
		group := bytes.TrimRight(line[1:end], " ")
		if bytes.IndexByte(group, ' ') >= 0 || bytes.IndexByte(group, '[') >= 0 {
			return line, d.n > 0
		}
		d.groups[d.n] = group
		d.n++
		line = line[end+1:]
	}
	if len(line) > 0 && line[0] == ' ' {
		line = line[1:]
	}
	return line, d.n > 0
}

// stamp reads the times among the decorations.
func (d *decorations) stamp() stamp {
	var s stamp
	for _, g := range d.groups[:d.n] {
		s.decoration(g)
	}
	return s
}

// unified reads a line with decorations; false if it has none.
func (p *Parser) unified(line []byte) bool {
	var d decorations
	message, ok := d.split(line)
	if ok {
		p.decorated(message, &d)
	}
	return ok
}

// prefixed reads a line with decorations that a container runtime or a collector
// of logs has put words in front of. One of the decorations must be a time or a
// level: others write brackets too.
func (p *Parser) prefixed(line []byte) bool {
	at := bytes.IndexByte(line, '[')
	if at <= 0 || line[at-1] != ' ' {
		return false
	}
	var d decorations
	message, ok := d.split(line[at:])
	if !ok || !d.known() {
		return false
	}
	p.decorated(message, &d)
	return true
}

// known reports whether there is a time or a level among the decorations.
func (d *decorations) known() bool {
	for _, g := range d.groups[:d.n] {
		switch string(g) {
		case "info", "debug", "trace", "warning", "error":
			return true
		}
	}
	s := d.stamp()
	return s.told || !s.wall.IsZero()
}

// decorated reads what follows the decorations.
func (p *Parser) decorated(message []byte, d *decorations) {
	if len(message) == 0 {
		return
	}
	if last := d.groups[d.n-1]; bytes.Equal(last, []byte("safepoint,stats")) {
		p.statistics(message)
		return
	}
	p.message(message, d)
}

// message reads the text of a unified line. The times are read only for the few
// lines that need them: from d, unless it is nil.
func (p *Parser) message(b []byte, d *decorations) {
	switch b[0] {
	case 'G':
		if bytes.HasPrefix(b, []byte("GC(")) {
			p.collection(b, d)
		}
	case 'S':
		if bytes.HasPrefix(b, []byte(`Safepoint "`)) {
			p.safepointLine(b[len(`Safepoint "`):], d)
		}
	case 'T':
		if bytes.HasPrefix(b, []byte(stoppedText)) {
			p.stoppedLine(b, p.at(p.stampOf(d)))
		}
	case 'E':
		if rest, ok := bytes.CutPrefix(b, []byte("Entering safepoint region: ")); ok {
			p.settle(nil)
			p.safepoint = p.word(rest)
		}
	case 'A':
		p.stallLine(b, []byte("Allocation Stall ("), false, d)
	case 'R':
		p.stallLine(b, []byte("Relocation Stall ("), true, d)
	case 'U', 'I':
		p.header(b, d)
	case 'V':
		if rest, ok := bytes.CutPrefix(b, []byte("Version: ")); ok && p.figures.Version == "" {
			p.figures.Version = p.word(rest)
		}
	case 'F':
		if bytes.HasPrefix(b, []byte("Failed to allocate ")) {
			p.figures.FailedAllocations++
		}
	case ' ', '0', '1', '2', '3', '4', '5', '6', '7', '8', '9':
		p.dropped(b)
	}
}

// stampOf reads the times of a line, if it has any.
func (p *Parser) stampOf(d *decorations) stamp {
	if d == nil {
		return stamp{}
	}
	return d.stamp()
}

// headers are the lines by which a JVM says what it uses.
var headers = [...]struct{ text, name string }{
	{"Using G1", "G1"},
	{"Using Serial", "Serial"},
	{"Using Parallel", "Parallel"},
	{"Using Concurrent Mark Sweep", "CMS"},
	{"Using Shenandoah", "Shenandoah"},
	{"Using The Z Garbage Collector", "ZGC"},
	{"Initializing The Z Garbage Collector", "ZGC"},
	{"Using Epsilon", "Epsilon"},
	{"Initializing Epsilon", "Epsilon"},
}

// header reads which collector runs. A second one is another JVM's.
func (p *Parser) header(b []byte, d *decorations) {
	for _, c := range headers {
		if string(b) != c.text && !(c.name == "ZGC" && bytes.HasPrefix(b, []byte(c.text))) {
			continue
		}
		s := p.stampOf(d)
		if p.events > 0 && !p.clock.restarted(s) {
			p.newJVM()
		}
		p.at(s)
		p.figures.collector(c.name, true)
		return
	}
}

// dropped reads "     34 messages dropped due to async logging".
func (p *Parser) dropped(b []byte) {
	b = bytes.TrimLeft(b, " ")
	n, k := whole(b)
	if k > 0 && bytes.HasPrefix(b[k:], []byte(" messages dropped due to async logging")) {
		p.figures.Dropped += n
	}
}

// collection reads "GC(7) ...".
func (p *Parser) collection(b []byte, d *decorations) {
	id, n := whole(b[3:])
	if n == 0 || len(b) < n+6 || b[n+3] != ')' || b[n+4] != ' ' {
		return
	}
	text := b[n+5:]
	if len(text) > 3 && text[1] == ':' && text[2] == ' ' && (text[0] == 'Y' || text[0] == 'y' || text[0] == 'O') {
		text = text[3:] // generational ZGC: young part of a major, minor, old part
	}
	switch text[0] {
	case 'P':
		if bytes.HasPrefix(text, []byte("Pause ")) {
			p.pauseLine(id, text[len("Pause "):], d)
		}
	case 'U':
		if bytes.HasPrefix(text, []byte("User=")) {
			p.cpuLine(id, text)
		}
	case 'T':
		if bytes.Equal(text, []byte("To-space exhausted")) {
			p.evacuated = id
		}
	case 'C':
		if bytes.HasPrefix(text, []byte("Cannot finish degeneration")) {
			p.upgraded = id
		} else if bytes.HasPrefix(text, []byte("Concurrent ")) && text[len(text)-1] == 's' {
			p.concurrent = id
		}
	case 'G', 'M':
		p.cycleLine(id, text, d)
	}
}

// cpuLine reads "User=0.00s Sys=0.01s Real=0.06s".
func (p *Parser) cpuLine(id int64, b []byte) {
	var v [3]time.Duration
	for i, key := range [...]string{"User=", "Sys=", "Real="} {
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
	p.cpu(id, CPU{true, v[0], v[1], v[2]})
}

// cycleLine reads "Garbage Collection (Warmup) 96M(100%)->38M(40%)": with sizes
// it is the end of a cycle of ZGC, without them the begin.
func (p *Parser) cycleLine(id int64, b []byte, d *decorations) {
	rest, garbage := bytes.CutPrefix(b, []byte("Garbage Collection ("))
	if !garbage {
		var minor, major bool
		if rest, minor = bytes.CutPrefix(b, []byte("Minor Collection (")); !minor {
			if rest, major = bytes.CutPrefix(b, []byte("Major Collection (")); !major {
				return
			}
		}
	}
	cause, after, ok := group(rest)
	if !ok {
		return
	}
	p.figures.collector("ZGC", false)
	heap, at := heapOf(after)
	why := p.word(cause)
	if at < 0 {
		p.causes[p.nextCause] = cycleCause{id, why}
		p.nextCause = (p.nextCause + 1) % len(p.causes)
		return
	}
	p.events++
	p.figures.Cycles++
	p.cycle = Cycle{Line: p.line, JVM: p.jvm, ID: id, Minor: b[0] == 'M' && b[1] == 'i', Cause: why, Heap: heap, Finish: p.at(p.stampOf(d))}
	p.figures.extent(p.cycle.Finish, 0)
	if p.handler.Cycle != nil {
		p.handler.Cycle(&p.cycle)
	}
}

// group reads up to the parenthesis that closes one already open.
func group(b []byte) (inside, rest []byte, ok bool) {
	depth := 1
	for i, c := range b {
		switch c {
		case '(':
			depth++
		case ')':
			if depth--; depth == 0 {
				return b[:i], b[i+1:], true
			}
		}
	}
	return nil, nil, false
}

// stallLine reads "Allocation Stall (Thread-4) 5.846ms".
func (p *Parser) stallLine(b, prefix []byte, relocation bool, d *decorations) {
	rest, ok := bytes.CutPrefix(b, prefix)
	if !ok {
		return
	}
	length, text, ok := milliseconds(rest)
	text = bytes.TrimRight(text, " ")
	if !ok || len(text) == 0 || text[len(text)-1] != ')' {
		return
	}
	s := Stall{Thread: p.word(text[:len(text)-1]), Relocation: relocation, Duration: length}
	s.Start = p.at(p.stampOf(d)).earlier(length)
	p.stall(s)
}

// milliseconds takes "5.846ms" off the end of b.
func milliseconds(b []byte) (d time.Duration, before []byte, ok bool) {
	body, ok := bytes.CutSuffix(b, []byte("ms"))
	if !ok {
		return 0, nil, false
	}
	v, at := decimalBefore(body)
	if at < 0 {
		return 0, nil, false
	}
	return millis(v), body[:at], true
}
