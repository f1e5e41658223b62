package rules

import (
	"context"
	"slices"
	"time"

	"github.com/prometheus/prometheus/promql"

	"stallmark/storage/model"
)

// notMet is said of a signature that is ruled out without a value.
const notMet = "its condition is not met"

// why renders the line with a measured value; nil means there is none.
func (q *Quiet) why(s *promql.Sample) string {
	if q == nil || s == nil {
		return notMet
	}
	data := textData{"Value": Format(s.F, q.Unit), "Labels": anyMap(subjectOf(s.Metric))}
	text, err := render(q.Text, data, func(string) any { return nil })
	if err != nil {
		return notMet
	}
	return text
}

// quietSpan is the worst value of a signature's quiet expression in a window;
// nil if there is none.
func (q *Query) quietSpan(ctx context.Context, s *Signature, w model.Window, step time.Duration) (*promql.Sample, error) {
	if s.Quiet == nil {
		return nil, nil
	}
	m, err := q.Range(ctx, s.Quiet.Expr, w.From, w.To, step)
	if err != nil {
		return nil, err
	}
	var all promql.Vector
	for _, series := range m {
		for _, p := range series.Floats {
			all = append(all, promql.Sample{Metric: series.Metric, T: p.T, F: p.F})
		}
	}
	return furthest(all, nil, s.Quiet.Op), nil
}

// ruling follows, for one open finding, which other causes are ruled out.
type ruling struct {
	worst      map[string]ruledLine // by signature, over the finding's span
	implicated map[string]bool      // fired during it: never ruled out
}

// ruledLine is a signature's worst quiet value with what is said of it.
type ruledLine struct {
	value *promql.Sample // nil if there is none
	why   string
	read  time.Time // when it was last looked at
}

// update rules out the causes that are known and not active at this beat.
func (r *ruling) update(ctx context.Context, b *beat, e *Engine, own *Signature, from time.Time) []model.RuledOut {
	first := r.worst == nil
	if first {
		r.worst, r.implicated = map[string]ruledLine{}, map[string]bool{}
	}
	out := []model.RuledOut{}
	for _, s := range differentialFirst(e.pack, own) {
		if phase := e.active(s.ID); phase != inactive {
			r.implicated[s.ID] = r.implicated[s.ID] || phase == firing
			continue
		}
		if r.implicated[s.ID] || !b.judgeable(ctx, s) {
			continue
		}
		line, known := r.worst[s.ID]
		if !known || s.Quiet != nil && b.at.Sub(line.read) >= e.quietEvery(s) {
			v := r.reading(ctx, b, s, from, line.value, first)
			if !known || v != nil && (line.value == nil || s.Quiet.Op.Further(v.F, line.value.F)) {
				line.value, line.why = v, s.Quiet.why(v)
			}
			line.read = b.at
			r.worst[s.ID] = line
		}
		out = append(out, model.RuledOut{Signature: s.ID, Title: s.Title, Why: line.why})
	}
	return out
}

// judgeable reports whether a signature applies and has what it needs.
func (b *beat) judgeable(ctx context.Context, s *Signature) bool {
	now, _, err := b.applies(ctx, s, b.at)
	if err != nil || !now {
		return false
	}
	missing, err := b.missing(ctx, s)
	return err == nil && len(missing) == 0
}

// reading is the worst value of this beat, at first of the whole span; nil if
// it cannot be worse than the one known. An expression that fails is reported
// by the beat's own judgement, not here.
func (r *ruling) reading(ctx context.Context, b *beat, s *Signature, from time.Time, known *promql.Sample, whole bool) *promql.Sample {
	if s.Quiet == nil {
		return nil
	}
	if whole {
		v, err := b.query.quietSpan(ctx, s, model.Window{From: from, To: b.at}, b.query.interval)
		if err != nil {
			return nil
		}
		return v
	}
	now := b.bounds(ctx, s.Quiet.Expr)
	if now.empty() || known != nil && !s.Quiet.Op.mayExceed(now, known.F) {
		return nil
	}
	v, err := b.instant(ctx, s.Quiet.Expr)
	if err != nil {
		return nil
	}
	return furthest(v, nil, s.Quiet.Op)
}

// differentialFirst lists the causes other than own, those in its differential
// first. own may be nil.
func differentialFirst(pack *Pack, own *Signature) []*Signature {
	var out []*Signature
	if own != nil {
		for _, id := range own.Differential {
			if s := pack.Signature(id); s != nil && s != own && s.Layer == model.LayerCause {
				out = append(out, s)
			}
		}
	}
	for _, s := range pack.Signatures {
		if s.Layer == model.LayerCause && s != own && !slices.Contains(out, s) {
			out = append(out, s)
		}
	}
	return out
}
