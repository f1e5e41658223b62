package rules

import (
	"context"
	"errors"
	"slices"
	"time"
)

// lateness is how long after its end events may be told of that amend a finding; 0 if none does.
func (t *tracked) lateness() time.Duration {
	var most time.Duration
	for i := range t.sig.Evidence {
		if told := t.sig.Evidence[i].Told; told != nil && told.After > 0 {
			most = max(most, told.After+tellingLate)
		}
	}
	return most
}

// follow keeps a resolved finding for as long as it may be amended.
func (e *Engine) follow(t *tracked) {
	if t.lateness() > 0 && !t.started.IsZero() {
		e.ended = append(e.ended, t)
	}
}

// amend reads what is told of the findings that have ended, and forgets those of which nothing more can be told.
func (e *Engine) amend(ctx context.Context, b *beat) ([]move, error) {
	e.ended = slices.DeleteFunc(e.ended, func(t *tracked) bool {
		late := b.at.Sub(t.end())
		return late < 0 || late > t.lateness()
	})
	var moves []move
	var errs []error
	for _, t := range e.ended {
		for i := range t.sig.Evidence {
			if told := t.sig.Evidence[i].Told; told != nil && told.After > 0 {
				until := earlier(b.at, t.end().Add(told.After))
				errs = append(errs, t.told.read(ctx, b, t, i, until))
			}
		}
		moves = append(moves, move{t: t, change: resolved})
	}
	return moves, errors.Join(errs...)
}
