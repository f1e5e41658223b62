package storage

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"os"
	"strings"
	"time"
)

// ChildFD is the descriptor at which the child process finds its socket.
const ChildFD = 3

// sendWait is how long a message to the other process may take. One that takes
// longer ends the connection.
const sendWait = 10 * time.Second

// RunChild is the body of the child process: it opens the file at path and
// serves the parent at the other end of conn until that closes it. What it has
// to say goes to standard error. The error is why the file could not be
// served; see [Told]. Now is the clock. Rest is called after each minute that has
// been stored: it may give back the memory that this took.
func RunChild(ctx context.Context, conn *os.File, path string, now func() time.Time, rest func()) error {
	c, err := net.FileConn(conn)
	if err != nil {
		return fmt.Errorf("descriptor %s is no socket: %w", conn.Name(), err)
	}
	if err := conn.Close(); err != nil {
		return err
	}
	return serveChild(ctx, c, childConfig{
		path: path, now: now, space: freeSpace, rest: rest,
		log: slog.New(slog.NewTextHandler(os.Stderr, nil)),
	})
}

// childConfig is what a child needs besides what the parent says.
type childConfig struct {
	path  string
	now   func() time.Time
	space func(path string) (avail, floor int64)
	rest  func() // after a minute has been stored; may be nil
	log   *slog.Logger
}

// serveChild serves one parent.
func serveChild(ctx context.Context, conn net.Conn, cfg childConfig) error {
	defer conn.Close()
	stop := context.AfterFunc(ctx, func() { conn.Close() })
	defer stop()
	in := bufio.NewReaderSize(conn, 64<<10)
	out := &wire{conn: conn, timeout: sendWait}
	first, err := readMessage(in)
	if err != nil {
		return err
	}
	var opts hello
	if err := json.Unmarshal(first.body, &opts); err != nil || first.kind != msgHello {
		return fmt.Errorf("%w: no hello", errMessage)
	}
	d, err := openDisk(cfg, opts)
	if err != nil {
		return refuse(out, err)
	}
	s := newServer(out, d, opts)
	if err := s.recorder.replay(); err != nil {
		return errors.Join(refuse(out, err), d.close())
	}
	if err := out.send(msgReady, 0, nil); err != nil {
		return errors.Join(err, d.close())
	}
	return errors.Join(s.serve(ctx, in), d.close())
}

// told is an error that the parent knows.
type told struct{ error }

func (t told) Unwrap() error { return t.error }

// Told reports whether the parent has been told of an error of [RunChild]: it
// then says so itself.
func Told(err error) bool {
	_, ok := errors.AsType[told](err)
	return ok
}

// refuse tells the parent why the file cannot be served.
func refuse(out *wire, why error) error {
	fatal := errors.Is(why, ErrInUse) || errors.Is(why, ErrNewer) || !isDiskTrouble(why)
	body, err := json.Marshal(refusal{
		Text: why.Error(), Fatal: fatal,
		InUse: errors.Is(why, ErrInUse), Newer: errors.Is(why, ErrNewer),
	})
	if err != nil {
		return errors.Join(why, err)
	}
	if err := out.send(msgRefused, 0, body); err != nil {
		return errors.Join(why, err)
	}
	return told{why}
}

// server answers one parent.
type server struct {
	out      *wire
	disk     *disk
	head     *head // of what is not in the file yet
	recorder *recorder
	slots    chan struct{} // questions that are answered at a time
}

// atOnce is how many questions are answered at a time.
const atOnce = 4

func newServer(out *wire, d *disk, opts hello) *server {
	h := newHead(opts.Interval)
	return &server{
		out: out, disk: d, head: h,
		recorder: newRecorder(out, d, h),
		slots:    make(chan struct{}, atOnce),
	}
}

// serve reads the parent's messages until it closes the socket.
func (s *server) serve(ctx context.Context, in io.Reader) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	stream := make(chan message, streamAhead)
	done := make(chan struct{})
	go func() {
		defer close(done)
		s.recorder.run(stream)
	}()
	go s.ping(ctx)
	err := s.read(ctx, in, stream)
	close(stream)
	<-done
	for range atOnce { // questions under way use the file
		s.slots <- struct{}{}
	}
	return err
}

// ping tells the parent every second that this process runs, whatever the disk
// does to those who write to it.
func (s *server) ping(ctx context.Context) {
	tick := time.NewTicker(time.Second)
	defer tick.Stop()
	for {
		select {
		case <-tick.C:
			s.send(msgPing, 0, nil)
		case <-ctx.Done():
			return
		}
	}
}

// streamAhead is how much may wait for the journal; the parent sends no more
// than that without being answered.
const streamAhead = 256

// read takes the messages apart.
func (s *server) read(ctx context.Context, in io.Reader, stream chan<- message) error {
	for {
		m, err := readMessage(in)
		if errors.Is(err, io.EOF) || errors.Is(err, net.ErrClosed) {
			return nil // the parent has gone
		}
		if err != nil {
			return err
		}
		switch m.kind {
		case msgBeat, msgNote:
			stream <- m
		case msgAsk:
			s.ask(ctx, m, stream)
		default:
			return fmt.Errorf("%w: kind %d", errMessage, m.kind)
		}
	}
}

// ask starts to answer a question.
func (s *server) ask(ctx context.Context, m message, stream chan<- message) {
	var q question
	if err := json.Unmarshal(m.body, &q); err != nil {
		s.fail(m.id, err)
		return
	}
	if q.Topic == askSync {
		stream <- m // behind all that came before
		return
	}
	go func() {
		ctx, cancel := context.WithTimeout(ctx, q.Timeout)
		defer cancel()
		select {
		case s.slots <- struct{}{}:
			defer func() { <-s.slots }()
		case <-ctx.Done():
			return
		}
		if err := s.answer(ctx, m.id, q); err != nil {
			s.fail(m.id, err)
		}
	}()
}

// fail answers that a question cannot be answered.
func (s *server) fail(id uint64, err error) {
	s.disk.log.Warn("a question failed", "error", err)
	s.send(msgError, id, []byte(err.Error()))
}

// send sends a message. A parent that does not take it has gone, or will be
// found gone when it is read from.
func (s *server) send(kind messageKind, id uint64, body []byte) {
	if err := s.out.send(kind, id, body); err != nil {
		s.disk.log.Debug("sending", "error", err)
	}
}

// answer answers one question.
func (s *server) answer(ctx context.Context, id uint64, q question) error {
	var v any
	var err error
	switch q.Topic {
	case askSamples:
		return s.samples(ctx, id, q)
	case askLabels:
		v, err = s.labels(q)
	case askEvents:
		v, err = s.recorder.events(q)
	case askFacts:
		v, err = s.recorder.facts(q.To)
	case askCoverage:
		v, err = s.recorder.coverage(q.To)
	case askFindings:
		v, err = s.recorder.findings(q)
	case askFinding:
		v, err = s.recorder.finding(q.ID)
	case askState:
		v, err = s.recorder.stateNamed(q.ID)
	default:
		err = fmt.Errorf("%w: topic %q", errMessage, q.Topic)
	}
	if err != nil {
		return err
	}
	if v != nil {
		body, err := json.Marshal(v)
		if err != nil {
			return err
		}
		if err := s.out.send(msgPart, id, body); err != nil {
			return err
		}
	}
	return s.out.send(msgEnd, id, nil)
}

// partBytes is from which size on chunks are sent: a week has one for each hour.
const partBytes = 64 << 10

// samples answers with chunks: the file first, then what is not in it yet.
func (s *server) samples(ctx context.Context, id uint64, q question) error {
	ms, err := unpackMatchers(q.Matchers)
	if err != nil {
		return err
	}
	sel := selection{q.Mint, q.Maxt, q.Step, q.Range, q.Func, ms}
	// First the head, then the file: a minute that is stored meanwhile is in
	// both, and is left out of what is read from the file.
	recent, from, some := s.head.recent(sel)
	if some {
		sel.maxt = min(sel.maxt, from-1)
	}
	var part []byte
	warnings, err := s.disk.selectBlocks(ctx, sel, recent, func(chunk []byte) error {
		if part = append(part, chunk...); len(part) < partBytes {
			return nil
		}
		err := s.out.send(msgPart, id, part)
		part = part[:0]
		return err
	})
	if err == nil && len(part) > 0 {
		err = s.out.send(msgPart, id, part)
	}
	if err != nil {
		return err
	}
	return s.out.send(msgEnd, id, []byte(strings.Join(warnings, "; ")))
}

// labels answers with the keys of series, as JSON strings of their bytes.
func (s *server) labels(q question) ([][]byte, error) {
	ms, err := unpackMatchers(q.Matchers)
	if err != nil {
		return nil, err
	}
	// First the head: a minute that is stored meanwhile is in both.
	recent := s.head.keys(q.Mint, q.Maxt, ms)
	keys, err := s.disk.labelSets(q.Mint, q.Maxt, ms)
	if err != nil {
		return nil, err
	}
	keys = append(keys, recent...)
	out := make([][]byte, len(keys))
	for i, k := range keys {
		out[i] = []byte(k)
	}
	return out, nil
}
