package storage

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"os"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/sys/unix"

	"stallmark/storage/model"
)

// link is the connection to one running child.
type link struct {
	out  *wire
	in   *bufio.Reader
	asks chan message // questions that are to be sent
	got  chan struct{}
	dead chan struct{} // closed when the connection has ended

	beat, note atomic.Uint64 // numbers below which all is safe
	quiet      atomic.Int32  // seconds since the last message
	stuck      atomic.Bool   // it owes an answer: no further question is put to it

	mu    sync.Mutex
	calls map[uint64]*call
	last  uint64
	err   error
}

// call is a question that waits for its answer.
type call struct {
	part    func([]byte) error
	done    chan error
	heard   chan struct{} // a part has come
	patient bool          // it waits even if the child owes answers
}

// incomplete is for an answer that lacks what cannot be read.
type incomplete struct{ what string }

func (i *incomplete) Error() string { return i.what + " cannot be read" }

var (
	// errChild is for a child that cannot answer.
	errChild = errors.New("the storage process does not answer")
	// errOwed is for a child that has not said a word of an answer in time.
	errOwed = fmt.Errorf("%w in time", errChild)
)

func newLink(conn net.Conn) *link {
	return &link{
		out: &wire{conn: conn, timeout: sendWait}, in: bufio.NewReaderSize(conn, 256<<10),
		asks: make(chan message), got: make(chan struct{}, 1), dead: make(chan struct{}),
		calls: map[uint64]*call{},
	}
}

// silence is how long the child has not said anything.
func (l *link) silence() time.Duration { return time.Duration(l.quiet.Load()) * time.Second }

// socketpair makes the two ends of the connection.
func socketpair() (parent net.Conn, child *os.File, err error) {
	fds, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return nil, nil, err
	}
	ours := os.NewFile(uintptr(fds[0]), "storage")
	child = os.NewFile(uintptr(fds[1]), "storage child")
	parent, err = net.FileConn(ours)
	if err := errors.Join(err, ours.Close()); err != nil {
		return nil, nil, errors.Join(err, child.Close())
	}
	return parent, child, nil
}

// greet says hello and waits until the child has opened the file.
func (l *link) greet(h hello) error {
	body, err := json.Marshal(h)
	if err != nil {
		return err
	}
	if err := l.out.send(msgHello, 0, body); err != nil {
		return fmt.Errorf("%w: %w", errChild, err)
	}
	late := time.AfterFunc(greetWait, func() { l.out.conn.Close() })
	defer late.Stop()
	m, err := readMessage(l.in)
	if err != nil {
		return fmt.Errorf("%w: %w", errChild, err)
	}
	switch m.kind {
	case msgReady:
		return nil
	case msgRefused:
		var r refusal
		if err := json.Unmarshal(m.body, &r); err != nil {
			return err
		}
		return &refused{r}
	}
	return fmt.Errorf("%w: kind %d", errMessage, m.kind)
}

// refused is the error of a child that could not open the file.
type refused struct{ refusal refusal }

func (r *refused) Error() string { return r.refusal.err().Error() }

func (r *refused) Unwrap() error { return r.refusal.err() }

// receive reads what the child sends until the connection ends.
func (l *link) receive(state func(diskState), self func(model.Event)) {
	err := l.receiveAll(state, self)
	l.mu.Lock()
	defer l.mu.Unlock()
	l.err = err
	for _, c := range l.calls {
		c.done <- errChild
	}
	l.calls = nil
	close(l.dead)
}

func (l *link) receiveAll(state func(diskState), self func(model.Event)) error {
	for {
		m, err := readMessage(l.in)
		if err != nil {
			return err
		}
		l.quiet.Store(0)
		switch m.kind {
		case msgAck:
			c := cursor{b: m.body}
			l.beat.Store(max(l.beat.Load(), c.uvarint()))
			l.note.Store(max(l.note.Load(), c.uvarint()))
			select {
			case l.got <- struct{}{}:
			default:
			}
		case msgState:
			var st diskState
			if err := json.Unmarshal(m.body, &st); err != nil {
				return err
			}
			state(st)
		case msgSelf:
			var e model.Event
			if err := json.Unmarshal(m.body, &e); err != nil {
				return err
			}
			self(e)
		case msgPart, msgEnd, msgError:
			l.answered(m)
		case msgPing:
		default:
			return fmt.Errorf("%w: kind %d", errMessage, m.kind)
		}
	}
}

// answered hands a part of an answer to who waits for it, if anybody still does.
func (l *link) answered(m message) {
	l.mu.Lock()
	c := l.calls[m.id]
	if c != nil && m.kind != msgPart {
		delete(l.calls, m.id)
	}
	l.mu.Unlock()
	if c == nil {
		return
	}
	switch m.kind {
	case msgPart:
		select {
		case c.heard <- struct{}{}:
		default:
		}
		if err := c.part(m.body); err != nil {
			l.finish(m.id, err)
		}
	case msgError:
		c.done <- errors.New(string(m.body))
	case msgEnd:
		var err error
		if len(m.body) > 0 {
			err = &incomplete{string(m.body)}
		}
		c.done <- err
	}
}

// finish ends a call early.
func (l *link) finish(id uint64, err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if c := l.calls[id]; c != nil {
		delete(l.calls, id)
		c.done <- err
	}
}

// drop ends all calls that are not patient: the child owes answers.
func (l *link) drop() {
	l.mu.Lock()
	defer l.mu.Unlock()
	for id, c := range l.calls {
		if !c.patient {
			delete(l.calls, id)
			c.done <- errChild
		}
	}
}

// register makes a call and its number; false if the connection has ended.
func (l *link) register(c *call) (id uint64, ok bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.calls == nil {
		return 0, false
	}
	l.last++
	l.calls[l.last] = c
	return l.last, true
}

// ask asks a question. Part is called with each part of the answer, never after
// ask has returned. When nothing of the answer has come for the time idle, the
// error is errOwed; idle 0 waits as long as ctx.
func (l *link) ask(ctx context.Context, q question, idle time.Duration, part func([]byte) error) error {
	body, err := json.Marshal(q)
	if err != nil {
		return err
	}
	var guard sync.Mutex
	over := false
	c := &call{done: make(chan error, 1), heard: make(chan struct{}, 1), patient: idle == 0, part: func(b []byte) error {
		guard.Lock()
		defer guard.Unlock()
		if over || part == nil {
			return nil
		}
		return part(b)
	}}
	defer func() {
		guard.Lock()
		defer guard.Unlock()
		over = true
	}()
	id, ok := l.register(c)
	if !ok {
		return errChild
	}
	defer l.finish(id, nil)
	return l.await(ctx, message{msgAsk, id, body}, c, idle)
}

// await hands a question to the stream and waits for the end of its answer.
func (l *link) await(ctx context.Context, m message, c *call, idle time.Duration) error {
	asks, late := l.asks, (<-chan time.Time)(nil)
	var timer *time.Timer
	if idle > 0 {
		timer = time.NewTimer(idle)
		defer timer.Stop()
		late = timer.C
	}
	for {
		select {
		case asks <- m:
			asks = nil
		case <-c.heard:
			if timer != nil {
				timer.Reset(idle)
			}
		case err := <-c.done:
			return err
		case <-l.dead:
			return errChild
		case <-late:
			return errOwed
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}
