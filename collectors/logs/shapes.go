package logs

import (
	"cmp"
	"maps"
	"slices"
	"sync"
	"time"

	"stallmark/collectors"
	"stallmark/storage/model"
)

// shapes counts the warnings and errors that no pattern knows, by what they have
// in common when numbers, addresses and names with numbers are left out.
type shapes struct {
	mu     sync.Mutex
	table  map[string]*Shape
	buf    []byte
	missed int64 // lines of shapes for which there was no room
	told   time.Time
}

// Shape is a kind of line that no pattern knows.
type Shape struct {
	Text    string // with # for what varies
	Level   string // warn, error or fatal
	Example string
	Source  string // the log in which it was last seen
	Process string
	Count   int64
	First   time.Time // when it was read
	Last    time.Time
	told    int64 // of Count, in events
}

// Bounds of the table.
const (
	maxShapes   = 500
	maxShape    = 200 // bytes
	tellEvery   = time.Minute
	maxTold     = 20 // shapes in one event each, at a time
	maxShapeRaw = 512
)

func newShapes() *shapes { return &shapes{table: map[string]*Shape{}} }

// add counts a line. For a shape that is in the table it allocates nothing.
func (s *shapes) add(l *Line, level string, now func() time.Time) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.buf = appendShape(s.buf[:0], l.Text[:min(len(l.Text), maxShapeRaw)])
	sh := s.table[string(s.buf)]
	if sh == nil {
		if len(s.table) >= maxShapes && !s.makeRoom() {
			s.missed++
			return
		}
		text := cut(s.buf, maxShape)
		sh = &Shape{Text: text, Level: level, Example: cut(l.Text, maxText), First: now()}
		s.table[string(s.buf)] = sh
	}
	sh.Count++
	sh.Last = now()
	sh.Source, sh.Process = l.File.Path, l.File.Process
}

// makeRoom drops what was seen once only, if there is any.
func (s *shapes) makeRoom() bool {
	before := len(s.table)
	maps.DeleteFunc(s.table, func(_ string, sh *Shape) bool { return sh.Count == 1 })
	return len(s.table) < before
}

// Unknown lists the warnings that no pattern knows, most frequent first.
func (s *Source) Unknown() []Shape {
	s.unknown.mu.Lock()
	defer s.unknown.mu.Unlock()
	var list []Shape
	for _, sh := range s.unknown.table {
		list = append(list, *sh)
	}
	slices.SortFunc(list, func(a, b Shape) int {
		return cmp.Or(cmp.Compare(b.Count, a.Count), cmp.Compare(a.Text, b.Text))
	})
	return list
}

// report makes an event of each shape that has been seen since the last time,
// the most frequent ones, once a minute.
func (s *shapes) report(out *collectors.Out) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.told.IsZero() && out.At().Sub(s.told) < tellEvery || len(s.table) == 0 {
		return
	}
	s.told = out.At()
	var grown []*Shape
	for _, sh := range s.table {
		if sh.Count > sh.told {
			grown = append(grown, sh)
		}
	}
	slices.SortFunc(grown, func(a, b *Shape) int {
		return cmp.Or(cmp.Compare(b.Count-b.told, a.Count-a.told), cmp.Compare(a.Text, b.Text))
	})
	for _, sh := range grown[:min(len(grown), maxTold)] {
		attrs := map[string]string{"shape": sh.Text, "level": sh.Level, "source": sh.Source}
		put(attrs, "process", sh.Process)
		out.Event(model.Event{
			From: sh.First.UTC(), To: sh.Last.UTC(), Kind: model.EventLog, Text: sh.Example, Attrs: attrs, Count: int(sh.Count - sh.told),
		})
		sh.told = sh.Count
		sh.First = sh.Last
	}
}

// appendShape writes a line with # for every word that has a digit in it, for
// quoted text and for what stands in brackets after a number, and with the time
// stamp left out.
func appendShape(to, line []byte) []byte {
	hash := func() {
		if n := len(to); n == 0 || to[n-1] != '#' {
			to = append(to, '#')
		}
	}
	for i := 0; i < len(line) && len(to) < maxShape; {
		end := i
		digits, letters := false, false
		for end < len(line) && inWord(line[end]) {
			digits = digits || line[end] >= '0' && line[end] <= '9'
			letters = letters || isLetter(line[end])
			end++
		}
		switch {
		case digits:
			hash()
			i = end
		case end > i && letters:
			to = append(to, line[i:end]...)
			i = end
		case end > i:
			to = append(to, line[i:end]...)
			i = end
		default:
			if c := line[i]; c == ' ' || c == ',' || c == '.' || c == ':' {
				if n := len(to); n > 0 && to[n-1] == '#' && joinsNumbers(line, i) {
					i++
					continue
				}
			}
			to = append(to, line[i])
			i++
		}
	}
	return to[:min(len(to), maxShape)]
}

// joinsNumbers reports whether a digit follows, so that a time stamp, an address
// or a version is one #.
func joinsNumbers(line []byte, i int) bool {
	return i+1 < len(line) && line[i+1] >= '0' && line[i+1] <= '9'
}

// inWord reports whether a byte belongs to a word, a number or an identifier;
// what is not ASCII does.
func inWord(b byte) bool {
	return isLetter(b) || b >= '0' && b <= '9' || b == '_' || b == '-' || b == '@' || b == '$' || b == '%' || b >= 0x80
}
