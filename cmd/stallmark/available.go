package main

import (
	"context"
	"errors"
	"time"

	"github.com/prometheus/prometheus/model/labels"
	promstorage "github.com/prometheus/prometheus/storage"

	"stallmark/storage"
	"stallmark/storage/model"
	"stallmark/web"
)

// available is the store as the rules and the page see it: what memory has is
// an answer, also while older history does not answer. The page that asks then
// says so.
type available struct{ *storage.Store }

// settle makes an answer from memory alone one without an error.
func settle(ctx context.Context, err error) error {
	if errors.Is(err, storage.ErrPartial) {
		web.Missing(ctx)
		return nil
	}
	return err
}

// EventsIn implements web.Backend and rules.Source.
func (a available) EventsIn(ctx context.Context, from, to time.Time, kinds ...model.EventKind) ([]model.Event, error) {
	events, err := a.Store.EventsIn(ctx, from, to, kinds...)
	return events, settle(ctx, err)
}

// FactsAt implements web.Backend and rules.Source.
func (a available) FactsAt(ctx context.Context, at time.Time) (map[string]model.Fact, error) {
	facts, err := a.Store.FactsAt(ctx, at)
	return facts, settle(ctx, err)
}

// CoverageAt implements web.Backend and rules.Source.
func (a available) CoverageAt(ctx context.Context, at time.Time) ([]model.Coverage, error) {
	coverage, err := a.Store.CoverageAt(ctx, at)
	return coverage, settle(ctx, err)
}

// FindingsIn implements web.Backend.
func (a available) FindingsIn(ctx context.Context, from, to time.Time) ([]model.Finding, error) {
	found, err := a.Store.FindingsIn(ctx, from, to)
	return found, settle(ctx, err)
}

// Finding implements web.Backend. One that memory does not have may be in older
// history: that it does not exist cannot be said.
func (a available) Finding(ctx context.Context, id string) (model.Finding, bool, error) {
	f, ok, err := a.Store.Finding(ctx, id)
	if errors.Is(err, storage.ErrPartial) {
		err = errors.Join(web.ErrMissing, err)
	}
	return f, ok, err
}

// Querier implements promstorage.Queryable.
func (a available) Querier(mint, maxt int64) (promstorage.Querier, error) {
	q, err := a.Store.Querier(mint, maxt)
	return availableQuerier{q}, err
}

type availableQuerier struct{ promstorage.Querier }

// Select implements promstorage.Querier.
func (q availableQuerier) Select(
	ctx context.Context, sorted bool, hints *promstorage.SelectHints, ms ...*labels.Matcher,
) promstorage.SeriesSet {
	set := q.Querier.Select(ctx, sorted, hints, ms...)
	for _, warning := range set.Warnings() {
		if errors.Is(warning, storage.ErrPartial) {
			web.Missing(ctx)
		}
	}
	return set
}
