package rules

import (
	"context"

	"github.com/prometheus/prometheus/model/labels"
	promstorage "github.com/prometheus/prometheus/storage"
)

// coarseSource asks for a point a minute where storage has those, whatever the
// range of an expression: storage then lets a value stand for its minute, and a
// counter grow evenly within it, as it does of samples that have expired.
type coarseSource struct{ promstorage.Queryable }

// Querier implements promstorage.Queryable.
func (c coarseSource) Querier(mint, maxt int64) (promstorage.Querier, error) {
	q, err := c.Queryable.Querier(mint, maxt)
	return coarseQuerier{q}, err
}

type coarseQuerier struct{ promstorage.Querier }

// Select implements promstorage.Querier.
func (c coarseQuerier) Select(
	ctx context.Context, sorted bool, hints *promstorage.SelectHints, ms ...*labels.Matcher,
) promstorage.SeriesSet {
	if hints != nil {
		own := *hints
		own.Step, own.Range = max(own.Step, coarseHint.Milliseconds()), 0
		hints = &own
	}
	return c.Querier.Select(ctx, sorted, hints, ms...)
}
