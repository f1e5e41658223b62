package storage

import "sync"

// outbox holds encoded notes until the child has confirmed them.
type outbox struct {
	mu    sync.Mutex
	notes [][]byte
	first uint64 // number of notes[0]
	bytes int
	lost  uint64
}

// maxOutbox bounds an outbox, in bytes; the oldest notes go first.
const maxOutbox = 16 << 20

// add puts in a note.
func (o *outbox) add(b []byte) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.notes = append(o.notes, b)
	for o.bytes += len(b); o.bytes > maxOutbox && len(o.notes) > 1; o.lost++ {
		o.pop()
	}
}

// get is the first note with at least that number.
func (o *outbox) get(n uint64) (b []byte, number uint64, ok bool) {
	o.mu.Lock()
	defer o.mu.Unlock()
	n = max(n, o.first)
	if n >= o.first+uint64(len(o.notes)) {
		return nil, 0, false
	}
	return o.notes[n-o.first], n, true
}

// confirm forgets the notes below the number.
func (o *outbox) confirm(below uint64) {
	o.mu.Lock()
	defer o.mu.Unlock()
	for o.first < below && len(o.notes) > 0 {
		o.pop()
	}
}

func (o *outbox) pop() {
	o.bytes -= len(o.notes[0])
	o.notes[0] = nil
	o.notes = o.notes[1:]
	o.first++
}

// state is how many notes wait, and how many have been dropped.
func (o *outbox) state() (waiting int, lost uint64) {
	o.mu.Lock()
	defer o.mu.Unlock()
	return len(o.notes), o.lost
}
