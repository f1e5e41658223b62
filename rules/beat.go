package rules

import (
	"context"
	"time"

	"github.com/prometheus/prometheus/model/value"
	"github.com/prometheus/prometheus/promql"
	promstorage "github.com/prometheus/prometheus/storage"
	"github.com/prometheus/prometheus/tsdb/chunkenc"

	"stallmark/storage/model"
)

// beat is what is read at one time, each thing once however many signatures
// ask for it.
type beat struct {
	src      Source
	query    *Query
	at       time.Time
	prover   *prover // nil if nothing is proven
	vectors  map[string]promql.Vector
	presence map[string]bool
	facts    map[string]model.Fact
	coverage []model.Coverage
}

func newBeat(src Source, query *Query, at time.Time) *beat {
	return &beat{
		src: src, query: query, at: at,
		vectors: map[string]promql.Vector{}, presence: map[string]bool{},
	}
}

// prove turns a prover to the beat.
func (b *beat) prove(p *prover) {
	p.begin(b.at.UnixMilli())
	b.prover = p
}

// bounds is what is known of an expression's result without evaluating it.
func (b *beat) bounds(ctx context.Context, expr string) bounds {
	if b.prover == nil {
		return anything()
	}
	return b.prover.bounds(ctx, expr)
}

// instant evaluates an expression at the beat.
func (b *beat) instant(ctx context.Context, expr string) (promql.Vector, error) {
	if v, ok := b.vectors[expr]; ok {
		return v, nil
	}
	v, err := b.query.Instant(ctx, expr, b.at)
	if err != nil {
		return nil, err
	}
	b.vectors[expr] = v
	return v, nil
}

// lean is instant for an expression that seldom has a result.
func (b *beat) lean(ctx context.Context, expr string) (promql.Vector, error) {
	if b.bounds(ctx, expr).empty() {
		return nil, nil
	}
	return b.instant(ctx, expr)
}

// missing lists the needs of a signature that have no sample.
func (b *beat) missing(ctx context.Context, s *Signature) ([]string, error) {
	var out []string
	for _, need := range s.Needs {
		ok, err := b.has(ctx, need)
		if err != nil {
			return nil, err
		}
		if !ok {
			out = append(out, need)
		}
	}
	return out, nil
}

// has reports whether a metric is being measured: one of its series has a
// sample in the last 30 s (or 10 beats) and has not been ended since. The
// newest beats are looked at first, since they nearly always answer.
func (b *beat) has(ctx context.Context, need string) (bool, error) {
	if ok, seen := b.presence[need]; seen {
		return ok, nil
	}
	ok, err := b.alive(ctx, need, minBeats*b.query.interval)
	if err == nil && !ok {
		ok, err = b.alive(ctx, need, max(30*time.Second, 10*b.query.interval))
	}
	if err != nil {
		return false, err
	}
	b.presence[need] = ok
	return ok, nil
}

func (b *beat) alive(ctx context.Context, need string, window time.Duration) (bool, error) {
	m, err := needMatcher(need)
	if err != nil {
		return false, err
	}
	from, to := b.at.Add(-window).UnixMilli(), b.at.UnixMilli()
	q, err := b.src.Querier(from, to)
	if err != nil {
		return false, err
	}
	defer q.Close()
	set := q.Select(ctx, false, &promstorage.SelectHints{Start: from, End: to}, m)
	var it chunkenc.Iterator
	for set.Next() {
		it = set.At().Iterator(it)
		if endsAlive(it, from, to) {
			return true, nil
		}
	}
	return false, set.Err()
}

// endsAlive reports whether the last sample in [from, to] is there and is no
// end marker.
func endsAlive(it chunkenc.Iterator, from, to int64) bool {
	alive := false
	for it.Next() == chunkenc.ValFloat {
		if t, v := it.At(); t >= from && t <= to {
			alive = !value.IsStaleNaN(v)
		}
	}
	return alive
}

// fact gives a fact's value, nil if there is none.
func (b *beat) fact(key string) any {
	if f, ok := b.facts[key]; ok {
		return f.Value
	}
	return nil
}

// readFacts reads the facts once.
func (b *beat) readFacts(ctx context.Context) error {
	if b.facts != nil {
		return nil
	}
	facts, err := b.src.FactsAt(ctx, b.at)
	if err != nil {
		return err
	}
	if facts == nil {
		facts = map[string]model.Fact{}
	}
	b.facts = facts
	return nil
}

// sources reads the coverage once.
func (b *beat) sources(ctx context.Context) ([]model.Coverage, error) {
	if b.coverage != nil {
		return b.coverage, nil
	}
	c, err := b.src.CoverageAt(ctx, b.at)
	if err != nil {
		return nil, err
	}
	b.coverage = append([]model.Coverage{}, c...)
	return b.coverage, nil
}
