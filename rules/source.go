package rules

import (
	"context"
	"time"

	promstorage "github.com/prometheus/prometheus/storage"

	"stallmark/storage/model"
)

// Source is what the engine reads: series, events, facts and coverage of one
// host. The storage package has one; tests of signature files use another.
type Source interface {
	promstorage.Queryable
	// EventsIn gives the events that overlap [from, to], of the given kinds or
	// of all.
	EventsIn(ctx context.Context, from, to time.Time, kinds ...model.EventKind) ([]model.Event, error)
	// FactsAt gives the newest fact of each key at a time.
	FactsAt(ctx context.Context, at time.Time) (map[string]model.Fact, error)
	// CoverageAt gives the state of each source at a time.
	CoverageAt(ctx context.Context, at time.Time) ([]model.Coverage, error)
}
