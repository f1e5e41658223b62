package storage

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"stallmark/storage/model"
)

// How the parent deals with its child.
const (
	greetWait   = 15 * time.Second       // for the child to open the file
	firstPause  = 100 * time.Millisecond // before a child is started again
	longPause   = 10 * time.Second       // at most, doubled after each failure
	silenceWait = time.Minute            // before a child that does not answer is killed
	window      = 64                     // beats and notes on their way
	lastWait    = 350 * time.Millisecond // for the last beats, before another child is given them
	closeGrace  = 50 * time.Millisecond  // for the child to exit when there is no time left
)

// client keeps a child running and streams the head and the outbox to it. What
// was not confirmed is sent again to the next child.
type client struct {
	opts   Options
	head   *head
	outbox *outbox
	self   func(model.Event) // takes what the child says of itself
	up     func()            // called when a child has begun to serve
	wake   chan struct{}     // something is to be sent
	hurry  chan struct{}     // the next child is not to be waited for
	ctx    context.Context
	stop   context.CancelFunc
	done   chan struct{}

	safeBeat, safeNote atomic.Uint64 // numbers below which all is safe

	mu       sync.Mutex
	calm     time.Duration // a child that lives for so long is started again soon
	link     *link         // nil while no child runs
	proc     *process      // the child that is left to close
	err      string
	restarts int
	state    diskState
}

func newClient(o Options, h *head, out *outbox, self func(model.Event), up func()) *client {
	ctx, stop := context.WithCancel(context.Background())
	return &client{
		opts: o, calm: longPause, head: h, outbox: out, self: self, up: up,
		wake: make(chan struct{}, 1), hurry: make(chan struct{}, 1), ctx: ctx, stop: stop, done: make(chan struct{}),
	}
}

// poke says that something is to be sent. It never waits.
func (c *client) poke() {
	select {
	case c.wake <- struct{}{}:
	default:
	}
}

// connect starts a child and waits until it has opened the file. After an error
// there is no child.
func (c *client) connect() (*link, *process, error) {
	p, err := c.spawn()
	if err != nil {
		return nil, nil, fmt.Errorf("starting the storage process: %w", err)
	}
	stop := context.AfterFunc(c.ctx, func() { p.conn.Close() })
	defer stop()
	l := newLink(p.conn)
	err = l.greet(hello{
		Interval: c.opts.Interval, Retention: c.opts.Retention,
		RollupRetention: c.opts.RollupRetention, MaxBytes: c.opts.MaxBytes,
	})
	if err != nil {
		c.end(p)
		return nil, nil, err
	}
	return l, p, nil
}

// end ends a child and waits for its end: the next one could not open the file
// before. A process that hangs in the kernel ends when the disk answers.
func (c *client) end(p *process) {
	c.mu.Lock()
	c.proc = nil
	c.mu.Unlock()
	p.conn.Close()
	p.kill()
	if err := p.wait(); err != nil {
		c.opts.Logger.Debug("storage process", "error", err)
	}
}

// run keeps a child running until the client is closed. The first one may have
// been attached already; the last one is left to close.
func (c *client) run(l *link, p *process) {
	defer close(c.done)
	pause := firstPause
	for {
		if l != nil {
			began := c.opts.Now()
			err := c.serve(l)
			if c.ctx.Err() != nil {
				return
			}
			c.down(fmt.Errorf("the storage process has ended: %w", err))
			c.end(p)
			if c.wasCalm(c.opts.Now().Sub(began)) {
				pause = firstPause
			}
		}
		select {
		case <-c.ctx.Done():
			return
		case <-time.After(pause):
		case <-c.hurry:
		}
		pause = min(2*pause, longPause)
		var err error
		if l, p, err = c.connect(); err != nil {
			c.down(err)
			continue
		}
		c.mu.Lock()
		c.restarts++
		c.mu.Unlock()
		c.attach(l, p)
		go c.up()
	}
}

// wasCalm reports whether a child has lived long enough.
func (c *client) wasCalm(life time.Duration) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return life >= c.calm
}

// attach makes a child the one that is asked.
func (c *client) attach(l *link, p *process) {
	l.beat.Store(c.safeBeat.Load())
	l.note.Store(c.safeNote.Load())
	c.mu.Lock()
	c.link, c.proc, c.err = l, p, ""
	c.mu.Unlock()
	go l.receive(c.setState, c.self)
}

// serve streams to one child until the connection ends.
func (c *client) serve(l *link) error {
	s := stream{client: c, link: l, beat: c.safeBeat.Load(), note: c.safeNote.Load()}
	err := s.run()
	c.mu.Lock()
	c.link = nil
	c.mu.Unlock()
	return err
}

// down notes why there is no child.
func (c *client) down(err error) {
	c.opts.Logger.Warn("storage process", "error", err)
	c.mu.Lock()
	defer c.mu.Unlock()
	c.err = err.Error()
}

func (c *client) setState(st diskState) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.state = st
}

// hasUpTo is false if the child has said that it has nothing so old. It says
// so before it confirms what would be older (see recorder.ack).
func (c *client) hasUpTo(t int64) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return !c.state.Told || c.state.From != 0 && c.state.From <= t
}

const (
	answerWait = 3 * time.Second  // for an answer
	wordWait   = 2 * time.Second  // for the next word of it
	suspicious = 3 * time.Second  // of silence: the child pings every second
	probeWait  = 10 * time.Second // before a child that owes an answer is asked again
)

// ask asks the child. The error is errChild or a deadline's if it does not
// answer. A child that owes an answer, or is silent, is not waited for again:
// questions fail at once until it has answered one that is put to it in the
// background.
func (c *client) ask(ctx context.Context, q question, part func([]byte) error) error {
	l := c.current()
	if l == nil || l.stuck.Load() {
		return errChild
	}
	if l.silence() >= suspicious {
		c.owed(l, q)
		return errChild
	}
	q.Timeout = answerWait
	ctx, cancel := context.WithTimeout(ctx, q.Timeout)
	defer cancel()
	err := l.ask(ctx, q, wordWait, part)
	if errors.Is(err, errOwed) {
		c.owed(l, q)
	}
	return err
}

// owed notes that the child owes the answer to a question: whoever waits for
// another one goes on without.
func (c *client) owed(l *link, q question) {
	if !l.stuck.CompareAndSwap(false, true) {
		return
	}
	c.opts.Logger.Warn("the storage process does not answer: older history is missing until it does", "question", q.Topic)
	l.drop()
	go c.probe(l, q)
}

// probe puts the question again until it is answered or the child has ended.
func (c *client) probe(l *link, q question) {
	q.Timeout = probeWait
	for {
		ctx, cancel := context.WithTimeout(c.ctx, probeWait)
		err := l.ask(ctx, q, 0, nil)
		late := ctx.Err() != nil
		cancel()
		switch {
		case errors.Is(err, errChild), c.ctx.Err() != nil:
			return
		case err != nil && late:
			continue
		}
		l.stuck.Store(false)
		c.opts.Logger.Info("the storage process answers again")
		c.up()
		return
	}
}

// current is the link that is asked and sent to; nil while there is none.
func (c *client) current() *link {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.link
}

// owing is how many beats and notes have not been confirmed.
func (c *client) owing() (beats, notes int) {
	c.head.mu.RLock()
	seq := c.head.seq
	c.head.mu.RUnlock()
	notes, _ = c.outbox.state()
	return int(seq - min(seq, c.safeBeat.Load())), notes
}
