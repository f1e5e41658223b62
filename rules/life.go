package rules

import "time"

// phase is where a subject is in its life.
type phase int

const (
	inactive phase = iota
	pending
	firing
)

// change is what a beat did to a subject.
type change int

const (
	unchanged change = iota
	fired            // pending for long enough
	resolved         // silent for longer than is bridged
	dropped          // pending, and did not hold long enough
)

// life is the state machine of one subject. It knows nothing but whether the
// condition held in each beat.
type life struct {
	phase phase
	since time.Time // first beat of the present run of true beats
	last  time.Time // last true beat
}

// timing is what the state machine waits for.
type timing struct {
	hold     time.Duration // `for`
	keep     time.Duration // `keep_firing_for`
	interval time.Duration
}

// gap is the longest time without a beat over which a condition may be thought
// to have gone on.
func (t timing) gap() time.Duration { return max(t.keep, minBeats*max(t.interval, judgeEvery)) }

// advance takes one beat. After resolved or dropped the life is over; a
// condition that holds in the same beat begins a new one (see [life.broken]).
func (l *life) advance(at time.Time, holds bool, t timing) change {
	if !holds {
		return l.silent(at, t)
	}
	if l.phase == inactive || l.phase == pending && at.Sub(l.last) > t.gap() {
		l.phase, l.since = pending, at
	}
	l.last = at
	// Beats jitter: half an interval early counts as in time.
	if l.phase == pending && at.Sub(l.since)+t.interval/2 >= t.hold {
		l.phase = firing
		return fired
	}
	return unchanged
}

// silent takes a beat in which the condition does not hold.
func (l *life) silent(at time.Time, t timing) change {
	switch l.phase {
	case pending:
		l.phase = inactive
		return dropped
	case firing:
		if at.Sub(l.last) > t.keep {
			l.phase = inactive
			return resolved
		}
	}
	return unchanged
}

// broken reports whether so long passed without a true beat that what holds now
// is another stall, even though no beat has said that the old one ended.
func (l *life) broken(at time.Time, t timing) bool {
	return l.phase == firing && at.Sub(l.last) > t.gap()
}

// rewind follows a clock that was set back.
func (l *life) rewind(at time.Time) {
	if l.last.After(at) {
		l.last = at
	}
	if l.since.After(at) {
		l.since = at
	}
}

// over is when the stall of a firing subject was last seen, once that is longer
// ago than is bridged: its condition may look back and hold for a while yet. It
// is nil while the stall goes on, and again if it comes back.
func (t *tracked) over(at time.Time, tm timing) *time.Time {
	if t.extent.IsZero() || at.Sub(t.extent) <= tm.gap() {
		return nil
	}
	end := t.end()
	return &end
}
