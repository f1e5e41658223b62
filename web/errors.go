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
		return &failure{http.StatusServiceUnavailable, "This took too long and was stopped. Try a shorter window.", err}
	case errors.Is(err, ErrMissing):
		return &failure{http.StatusNotFound, "This is not in memory, and older history does not answer just now. Try again in a while.", err}
	case errors.Is(err, context.Canceled):
		return &failure{http.StatusServiceUnavailable, "The request was given up.", err}
	}
	return &failure{http.StatusInternalServerError, "Something went wrong here; the log of Stallmark says what.", err}
}
