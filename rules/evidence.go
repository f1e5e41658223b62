package rules

import (
	"context"
	"maps"
	"slices"
	"time"

	"github.com/prometheus/prometheus/promql"

	"stallmark/storage/model"
)

// peak keeps, for one piece of evidence, the value that says most over the
// finding's span, with the threshold of the same beat: a finding must show the
// fault and not the calm after it.
type peak struct {
	rule   *EvidenceRule
	value  *float64
	limit  *float64 // nil without a threshold, or while that is not measured
	holds  bool
	detail string // names of witnesses from before a restart
	reason string // why it is unmeasured
}

// take offers one beat's reading.
func (p *peak) take(v float64, limit *float64) {
	holds := limit != nil && p.rule.Op.Holds(v, *limit)
	switch {
	case p.value == nil, holds && !p.holds:
	case holds == p.holds && p.rule.Op.Further(v, *p.value):
	default:
		return
	}
	p.value, p.limit, p.holds = &v, limit, holds
}

// read offers the reading of a result of the rule's expressions.
func (p *peak) read(values, limits promql.Vector, subject map[string]string) {
	s := furthest(values, subject, p.rule.Op)
	if s == nil {
		return
	}
	limit := p.rule.Threshold.Number
	if p.rule.Threshold.Expr != "" {
		i := slices.IndexFunc(limits, func(l promql.Sample) bool {
			return finite(l.F) && Agrees(subject, l.Metric) && Agrees(subjectOf(s.Metric), l.Metric)
		})
		if i >= 0 {
			limit = &limits[i].F
		}
	}
	p.take(s.F, limit)
}

// settled reports whether no value within the bounds would be taken.
func (p *peak) settled(b bounds) bool {
	if p.value == nil {
		return b.empty()
	}
	if !p.holds {
		if t := p.rule.Threshold; t.Expr != "" || t.Number != nil && p.rule.Op.mayHold(b, *t.Number) {
			return b.empty()
		}
	}
	return !p.rule.Op.mayExceed(b, *p.value)
}

// readBeat reads the present beat.
func (p *peak) readBeat(ctx context.Context, b *beat, subject map[string]string) error {
	if p.settled(b.bounds(ctx, p.rule.Expr)) {
		return nil
	}
	values, err := b.instant(ctx, p.rule.Expr)
	if err != nil {
		return err
	}
	var limits promql.Vector
	if p.rule.Threshold.Expr != "" {
		if limits, err = b.instant(ctx, p.rule.Threshold.Expr); err != nil {
			return err
		}
	}
	p.read(values, limits, subject)
	return nil
}

// readSpan reads the beats of a span that want accepts.
func (p *peak) readSpan(ctx context.Context, b *beat, subject map[string]string, from time.Time, want func(int64) bool) error {
	values, err := b.span(ctx, p.rule.Expr, from)
	if err != nil {
		return err
	}
	var limits map[int64]promql.Vector
	if p.rule.Threshold.Expr != "" {
		if limits, err = b.span(ctx, p.rule.Threshold.Expr, from); err != nil {
			return err
		}
	}
	for _, t := range slices.Sorted(maps.Keys(values)) {
		if want(t) {
			p.read(values[t], limits[t], subject)
		}
	}
	return nil
}

// span evaluates an expression at every beat from from, rounded so that the
// last one is this beat. The key is the time in milliseconds. Beats come late
// and never early, this one too: asked a quarter of an interval later, a beat
// that was later than this one still answers for itself and not for the one
// before it.
func (b *beat) span(ctx context.Context, expr string, from time.Time) (map[int64]promql.Vector, error) {
	late := b.query.interval / 4
	beats := max(0, (b.at.Sub(from)+b.query.interval/2)/b.query.interval)
	m, err := b.query.between(ctx, expr, b.at.Add(late-beats*b.query.interval), b.at.Add(late), b.query.interval, b.read)
	if err != nil {
		return nil, err
	}
	out := map[int64]promql.Vector{}
	for _, s := range m {
		for _, p := range s.Floats {
			t := p.T - late.Milliseconds()
			out[t] = append(out[t], promql.Sample{Metric: s.Metric, T: t, F: p.F})
		}
	}
	return out, nil
}

// evidence is the peak as the finding shows it.
func (p *peak) evidence() model.Evidence {
	return model.Evidence{
		Title: p.rule.Title, Value: p.value, Unit: p.rule.Unit, Threshold: p.limit,
		Role: p.rule.Role, State: p.state(), Detail: p.detail,
		Expr: p.rule.Expr, Limit: p.rule.Threshold.Expr,
	}
}

func (p *peak) state() model.EvidenceState {
	switch {
	case p.value == nil:
		return model.EvidenceUnmeasured
	case p.rule.Role == model.RoleContext:
		return model.EvidenceShown
	case p.limit == nil:
		return model.EvidenceUnmeasured
	case p.holds:
		return model.EvidenceHolds
	}
	return model.EvidenceFails
}

// unmeasured says why a piece of evidence has no value or no threshold.
func (p *peak) unmeasured(ctx context.Context, b *beat) string {
	expr := p.rule.Expr
	if p.value != nil {
		expr = p.rule.Threshold.Expr
	}
	missing, err := b.missingOf(ctx, expr)
	if err != nil {
		return err.Error()
	}
	if len(missing) == 0 {
		return "no value for this subject"
	}
	coverage, err := b.sources(ctx)
	if err != nil {
		return err.Error()
	}
	why, _ := explainMissing(missing, coverage)
	return why
}
