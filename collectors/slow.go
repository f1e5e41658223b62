package collectors

import (
	"log/slog"
	"time"
)

// slowBeat is from which delay on a beat is called slow.
const slowBeat = 50 * time.Millisecond

// Slow says where the time of a beat went that began or ended late.
type Slow struct {
	At       time.Time     // when it was due
	Late     time.Duration // until it began
	Asking   time.Duration // until the sources had answered, or were not waited for any longer
	Handing  time.Duration // to the sink and what follows
	Source   string        // that took longest of those that answered
	Took     time.Duration // by that source
	Hanging  []string      // sources that had not answered
	answered time.Time
}

// LogValue implements [slog.LogValuer].
func (s Slow) LogValue() slog.Value {
	return slog.GroupValue(
		slog.Time("due", s.At), slog.Duration("late", s.Late), slog.Duration("asking", s.Asking), slog.Duration("handing", s.Handing),
		slog.String("source", s.Source), slog.Duration("took", s.Took), slog.Any("hanging", s.Hanging),
	)
}

// begin notes that a beat has begun.
func (s *Slow) begin(due time.Time, late time.Duration) {
	*s = Slow{At: due, Late: max(late, 0), Hanging: s.Hanging[:0]}
}

// took notes how long a source took.
func (s *Slow) took(source string, d time.Duration) {
	if d >= s.Took {
		s.Source, s.Took = source, d
	}
}

// tellSlow tells of a beat that was slow.
func (s *Sampler) tellSlow() {
	if s.cfg.Slow == nil {
		return
	}
	b := &s.slow
	end := s.cfg.Now()
	b.Asking = b.answered.Sub(b.At.Add(b.Late))
	b.Handing = end.Sub(b.answered)
	if b.Late >= slowBeat || end.Sub(b.At) >= slowBeat {
		s.cfg.Slow(*b)
	}
}
