package storage

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/klauspost/compress/zstd"

	"stallmark/storage/model"
)

// segment is what becomes one block: a span of the child's head, the notes that
// came meanwhile, and the journals that hold both.
type segment struct {
	span     *span // nil while there are only notes, and once spilled
	notes    [][]byte
	journals []journalFile
	open     *journal // the one being written; nil after a failure
	beatSeq  uint64   // numbers that follow its newest beat and note
	noteSeq  uint64
	safe     bool // all of it is in its journals
	halfway  bool // its journal has been synced in the middle of the minute
	spilled  bool // and no longer in memory
}

// journalFile is a journal beside the file. Numbers grow with time.
type journalFile struct {
	number int
	path   string
}

// newest is the number of the segment's last journal.
func (s *segment) newest() int {
	n := 0
	for _, j := range s.journals {
		n = max(n, j.number)
	}
	return n
}

// content is what is to be stored.
func (s *segment) content(h *head) (minute, [][]byte) {
	if s.span == nil {
		return minute{}, s.notes
	}
	return h.minute(s.span), s.notes
}

// reread is the content of a segment that is no longer in memory.
func (s *segment) reread() (minute, [][]byte, error) {
	r := &rereader{head: newHead(0)}
	for _, j := range s.journals {
		if err := readJournal(j.path, r); err != nil && !errors.Is(err, errTorn) {
			return minute{}, nil, err
		}
	}
	seg := segment{span: r.head.newest(), notes: r.notes}
	m, notes := seg.content(r.head)
	return m, notes, nil
}

// rereader takes the records of a segment's journals.
type rereader struct {
	head  *head
	notes [][]byte
}

func (r *rereader) beat(b model.Batch, fresh bool) { r.head.appendFrom(b, fresh) }

func (r *rereader) note(b []byte) { r.notes = append(r.notes, b) }

// findJournals lists the journals beside the file, oldest first.
func findJournals(path string) ([]journalFile, error) {
	entries, err := os.ReadDir(filepath.Dir(path))
	if err != nil {
		return nil, err
	}
	var found []journalFile
	prefix := filepath.Base(path) + ".journal."
	for _, e := range entries {
		number, ok := strings.CutPrefix(e.Name(), prefix)
		if n, err := strconv.Atoi(number); ok && err == nil {
			found = append(found, journalFile{n, filepath.Join(filepath.Dir(path), e.Name())})
		}
	}
	slices.SortFunc(found, func(a, b journalFile) int { return cmp.Compare(a.number, b.number) })
	return found, nil
}

// segments are the segments that are not in the file yet, oldest first; the
// last one grows. It is for one goroutine.
type segments struct {
	path string
	head *head
	zstd *zstd.Encoder
	list []*segment
	next int // number of the next journal
	row  beatRow
}

// last is the segment that grows, begun if there is none.
func (s *segments) last() *segment {
	if len(s.list) == 0 {
		s.list = append(s.list, &segment{safe: true})
	}
	return s.list[len(s.list)-1]
}

// beat takes a beat into the head and its segment. It is false if the head did
// not take it, which is so for a beat that had been taken before.
func (s *segments) beat(b model.Batch, fresh bool) bool {
	if !s.head.appendFrom(b, fresh) {
		return false
	}
	sp := s.head.newest()
	seg := s.last()
	if seg.span != nil && seg.span != sp {
		seg = &segment{safe: true}
		s.list = append(s.list, seg)
	}
	seg.span = sp
	return true
}

// journalBeat writes the newest beat to the segment's journal.
func (s *segments) journalBeat(seg *segment) error {
	return s.write(seg, func(j *journal) error {
		n := len(seg.span.times) - 1
		s.head.mu.RLock()
		seg.span.take(n, &s.row)
		s.head.mu.RUnlock()
		return j.beat(s.row.at, s.row.fresh, s.row.vals)
	})
}

// journalNote writes the newest note to the segment's journal.
func (s *segments) journalNote(seg *segment) error {
	return s.write(seg, func(j *journal) error { return j.note(seg.notes[len(seg.notes)-1]) })
}

// write writes to the segment's journal. If there is none, or the last one
// failed, a new one is begun with all that the segment has.
func (s *segments) write(seg *segment, newest func(*journal) error) error {
	if seg.open != nil {
		err := newest(seg.open)
		if err == nil {
			return nil
		}
		s.closeJournal(seg)
		seg.safe = false
		return err
	}
	return s.rewrite(seg)
}

// rewrite begins a journal with what the segment has. What older journals of
// it hold is in the segment too: they were read at the start.
func (s *segments) rewrite(seg *segment) error {
	file := journalFile{s.next, fmt.Sprintf("%s.journal.%08d", s.path, s.next)}
	s.next++
	j, err := createJournal(file.path, s.zstd)
	if err != nil {
		return err
	}
	if err := s.fill(j, seg); err != nil {
		return errors.Join(err, j.close(), os.Remove(j.path))
	}
	for _, old := range seg.journals {
		os.Remove(old.path) // best effort: what stays is read again, and known then
	}
	seg.open, seg.safe, seg.halfway, seg.journals = j, true, false, []journalFile{file}
	return nil
}

// fill writes all that the segment has.
func (s *segments) fill(j *journal, seg *segment) error {
	for _, n := range seg.notes {
		if err := j.note(n); err != nil {
			return err
		}
	}
	if seg.span == nil {
		return nil
	}
	for i := range seg.span.times {
		s.head.mu.RLock()
		seg.span.take(i, &s.row)
		s.head.mu.RUnlock()
		if err := j.beat(s.row.at, s.row.fresh, s.row.vals); err != nil {
			return err
		}
	}
	return nil
}

// closeJournal ends writing to the segment's journal.
func (s *segments) closeJournal(seg *segment) {
	if seg.open != nil {
		seg.open.close() // nothing is buffered: an error here loses nothing
		seg.open = nil
	}
}

// bytes is the size of the journals that are being written.
func (s *segments) bytes() (n int64) {
	for _, seg := range s.list {
		if seg.open != nil {
			n += seg.open.size
		}
	}
	return n
}
