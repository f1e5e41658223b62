package main

import (
	"context"
	"time"
)

// stepper runs the rules after each beat without making the next one late: on
// a goroutine of its own, for the newest beat only. Beats that come while the
// rules are busy are skipped.
type stepper struct {
	latest  chan time.Time // holds the newest beat, or nothing
	between chan func()    // to be done between two judgements
	judge   func(context.Context, time.Time)
}

func newStepper(judge func(context.Context, time.Time)) *stepper {
	return &stepper{latest: make(chan time.Time, 1), between: make(chan func(), 1), judge: judge}
}

// poke says that a beat has been stored. It never waits. Only the sampler calls
// it, so nothing else can fill the channel in between.
func (s *stepper) poke(at time.Time) {
	select {
	case <-s.latest:
	default:
	}
	s.latest <- at
}

// do has something done between two judgements. It never waits: what has not
// begun when the next comes says the same thing.
func (s *stepper) do(f func()) {
	select {
	case s.between <- f:
	default:
	}
}

// run judges until ctx ends.
func (s *stepper) run(ctx context.Context) {
	for {
		select {
		case at := <-s.latest:
			s.judge(ctx, at)
		case f := <-s.between:
			f()
		case <-ctx.Done():
			return
		}
	}
}
