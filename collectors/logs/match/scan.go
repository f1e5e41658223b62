package match

import (
	"bytes"
	"io"

	"stallmark/collectors/logs/stamp"
	"stallmark/storage/model"
)

// Record is a line that [Scanner] reports. Text and Hit are good until the
// function it is given to returns.
type Record struct {
	Line    int64 // from 1
	Text    []byte
	Hit     *Hit  // nil: no pattern recognises it
	Level   Level // of a line that no pattern recognises
	Stamp   stamp.Stamp
	Stamped bool // there is a stamp, its own or that of the record it belongs to
}

// Scanner goes through whole logs. Its functions are called in the order of the
// lines.
type Scanner struct {
	Set        *Set
	Recognised func(Record)
	Unknown    func(Record) // of each warning and error that no pattern recognises; may be nil

	warnings *Set
	hit      Hit
	warned   Hit
	counted  int   // the part of the block whose lines are counted
	lines    int64 // before that
	last     stamp.Stamp
	stamped  bool
}

const (
	blockSize = 1 << 20
	longLine  = 64 << 10 // how much is looked at of a line that no block can hold
)

// NewScanner makes a scanner for one log.
func NewScanner(set *Set) *Scanner {
	return &Scanner{Set: set, warnings: warningSet()}
}

// warningSet finds the lines that may call themselves warnings or errors.
func warningSet() *Set {
	literals := []string{"[warning]", "[error]", `"warn"`, `"warning"`, `"error"`, "SEVERE", "CRITICAL"}
	for _, word := range []string{"WARN", "ERROR", "FATAL"} {
		literals = append(literals, " "+word, "["+word, "|"+word, word+" ", `"`+word)
	}
	set, err := New([]model.LogPattern{{ID: "warning", Literals: literals, Regexp: "^"}})
	if err != nil {
		panic(err) // it is a constant
	}
	return set
}

// Scan reads a log to its end.
func (s *Scanner) Scan(r io.Reader) error {
	block := make([]byte, 0, blockSize)
	skipping := false
	for {
		n, err := io.ReadFull(r, block[len(block):cap(block)])
		block = block[:len(block)+n]
		final := err == io.EOF || err == io.ErrUnexpectedEOF
		if err != nil && !final {
			return err
		}
		if skipping {
			block, skipping = s.skip(block)
		}
		end := len(block)
		if !final {
			end = bytes.LastIndexByte(block, '\n') + 1
		}
		switch {
		case end > 0:
			s.block(block[:end])
		case len(block) == cap(block): // one line, longer than the block
			s.block(block[:longLine])
			end, skipping = len(block), true
		}
		if final {
			return nil
		}
		block = block[:copy(block, block[end:])]
	}
}

// skip drops the rest of a line that was too long.
func (s *Scanner) skip(block []byte) ([]byte, bool) {
	end := bytes.IndexByte(block, '\n')
	if end < 0 {
		return block[:0], true
	}
	s.lines++
	return block[:copy(block, block[end+1:])], false
}

// block looks at whole lines.
func (s *Scanner) block(text []byte) {
	s.counted = 0
	at := 0
	for s.Set.Next(text, at, &s.hit) {
		s.unknown(text, at, s.hit.Start)
		if s.Recognised != nil {
			r := s.record(text, s.hit.Start, s.hit.End)
			r.Hit = &s.hit
			s.Recognised(r)
		}
		at = s.hit.End + 1
	}
	s.unknown(text, min(at, len(text)), len(text))
	s.count(text, len(text))
	if last, ok := stamp.Before(text, bytes.LastIndexByte(text[:max(0, len(text)-1)], '\n')+1); ok {
		s.last, s.stamped = last, true
	}
}

// unknown reports the warnings between two positions at the beginnings of lines.
func (s *Scanner) unknown(text []byte, from, to int) {
	if s.Unknown == nil {
		return
	}
	for s.warnings.Next(text[:to], from, &s.warned) {
		if level := LevelOf(s.warned.Line); level != LevelNone {
			r := s.record(text, s.warned.Start, s.warned.End)
			r.Level = level
			s.Unknown(r)
		}
		from = s.warned.End + 1
	}
}

// record says where the line stands and when it was written.
func (s *Scanner) record(text []byte, start, end int) Record {
	s.count(text, start)
	r := Record{Line: s.lines + 1, Text: bytes.TrimSuffix(text[start:end], []byte("\r"))}
	if r.Stamp, r.Stamped = stamp.Before(text, start); !r.Stamped {
		r.Stamp, r.Stamped = s.last, s.stamped
	}
	return r
}

// count adds the lines up to a position.
func (s *Scanner) count(text []byte, to int) {
	s.lines += int64(bytes.Count(text[s.counted:to], []byte("\n")))
	s.counted = to
}

// Lines is how many line feeds were read, and Last the stamp of the last record.
func (s *Scanner) Lines() int64 { return s.lines }

// Last is the stamp of the last record that has one.
func (s *Scanner) Last() (stamp.Stamp, bool) { return s.last, s.stamped }
