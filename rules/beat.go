package rules

import (
	"context"
	"time"

	"github.com/prometheus/prometheus/promql"

	"stallmark/storage/model"
)

// beat is what is read at one time, each thing once however many signatures
// ask for it.
type beat struct {
	src      Source
	query    *Query
	at       time.Time
	prover   *prover // nil if nothing is proven
	read     *int64  // counts the samples that are read; may be nil
	vectors  map[string]promql.Vector
	presence map[string]bool
	applied  map[string]bool      // by expression, since the beginning of a window
	quiet    map[string]quietPast // of the window, by signature; nil if it was not read
	facts    map[string]model.Fact
	coverage []model.Coverage
}

func newBeat(src Source, query *Query, at time.Time) *beat {
	return &beat{
		src: src, query: query, at: at,
		vectors: map[string]promql.Vector{}, presence: map[string]bool{}, applied: map[string]bool{},
	}
}

// prove turns a prover to the beat.
func (b *beat) prove(p *prover) {
	p.begin(b.at.UnixMilli())
	b.prover = p
}

// count has the samples that are read from now on added to a count.
func (b *beat) count(read *int64) {
	b.read = read
	if b.prover != nil {
		b.prover.read = read
	}
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
	v, err := b.query.instant(ctx, expr, b.at, b.read)
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
