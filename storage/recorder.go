package storage

import (
	"encoding/binary"
	"encoding/json"
	"errors"
	"os"
	"sync"
	"time"

	"stallmark/storage/model"
)

// recorder takes in what the parent streams: it journals every beat and note,
// and hands complete minutes to the file. Everything but the copies of notes
// belongs to the goroutine of run.
type recorder struct {
	out  *wire
	disk *disk
	head *head
	segs segments
	dec  beatDecoder

	ackBeat, ackNote uint64 // numbers below which all is safe
	flushing         bool   // a segment is being written
	flushed          chan error
	retry            *time.Timer
	flushAt          time.Time // before which a failed write is not tried again
	journalAt        time.Time // the same for a journal
	stated           time.Time
	statedFrom       int64 // time of the oldest sample, as the parent was told; 0 for none

	mu    sync.Mutex
	notes recentNotes // of the segments, for questions
}

// retryAfter is how long to wait after a write has failed.
const retryAfter = 10 * time.Second

// stateEvery is how often the parent is told how the file is.
const stateEvery = 10 * time.Second

func newRecorder(out *wire, d *disk, h *head) *recorder {
	retry := time.NewTimer(0)
	retry.Stop()
	return &recorder{
		out: out, disk: d, head: h,
		segs:    segments{path: d.path, head: h, zstd: d.zenc},
		flushed: make(chan error, 1), retry: retry,
	}
}

// run records until the stream ends.
func (r *recorder) run(stream <-chan message) {
	r.flush()
	r.tell(true)
	for {
		select {
		case m, ok := <-stream:
			if !ok {
				r.end()
				return
			}
			r.take(m)
		case err := <-r.flushed:
			r.stored(err)
			r.tell(true)
		case <-r.retry.C:
		}
		r.flush()
		r.tell(false)
	}
}

// take records one message.
func (r *recorder) take(m message) {
	switch m.kind {
	case msgBeat:
		r.takeBeat(m)
	case msgNote:
		r.takeNote(m)
	case msgAsk:
		r.sync(m.id)
		return
	}
	r.ack()
}

// takeBeat records a beat.
func (r *recorder) takeBeat(m message) {
	b, fresh, err := r.dec.decode(m.body)
	if err != nil {
		r.disk.log.Error("a beat cannot be read", "error", err)
		r.out.conn.Close() // the stream has lost its thread: a new one is needed
		return
	}
	taken := r.segs.beat(b, fresh)
	seg := r.segs.last()
	seg.beatSeq = m.id + 1
	if taken && r.mayJournal(seg) {
		r.journaled(seg, r.segs.journalBeat(seg))
		r.syncHalfway(seg, b.At)
	} else if taken {
		seg.safe = false
	}
}

// syncHalfway makes the journal survive the machine in the middle of a minute,
// so that half a minute is lost with the power, or a little more when the disk
// is slow. Nobody waits for the disk.
func (r *recorder) syncHalfway(seg *segment, at int64) {
	if seg.open == nil || seg.halfway || at < seg.span.start+spanMillis/2 {
		return
	}
	seg.halfway = true
	j := seg.open
	go func() {
		if err := j.sync(); err != nil && !errors.Is(err, os.ErrClosed) {
			r.disk.log.Warn("syncing a journal", "error", err)
		}
	}()
}

// takeNote records a note.
func (r *recorder) takeNote(m message) {
	seg := r.segs.last()
	r.addNote(seg, m.body)
	seg.noteSeq = m.id + 1
	if r.mayJournal(seg) {
		r.journaled(seg, r.segs.journalNote(seg))
	} else {
		seg.safe = false
	}
}

func (r *recorder) addNote(seg *segment, b []byte) {
	seg.notes = append(seg.notes, b)
	r.mu.Lock()
	defer r.mu.Unlock()
	r.notes.add(b)
}

// mayJournal is false for a while after a failure, and while there is no room.
func (r *recorder) mayJournal(seg *segment) bool {
	if r.disk.hasStopped() {
		r.segs.closeJournal(seg)
		return false
	}
	return seg.open != nil || !r.disk.now().Before(r.journalAt)
}

// journaled notes how writing a journal went.
func (r *recorder) journaled(seg *segment, err error) {
	if err != nil {
		seg.safe = false
		r.journalAt = r.disk.now().Add(retryAfter)
		r.disk.log.Warn("journal", "error", err)
	}
	r.disk.update(func(st *diskState) {
		st.JournalError = ""
		if err != nil {
			st.JournalError = err.Error()
		}
	})
}

// ack tells the parent what is safe: all up to the first segment that is not.
// The parent forgets that and asks for it only where it knows of something so
// old: so it is first told of an oldest sample that is older than it knows.
func (r *recorder) ack() {
	if from := r.oldest(); from != 0 && (r.statedFrom == 0 || from < r.statedFrom) {
		r.tell(true)
	}
	for _, seg := range r.segs.list {
		if !seg.safe {
			break
		}
		r.ackBeat, r.ackNote = max(r.ackBeat, seg.beatSeq), max(r.ackNote, seg.noteSeq)
	}
	body := binary.AppendUvarint(nil, r.ackBeat)
	body = binary.AppendUvarint(body, r.ackNote)
	r.send(msgAck, 0, body)
}

func (r *recorder) send(kind messageKind, id uint64, body []byte) {
	if err := r.out.send(kind, id, body); err != nil {
		r.disk.log.Debug("sending", "error", err)
	}
}

// end makes what is there last: the parent has gone.
func (r *recorder) end() {
	err := errors.Join(r.storeAll(), r.syncJournals())
	if err != nil {
		r.disk.log.Warn("the parent has gone, and not everything is on the disk", "error", err)
	}
	for _, seg := range r.segs.list {
		r.segs.closeJournal(seg)
	}
}

// syncJournals makes the journals survive the machine as well.
func (r *recorder) syncJournals() error {
	var errs []error
	for _, seg := range r.segs.list {
		if !seg.safe {
			errs = append(errs, errors.New("not everything could be written"))
		}
		if seg.open != nil {
			errs = append(errs, seg.open.sync())
		}
	}
	return errors.Join(errs...)
}

// sync answers when everything that came before is on the disk.
func (r *recorder) sync(id uint64) {
	err := errors.Join(r.storeAll(), r.syncJournals())
	r.tell(true)
	if err != nil {
		r.send(msgError, id, []byte(err.Error()))
		return
	}
	r.send(msgEnd, id, nil)
}

// tell tells the parent what has happened, and how the file is if it is time.
func (r *recorder) tell(now bool) {
	for _, text := range r.disk.unsaid() {
		at := r.disk.now().UTC()
		r.sendJSON(msgSelf, model.Event{From: at, To: at, Kind: model.EventSelf, Source: "storage", Text: text})
	}
	if at := r.disk.now(); now || at.Sub(r.stated) >= stateEvery {
		r.stated = at
		st := r.disk.snapshot()
		st.Pending = len(r.segs.list)
		st.JournalBytes = r.segs.bytes()
		r.statedFrom = r.oldest()
		st.Told, st.From = true, r.statedFrom
		r.sendJSON(msgState, st)
	}
}

// oldest is the time of the oldest sample in the file and the head, 0 if there
// is none.
func (r *recorder) oldest() int64 {
	from := r.disk.oldest()
	if oldest, _, some := r.head.extent(); some && (from == 0 || oldest < from) {
		return oldest
	}
	return from
}

func (r *recorder) sendJSON(kind messageKind, v any) {
	body, err := json.Marshal(v)
	if err != nil {
		r.disk.log.Error("encoding", "error", err)
		return
	}
	r.send(kind, 0, body)
}
