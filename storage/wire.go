package storage

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"
	"sync"
	"time"
)

// Parent and child talk in messages: length, kind, id, body. What the parent
// streams (beats, notes) is acknowledged by number; what it asks is answered
// under the question's id.
type messageKind byte

// The kinds of messages.
const (
	msgHello   messageKind = iota + 1 // parent: hello, as JSON
	msgReady                          // child: the file is open
	msgRefused                        // child: it cannot be opened; refusal, as JSON
	msgBeat                           // parent: id is the beat's number
	msgNote                           // parent: id is the note's number
	msgAck                            // child: numbers up to which beats and notes are safe
	msgState                          // child: diskState, as JSON
	msgSelf                           // child: an event about itself, as JSON
	msgAsk                            // parent: question; the first byte of the body says which
	msgPart                           // child: a part of the answer
	msgEnd                            // child: the answer is complete; a warning, or nothing
	msgError                          // child: the question failed; text
	msgPing                           // child: it runs
)

// maxMessage bounds a body.
const maxMessage = 64 << 20

const messageHead = 4 + 1 + 8

var errMessage = errors.New("malformed message")

// message is one message as it was read.
type message struct {
	kind messageKind
	id   uint64
	body []byte
}

// wire writes messages to one end of the socket, one at a time.
type wire struct {
	mu      sync.Mutex
	conn    net.Conn
	timeout time.Duration // for one message
	buf     []byte
}

// send writes a message, and before it what is queued. After an error the
// connection is of no use.
func (w *wire) send(kind messageKind, id uint64, body []byte) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.put(kind, id, body)
	return w.write()
}

// maxQueued bounds what waits to be written with the next message, in bytes.
const maxQueued = 64 << 10

// queue puts a message behind those that wait for flush: one write for all
// wakes the other process once.
func (w *wire) queue(kind messageKind, id uint64, body []byte) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.put(kind, id, body)
	if len(w.buf) < maxQueued {
		return nil
	}
	return w.write()
}

// flush writes what is queued.
func (w *wire) flush() error {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.write()
}

func (w *wire) put(kind messageKind, id uint64, body []byte) {
	w.buf = binary.LittleEndian.AppendUint32(w.buf, uint32(len(body)))
	w.buf = append(w.buf, byte(kind))
	w.buf = binary.LittleEndian.AppendUint64(w.buf, id)
	w.buf = append(w.buf, body...)
}

func (w *wire) write() error {
	if len(w.buf) == 0 {
		return nil
	}
	late := time.AfterFunc(w.timeout, func() { w.conn.Close() })
	_, err := w.conn.Write(w.buf)
	late.Stop()
	w.buf = w.buf[:0]
	if cap(w.buf) > 1<<20 {
		w.buf = nil
	}
	return err
}

// readMessage reads the next message.
func readMessage(r io.Reader) (message, error) {
	var head [messageHead]byte
	if _, err := io.ReadFull(r, head[:]); err != nil {
		return message{}, err
	}
	n := binary.LittleEndian.Uint32(head[:])
	if n > maxMessage {
		return message{}, fmt.Errorf("%w: %d bytes", errMessage, n)
	}
	m := message{messageKind(head[4]), binary.LittleEndian.Uint64(head[5:]), make([]byte, n)}
	_, err := io.ReadFull(r, m.body)
	return m, err
}

// hello is what the child needs to know.
type hello struct {
	Interval        time.Duration
	Retention       time.Duration
	RollupRetention time.Duration
	MaxBytes        int64
}

// refusal is why the child cannot serve. Fatal ones are not tried again.
type refusal struct {
	Text         string
	Fatal        bool
	InUse, Newer bool
}

// err is the refusal as an error.
func (r refusal) err() error {
	switch {
	case r.InUse:
		return ErrInUse
	case r.Newer:
		return fmt.Errorf("%w (%s)", ErrNewer, r.Text)
	}
	return errors.New(r.Text)
}
