package host

import (
	"time"

	"stallmark/collectors"
	"stallmark/storage/model"
)

// slow gives a source a cadence slower than the beat: in between, its last
// samples and its last answer are repeated.
type slow struct {
	collectors.Source
	clock   cadence
	samples []model.Sample
	err     error
}

func slower(every time.Duration, s collectors.Source) *slow {
	return &slow{Source: s, clock: cadence{every: every}}
}

// Collect implements [collectors.Source].
func (s *slow) Collect(root collectors.Root, out *collectors.Out) error {
	if !s.clock.due(out.At()) {
		for _, sample := range s.samples {
			out.Add(sample.Series, sample.Value)
		}
		return s.err
	}
	s.err = s.Source.Collect(root, out)
	s.samples = append(s.samples[:0], out.Samples()...)
	return s.err
}

// cadence says when something is due again.
type cadence struct {
	every time.Duration
	last  time.Time
}

// due reports whether it is time, and if so takes note. A tenth of slack keeps
// a source of 1 s on a beat of 1 s that comes a little early. A clock that
// was set back makes it due.
func (c *cadence) due(at time.Time) bool {
	since := at.Sub(c.last)
	if !c.last.IsZero() && since >= 0 && since < c.every-c.every/10 {
		return false
	}
	c.last = at
	return true
}
