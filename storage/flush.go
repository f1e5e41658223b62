package storage

import (
	"os"
	"slices"
)

// flush starts to store the oldest complete segment, one at a time. The last
// segment is complete when the next one has begun.
func (r *recorder) flush() {
	if r.flushing || r.disk.gone.Load() || len(r.segs.list) < 2 || r.disk.now().Before(r.flushAt) {
		return
	}
	seg := r.segs.list[0]
	r.segs.closeJournal(seg)
	r.flushing = true
	go func() {
		r.flushed <- r.store(seg)
		r.disk.relax()
	}()
}

// store stores a segment.
func (r *recorder) store(seg *segment) error {
	m, notes := seg.content(r.head)
	if seg.spilled {
		var err error
		if m, notes, err = seg.reread(); err != nil {
			return err
		}
	}
	return r.disk.keep(m, notes, seg.newest())
}

// stored notes how storing the oldest segment went.
func (r *recorder) stored(err error) {
	r.flushing = false
	if err != nil {
		r.disk.log.Error("storing a minute", "error", err)
		if r.disk.gone.Load() {
			r.tell(true)
			r.out.conn.Close() // the parent starts another child
			return
		}
		r.flushAt = r.disk.now().Add(retryAfter)
		r.retry.Reset(retryAfter)
		r.bound()
		return
	}
	seg := r.segs.list[0]
	r.ackBeat, r.ackNote = max(r.ackBeat, seg.beatSeq), max(r.ackNote, seg.noteSeq)
	r.segs.list = r.segs.list[1:]
	r.release(seg)
	for _, j := range seg.journals {
		if err := os.Remove(j.path); err != nil {
			r.disk.log.Warn("journal", "error", err) // it is known to be in the file
		}
	}
	r.ack()
}

// release frees the memory of the oldest segment that is in memory.
func (r *recorder) release(seg *segment) {
	if seg.span != nil {
		r.head.remove(seg.span)
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.notes.drop(len(seg.notes))
	seg.span, seg.notes = nil, nil
}

// maxPending bounds the memory of minutes that cannot be stored.
const maxPending = 64 << 20

// bound takes the oldest minute out of memory when too many wait. If it is in
// its journal it is stored from there later; else it is lost.
func (r *recorder) bound() {
	r.head.mu.RLock()
	held := r.head.bytes
	r.head.mu.RUnlock()
	for i, seg := range r.segs.list[:len(r.segs.list)-1] {
		if held <= maxPending || seg.spilled {
			continue
		}
		if seg.span != nil {
			held -= seg.span.bytes
		}
		r.release(seg)
		seg.spilled = true
		if seg.safe {
			continue
		}
		r.disk.say("a minute could not be stored for too long and is lost")
		seg.safe = true
		r.segs.list = slices.Delete(r.segs.list, i, i+1)
		return // the others when the next write fails
	}
}

// storeAll stores the complete minutes, as far as that goes.
func (r *recorder) storeAll() error {
	for r.flushing || len(r.segs.list) > 1 {
		r.flush()
		if !r.flushing {
			break // waits for its next try
		}
		err := <-r.flushed
		r.stored(err)
		if err != nil {
			return err
		}
	}
	return nil
}
