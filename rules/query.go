package rules

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/prometheus/prometheus/model/labels"
	"github.com/prometheus/prometheus/promql"
	"github.com/prometheus/prometheus/promql/parser"
	promstorage "github.com/prometheus/prometheus/storage"

	"stallmark/storage/model"
)

// Limits of a query. A beat must not be held up by one expression, and a page
// must not be able to fill memory.
const (
	queryTimeout = 10 * time.Second
	maxSamples   = 5_000_000
	maxPoints    = 11_000 // per series of a range; Prometheus' own limit
	maxParsed    = 2_000  // expressions kept parsed
)

// Query evaluates PromQL over a storage: Prometheus' own engine with a lookback
// of three intervals, so that a silent series is not kept alive. It is safe for
// concurrent use.
type Query struct {
	src      promstorage.Queryable
	engine   *promql.Engine
	parser   parser.Parser
	interval time.Duration
	needs    sync.Map // matchers of needs and of metrics looked for, by name
}

// NewQuery makes a Query over q, whose samples come every interval.
func NewQuery(q promstorage.Queryable, interval time.Duration) *Query {
	p := &cachingParser{
		Parser: newParser(),
		least:  minBeats * interval,
		parsed: map[string]parser.Expr{},
	}
	return &Query{
		src:      q,
		interval: interval,
		parser:   p,
		engine: promql.NewEngine(promql.EngineOpts{
			MaxSamples:               maxSamples,
			Timeout:                  queryTimeout,
			LookbackDelta:            minBeats * interval,
			NoStepSubqueryIntervalFn: func(int64) int64 { return interval.Milliseconds() },
			EnableAtModifier:         true,
			EnableNegativeOffset:     true,
			Parser:                   p,
		}),
	}
}

// newParser is the PromQL parser, without the experimental parts.
func newParser() parser.Parser { return parser.NewParser(parser.Options{}) }

// Instant evaluates expr at one time. A scalar comes back as one sample without
// labels. The result is sorted by labels.
func (q *Query) Instant(ctx context.Context, expr string, at time.Time) (promql.Vector, error) {
	return q.instant(ctx, expr, at, nil)
}

// instant is Instant that adds the samples it reads to a count, which may be nil.
func (q *Query) instant(ctx context.Context, expr string, at time.Time, read *int64) (promql.Vector, error) {
	query, err := q.engine.NewInstantQuery(ctx, q.src, nil, expr, at)
	if err != nil {
		return nil, fmt.Errorf("query %q: %w", expr, err)
	}
	defer query.Close()
	res := query.Exec(ctx)
	countRead(query, read)
	if res.Err != nil {
		return nil, fmt.Errorf("query %q: %w", expr, res.Err)
	}
	switch v := res.Value.(type) {
	case promql.Vector:
		slices.SortFunc(v, func(a, b promql.Sample) int { return labels.Compare(a.Metric, b.Metric) })
		return v, nil
	case promql.Scalar:
		return promql.Vector{{T: v.T, F: v.V}}, nil
	}
	return nil, fmt.Errorf("query %q: gives a %s, want a vector or a scalar", expr, res.Value.Type())
}

// Range evaluates expr at from, from+step, ... up to to. A step that would give
// more than 11,000 points a series is lengthened until it does not.
func (q *Query) Range(ctx context.Context, expr string, from, to time.Time, step time.Duration) (promql.Matrix, error) {
	return q.between(ctx, expr, from, to, step, nil)
}

// countRead adds the samples that a query has read to a count.
func countRead(query promql.Query, read *int64) {
	if read != nil {
		*read += query.Stats().Samples.TotalSamples
	}
}

// between is Range that adds the samples it reads to a count, which may be nil.
func (q *Query) between(
	ctx context.Context, expr string, from, to time.Time, step time.Duration, read *int64,
) (promql.Matrix, error) {
	if to.Before(from) || step <= 0 {
		return nil, fmt.Errorf("query %q: bad range %v to %v by %v", expr, from, to, step)
	}
	step = max(step, to.Sub(from)/maxPoints, time.Millisecond)
	query, err := q.engine.NewRangeQuery(ctx, q.src, nil, expr, from, to, step)
	if err != nil {
		return nil, fmt.Errorf("query %q: %w", expr, err)
	}
	defer query.Close()
	res := query.Exec(ctx)
	countRead(query, read)
	if res.Err != nil {
		return nil, fmt.Errorf("query %q: %w", expr, res.Err)
	}
	m, err := res.Matrix()
	if err != nil {
		return nil, fmt.Errorf("query %q: %w", expr, err)
	}
	// Close gives the points back to the engine.
	out := slices.Clone(m)
	for i := range out {
		out[i].Floats = slices.Clone(m[i].Floats)
	}
	return out, nil
}

// Chart is what is drawn for one piece of evidence: its values, and its
// threshold as a line of its own where that moves.
type Chart struct {
	Values promql.Matrix
	Limits promql.Matrix // empty if the threshold is a number, or there is none
}

// Chart evaluates a piece of evidence over a range, for one subject.
func (q *Query) Chart(
	ctx context.Context, ev model.Evidence, subject map[string]string, from, to time.Time, step time.Duration,
) (Chart, error) {
	var c Chart
	for _, part := range []struct {
		expr string
		into *promql.Matrix
	}{{ev.Expr, &c.Values}, {ev.Limit, &c.Limits}} {
		if part.expr == "" {
			continue
		}
		m, err := q.Range(ctx, part.expr, from, to, step)
		if err != nil {
			return Chart{}, err
		}
		*part.into = slices.DeleteFunc(m, func(s promql.Series) bool { return !Agrees(subject, s.Metric) })
	}
	return c, nil
}

// cachingParser parses each expression once and hands out copies whose short
// ranges are widened.
type cachingParser struct {
	parser.Parser
	least time.Duration

	mu     sync.RWMutex
	parsed map[string]parser.Expr
}

// ParseExpr implements [parser.Parser].
func (p *cachingParser) ParseExpr(input string) (parser.Expr, error) {
	p.mu.RLock()
	kept := p.parsed[input]
	p.mu.RUnlock()
	if kept != nil {
		if c, ok := cloneExpr(kept); ok {
			return c, nil
		}
	}
	expr, err := p.Parser.ParseExpr(input)
	if err != nil {
		return expr, err
	}
	widen(expr, p.least)
	if c, ok := cloneExpr(expr); ok {
		p.keep(input, c)
	}
	return expr, nil
}

// keep remembers a parsed expression; when there are too many, all are dropped,
// since the pack's own come back with the next beat.
func (p *cachingParser) keep(input string, expr parser.Expr) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if len(p.parsed) >= maxParsed {
		clear(p.parsed)
	}
	p.parsed[input] = expr
}
