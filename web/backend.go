package web

import (
	"context"
	"time"

	"github.com/prometheus/prometheus/promql"

	"stallmark/rules"
	"stallmark/storage/model"
	"stallmark/web/view"
)

// Backend is what the page asks. The store, the query engine and the rule
// engine together have almost all of it, so an adapter embeds those three and
// adds Signatures and Health:
//
//	type backend struct {
//		*storage.Store
//		*rules.Query
//		*rules.Engine
//	}
//
// All methods are called by several requests at once and must obey their
// context. Times are UTC.
type Backend interface {
	// EventsIn returns the events that overlap [from, to], oldest first; of all
	// kinds if none is named.
	EventsIn(ctx context.Context, from, to time.Time, kinds ...model.EventKind) ([]model.Event, error)
	// FactsAt returns the facts as they stood, by key.
	FactsAt(ctx context.Context, at time.Time) (map[string]model.Fact, error)
	// CoverageAt returns what the sources could read.
	CoverageAt(ctx context.Context, at time.Time) ([]model.Coverage, error)
	// FindingsIn returns the findings that overlap [from, to], firing ones included.
	FindingsIn(ctx context.Context, from, to time.Time) ([]model.Finding, error)
	// Finding returns one finding; false if there is none with that id.
	Finding(ctx context.Context, id string) (model.Finding, bool, error)
	// Extent returns the times of the oldest and the newest sample, zero if
	// there are none.
	Extent(ctx context.Context) (oldest, newest time.Time)

	// Instant evaluates PromQL at a time.
	Instant(ctx context.Context, expr string, at time.Time) (promql.Vector, error)
	// Range evaluates PromQL at every step of [from, to].
	Range(ctx context.Context, expr string, from, to time.Time, step time.Duration) (promql.Matrix, error)

	// Report is the verdict about [from, to], given the findings in it.
	Report(ctx context.Context, from, to time.Time, findings []model.Finding) (model.Report, error)
	// Signatures is the catalogue in its order. Nobody changes what it returns.
	Signatures() []*rules.Signature
	// Health is what Stallmark knows about itself.
	Health(ctx context.Context) Health
}

// Health is what Stallmark knows about itself.
type Health = view.Health

// Storage is the state of the store.
type Storage = view.Storage
