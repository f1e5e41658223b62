package web

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"time"

	"stallmark/storage/snapshot"
	"stallmark/web/format"
	"stallmark/web/view"
)

// Shares is what a server needs to freeze incidents and to share them.
type Shares struct {
	Folder  *snapshot.Folder
	Samples func(ctx context.Context, from, to time.Time) ([]snapshot.Series, error)
	// ExternalURL is put before the links that are sent to others, without a
	// slash at its end; empty: the address by which the page was asked for.
	ExternalURL string
	// Today judges a snapshot with the rules as they are now; nil: it cannot.
	Today func(ctx context.Context, s *snapshot.Snapshot) (view.Today, error)
}

// sharing is the server's state about snapshots.
type sharing struct {
	Shares
	freezer *Freezer
	shown   shown
	making  limiter // of what the owner has made: freezing, importing, redacting
	trying  limiter // of signing in
	opening limiter // of links that are good
	missing limiter // of links that are not: who tries them holds up no other
}

func newSharing(cfg Config) (*sharing, error) {
	if cfg.Shares == nil {
		return nil, nil
	}
	f, err := NewFreezer(cfg, cfg.Shares.Samples)
	return &sharing{
		Shares: *cfg.Shares, freezer: f, shown: shown{folder: cfg.Shares.Folder, now: cfg.Now},
		making:  limiter{now: cfg.Now, every: 3 * time.Second, burst: 5},
		trying:  limiter{now: cfg.Now, every: 3 * time.Second, burst: 5},
		opening: limiter{now: cfg.Now, every: 50 * time.Millisecond, burst: 100},
		missing: limiter{now: cfg.Now, every: time.Second, burst: 20},
	}, err
}

// Make freezes what an order says and keeps it.
func (s *sharing) Make(ctx context.Context, o Order) (snapshot.Info, error) {
	got, err := s.freezer.Freeze(ctx, o)
	if err != nil {
		return snapshot.Info{}, err
	}
	info, err := s.Folder.Put(got)
	return info, snapshotError(err)
}

// snapshotError turns an error of the folder into one for the visitor.
func snapshotError(err error) error {
	switch {
	case errors.Is(err, snapshot.ErrGone):
		return notFound("There is no such snapshot. It may have been deleted.")
	case errors.Is(err, snapshot.ErrLimit):
		return &failure{status: http.StatusInsufficientStorage, message: capital(err.Error()) + ".", cause: err}
	case errors.Is(err, snapshot.ErrNewer), errors.Is(err, snapshot.ErrNot):
		return &failure{status: http.StatusUnprocessableEntity, message: capital(err.Error()) + ".", cause: err}
	}
	return err
}

func capital(s string) string {
	if s == "" {
		return s
	}
	return strings.ToUpper(s[:1]) + format.Clean(s[1:])
}
