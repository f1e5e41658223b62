package storage

import (
	"fmt"
	"time"
)

// stream sends beats, notes and questions to one child. It alone writes to the
// socket, so that a child that does not read keeps nobody else waiting.
type stream struct {
	client *client
	link   *link
	enc    beatEncoder
	row    beatRow
	buf    []byte
	beat   uint64 // numbers of what is to be sent next
	note   uint64
}

// run sends until the connection ends or the client is closed.
func (s *stream) run() error {
	tick := time.NewTicker(time.Second)
	defer tick.Stop()
	for {
		if err := s.fill(); err != nil {
			return err
		}
		select {
		case m := <-s.link.asks:
			if err := s.link.out.send(m.kind, m.id, m.body); err != nil {
				return err
			}
		case <-s.client.wake:
		case <-s.link.got:
			s.confirm()
		case <-tick.C:
			if err := s.silent(); err != nil {
				return err
			}
		case <-s.link.dead:
			s.confirm()
			return s.link.err
		case <-s.client.ctx.Done():
			return s.client.ctx.Err()
		}
	}
}

// confirm takes note of what is safe now.
func (s *stream) confirm() {
	c := s.client
	c.safeBeat.Store(max(c.safeBeat.Load(), s.link.beat.Load()))
	c.safeNote.Store(max(c.safeNote.Load(), s.link.note.Load()))
	c.outbox.confirm(c.safeNote.Load())
}

// fill sends what there is, as far as the window allows.
func (s *stream) fill() error {
	if err := s.queue(); err != nil {
		return err
	}
	return s.link.out.flush()
}

func (s *stream) queue() error {
	for s.note < max(s.link.note.Load(), s.client.safeNote.Load())+window {
		b, n, ok := s.client.outbox.get(s.note)
		if !ok {
			break
		}
		if err := s.link.out.queue(msgNote, n, b); err != nil {
			return err
		}
		s.note = n + 1
	}
	for s.beat < max(s.link.beat.Load(), s.client.safeBeat.Load())+window {
		if !s.client.head.row(s.beat, &s.row) {
			break
		}
		s.buf = s.enc.encode(s.buf[:0], s.row.at, s.row.fresh, s.row.vals)
		if err := s.link.out.queue(msgBeat, s.row.seq, s.buf); err != nil {
			return err
		}
		s.beat = s.row.seq + 1
	}
	return nil
}

// silent is an error once the child has not said anything for too long.
func (s *stream) silent() error {
	quiet := time.Duration(s.link.quiet.Add(1)) * time.Second
	if quiet > silenceWait {
		return fmt.Errorf("no word for %v", quiet)
	}
	return nil
}
