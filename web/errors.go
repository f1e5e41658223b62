package web

import (
	"context"
	"errors"
	"fmt"
	"net/http"
)

// failure is an error for the visitor: a status and a message that may be
// shown. The cause goes to the log alone.
type failure struct {
	status  int
	message string
	cause   error
	title   string // empty: the status in words
	texts   bool   // other texts may fare better
}

func (f *failure) Error() string {
	if f.cause != nil {
		return f.message + ": " + f.cause.Error()
	}
	return f.message
}

func (f *failure) Unwrap() error { return f.cause }

func badRequest(format string, args ...any) error {
	return &failure{status: http.StatusBadRequest, message: fmt.Sprintf(format, args...)}
}

func notFound(format string, args ...any) error {
	return &failure{status: http.StatusNotFound, message: fmt.Sprintf(format, args...)}
}

// failureOf gives every error its status and message. An unknown error shows
// no detail.
func failureOf(err error) *failure {
	if f, ok := errors.AsType[*failure](err); ok {
		return f
	}
	switch {
	case errors.Is(err, context.DeadlineExceeded):
		return &failure{status: http.StatusServiceUnavailable, message: "This took too long and was stopped. Try a shorter window.", cause: err}
	case errors.Is(err, ErrMissing):
		return &failure{status: http.StatusNotFound, message: "This is not in memory, and older history does not answer just now. Try again in a while.", cause: err}
	case errors.Is(err, context.Canceled):
		return &failure{status: http.StatusServiceUnavailable, message: "The request was given up.", cause: err}
	}
	return &failure{status: http.StatusInternalServerError, message: "Something went wrong here; the log of Stallmark says what.", cause: err}
}
