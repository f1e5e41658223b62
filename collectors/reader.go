package collectors

import (
	"context"
	"sync/atomic"
	"time"
)

// reader asks sources one after another on one goroutine: in a calm beat nothing
// is gained by asking them at once.
type reader struct {
	rounds chan *round // closed when the reader is given up
	round  round       // reused, since it is at rest between two beats
}

// round is what a reader has to do in one beat.
type round struct {
	at   time.Time
	due  []*worker
	next atomic.Int32  // index in due of the source that nobody has taken yet
	done chan struct{} // holds one: the reader is through
}

// take returns a source that nobody else asks, nil if none is left.
func (r *round) take() *worker {
	if i := int(r.next.Add(1)) - 1; i < len(r.due) {
		return r.due[i]
	}
	return nil
}

// patience is the part of the interval after which the sources that are left
// are asked all at once. It is much longer than a calm beat takes.
const patience = 20

// ask has all idle sources asked and returns when they have answered, or when
// those that have not are all under way. Afterwards the timer runs until half
// the interval is over. It is false when ctx has ended instead.
func (s *Sampler) ask(ctx context.Context, at time.Time) bool {
	if s.reader == nil {
		s.reader = &reader{rounds: make(chan *round), round: round{done: make(chan struct{}, 1)}}
		go s.read(ctx, s.reader.rounds)
	}
	r := &s.reader.round
	r.at, r.due = at, r.due[:0]
	r.next.Store(0)
	for _, w := range s.workers {
		if s.drainLate(w); w.since.IsZero() {
			w.since = at
			r.due = append(r.due, w)
		}
	}
	limit := s.cfg.Interval / patience
	s.setTimer(limit)
	select {
	case s.reader.rounds <- r:
	case <-ctx.Done():
		return false
	}
	select {
	case <-r.done:
	case <-s.timer.C:
		s.askRest(r)
	}
	s.setTimer(s.cfg.Interval/2 - limit)
	return true
}

// askRest takes what is left of a round from its reader, which may hang, and
// gives up that reader.
func (s *Sampler) askRest(r *round) {
	for w := r.take(); w != nil; w = r.take() {
		go s.collect(w, r.at)
	}
	close(s.reader.rounds)
	s.reader = nil
}

// setTimer has the timer fire after d, and not before.
func (s *Sampler) setTimer(d time.Duration) {
	if s.timer == nil {
		s.timer = time.NewTimer(d)
		return
	}
	s.timer.Reset(d)
}

// read is the goroutine of a reader.
func (s *Sampler) read(ctx context.Context, rounds <-chan *round) {
	for {
		select {
		case <-ctx.Done():
			return
		case r, ok := <-rounds:
			if !ok {
				return
			}
			for w := r.take(); w != nil; w = r.take() {
				s.collect(w, r.at)
			}
			r.done <- struct{}{}
		}
	}
}

// collect asks one source.
func (s *Sampler) collect(w *worker, at time.Time) {
	start := s.cfg.Now()
	w.out.Reset(at)
	err := w.source.Collect(s.cfg.Root, w.out)
	w.done <- outcome{err, s.cfg.Now().Sub(start)}
}
