package web

import (
	"context"
	"errors"
	"sync/atomic"
)

// ErrMissing is for something that memory does not have, while older history
// does not answer: whether it exists cannot be said.
var ErrMissing = errors.New("older history does not answer")

// missingText is shown on a page that lacks older history.
const missingText = "Older history does not answer just now: the process that keeps it waits for its disk. " +
	"What is in memory is shown. Sampling and verdicts go on."

type missingKey struct{}

// watched is a context that takes note of what is missing.
func watched(ctx context.Context) context.Context {
	return context.WithValue(ctx, missingKey{}, new(atomic.Bool))
}

// Missing is called by a backend that answers with what memory has, since older
// history does not answer. The page that is being made says so.
func Missing(ctx context.Context) {
	if noted, ok := ctx.Value(missingKey{}).(*atomic.Bool); ok {
		noted.Store(true)
	}
}

// isMissing reports whether an answer lacked older history.
func isMissing(ctx context.Context) bool {
	noted, ok := ctx.Value(missingKey{}).(*atomic.Bool)
	return ok && noted.Load()
}

// gap is what a page says about older history when it is rendered.
func gap(ctx context.Context) func() string {
	return func() string {
		if isMissing(ctx) {
			return missingText
		}
		return ""
	}
}
