package storage

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/prometheus/prometheus/model/labels"
	promstorage "github.com/prometheus/prometheus/storage"
	"github.com/prometheus/prometheus/util/annotations"
)

// Querier implements promstorage.Queryable over [mint, maxt], both inclusive
// and in milliseconds. History that the child does not give in time is missing
// from the result, which then carries [ErrPartial] as a warning.
func (s *Store) Querier(mint, maxt int64) (promstorage.Querier, error) {
	return &querier{s, mint, maxt}, nil
}

// querier reads one span of time. It holds nothing open.
type querier struct {
	store      *Store
	mint, maxt int64
}

var _ promstorage.Querier = (*querier)(nil)

// Select implements promstorage.Querier. End markers are delivered as they are.
// The hints' range, step and function decide whether rollups serve.
func (q *querier) Select(
	ctx context.Context, sorted bool, hints *promstorage.SelectHints, ms ...*labels.Matcher,
) promstorage.SeriesSet {
	sel := selection{mint: q.mint, maxt: q.maxt, matchers: ms}
	if hints != nil {
		sel.mint, sel.maxt = max(sel.mint, hints.Start), min(sel.maxt, hints.End)
		sel.step, sel.rng, sel.function = hints.Step, hints.Range, hints.Func
	}
	newer, from := q.store.head.selectSeries(sel.mint, sel.maxt, ms)
	older, warning, err := q.store.history(ctx, sel, from)
	set := &seriesSet{series: joined(older, newer), err: err}
	if warning != nil {
		set.warnings.Add(warning)
	}
	if sorted {
		sortSeries(set.series)
	}
	return set
}

// history asks the child for what is older than the head.
func (s *Store) history(ctx context.Context, sel selection, headFrom int64) (found []series, warning, err error) {
	sel.maxt = min(sel.maxt, headFrom-1)
	if s.client == nil || sel.mint > sel.maxt || !s.client.hasUpTo(sel.maxt) {
		return nil, nil, nil
	}
	r := chunkReader{span: bounds{sel.mint, sel.maxt, s.opts.Interval.Milliseconds()}}
	err = s.client.ask(ctx, question{
		Topic: askSamples, Mint: sel.mint, Maxt: sel.maxt, Step: sel.step, Range: sel.rng,
		Func: sel.function, Matchers: packMatchers(sel.matchers),
	}, r.read)
	if bad, ok := errors.AsType[*incomplete](err); ok {
		return r.series, bad, nil
	}
	switch {
	case err == nil:
		return r.series, nil, nil
	case ctx.Err() != nil:
		return nil, nil, ctx.Err() // the query itself has ended
	case errors.Is(err, errChild), errors.Is(err, context.DeadlineExceeded):
		return r.series, partial(r.newest, headFrom, err), nil
	}
	return nil, nil, err
}

// partial says which samples are missing.
func partial(newest, headFrom int64, why error) error {
	upTo := "now"
	if headFrom != math.MaxInt64 {
		upTo = time.UnixMilli(headFrom).UTC().Format(time.RFC3339)
	}
	from := ""
	if newest > 0 {
		from = " after " + time.UnixMilli(newest).UTC().Format(time.RFC3339)
	}
	return fmt.Errorf("%w: samples%s before %s are missing: %w", ErrPartial, from, upTo, why)
}

// LabelValues implements promstorage.LabelQuerier.
func (q *querier) LabelValues(
	ctx context.Context, name string, hints *promstorage.LabelHints, ms ...*labels.Matcher,
) ([]string, annotations.Annotations, error) {
	seen := map[string]bool{}
	warnings, err := q.eachLabels(ctx, ms, func(l labels.Labels) {
		if v := l.Get(name); v != "" {
			seen[v] = true
		}
	})
	return limited(seen, hints), warnings, err
}

// LabelNames implements promstorage.LabelQuerier.
func (q *querier) LabelNames(
	ctx context.Context, hints *promstorage.LabelHints, ms ...*labels.Matcher,
) ([]string, annotations.Annotations, error) {
	seen := map[string]bool{}
	warnings, err := q.eachLabels(ctx, ms, func(l labels.Labels) {
		l.Range(func(l labels.Label) { seen[l.Name] = true })
	})
	return limited(seen, hints), warnings, err
}

// eachLabels calls f with the labels of every series that matches; some come
// twice. Of history, days are the finest grain.
func (q *querier) eachLabels(
	ctx context.Context, ms []*labels.Matcher, f func(labels.Labels),
) (warnings annotations.Annotations, err error) {
	sets, from := q.store.head.labelSets(q.mint, q.maxt, ms)
	for _, l := range sets {
		f(l)
	}
	if q.store.client == nil || q.mint >= from {
		return nil, nil
	}
	var keys [][]byte
	err = q.store.client.ask(ctx, question{
		Topic: askLabels, Mint: q.mint, Maxt: min(q.maxt, from-1), Matchers: packMatchers(ms),
	}, func(b []byte) error { return json.Unmarshal(b, &keys) })
	if err != nil && ctx.Err() == nil {
		warnings.Add(partial(0, from, err))
		err = nil
	}
	for _, k := range keys {
		l, err := keyLabels(string(k))
		if err != nil {
			return warnings, err
		}
		f(l)
	}
	return warnings, err
}

// limited is the set in order, cut to the hints' limit.
func limited(set map[string]bool, hints *promstorage.LabelHints) []string {
	out := make([]string, 0, len(set))
	for v := range set {
		out = append(out, v)
	}
	slices.Sort(out)
	out, _ = hints.ApplyLimit(out)
	return out
}

// Close implements promstorage.LabelQuerier.
func (q *querier) Close() error { return nil }
