package rules

import (
	"context"
	"time"

	"github.com/prometheus/prometheus/promql"
	"github.com/prometheus/prometheus/tsdb/chunkenc"
)

// prover bounds the results of expressions without evaluating them. Most
// conditions are far from true at most beats: knowing that a rate is at most 3
// is enough to know that it is not above 5, at a hundredth of what the engine
// spends on saying so. What it cannot decide, the engine does.
//
// It reads the same samples and uses the engine's own functions over them
// (leaf.go); above that it calculates with bounds and leaves the matching of
// labels aside (term.go). An expression that would fail, say for ambiguous
// labels, is not seen to fail while it is proven to be empty.
//
// It is for one beat at a time and for one goroutine.
type prover struct {
	query  *Query
	known  map[string]proof // by expression
	leaves map[string]*leaf // by text and times; what signatures share is read once a beat

	turn uint64 // of the beat
	read *int64 // counts the samples that are read; may be nil
	at   int64  // milliseconds

	// Scratch of the leaves.
	points []promql.FPoint
	matrix promql.Matrix
	helper promql.EvalNodeHelper
	walk   chunkenc.Iterator
}

func newProver(q *Query) *prover {
	return &prover{query: q, known: map[string]proof{}, leaves: map[string]*leaf{}, matrix: make(promql.Matrix, 1)}
}

// proof is what is kept of an expression.
type proof struct {
	term     term
	lookback time.Duration // its longest range
}

// begin turns to a beat.
func (p *prover) begin(at int64) { p.turn, p.at = p.turn+1, at }

// bounds is the bounds of an expression's result at the beat.
func (p *prover) bounds(ctx context.Context, expr string) bounds { return p.proof(expr).term(ctx, p) }

// lookback is the longest range in an expression.
func (p *prover) lookback(expr string) time.Duration { return p.proof(expr).lookback }

// proof compiles an expression once; of a bad one anything can be expected.
func (p *prover) proof(expr string) proof {
	if known, ok := p.known[expr]; ok {
		return known
	}
	made := proof{term: fixed(anything())}
	if parsed, err := p.query.parser.ParseExpr(expr); err == nil {
		made = proof{p.compile(parsed, times{step: 1}), longestRange(parsed)}
	}
	p.known[expr] = made
	return made
}
