package rules

import (
	"context"
	"slices"
	"time"

	"github.com/prometheus/prometheus/promql"

	"stallmark/storage/model"
)

// quietData is the dot of the template by which a signature is ruled out.
type quietData struct {
	Value  string
	Labels map[string]any
}

// notMet is said of a signature that is ruled out without a value.
const notMet = "its condition is not met"

// why renders the line with a measured value; nil means there is none.
func (q *Quiet) why(s *promql.Sample) string {
	if q == nil || s == nil {
		return notMet
	}
	data := quietData{Value: Format(s.F, q.Unit), Labels: anyMap(subjectOf(s.Metric))}
	text, err := render(q.Text, data, func(string) any { return nil })
	if err != nil {
		return notMet
	}
	return text
}

// quietSpan is the worst value of a signature's quiet expression since from;
// nil if there is none.
func (b *beat) quietSpan(ctx context.Context, s *Signature, from time.Time, step time.Duration) (*promql.Sample, error) {
	if s.Quiet == nil {
		return nil, nil
	}
	m, err := b.query.Range(ctx, s.Quiet.Expr, from, b.at, step)
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
	worst      map[string]*promql.Sample // by signature, over the finding's span
	implicated map[string]bool           // fired during it: never ruled out
}

// update rules out the causes that are known and not active at this beat.
func (r *ruling) update(ctx context.Context, b *beat, pack *Pack, own *Signature, from time.Time, active func(id string) phase) []model.RuledOut {
	first := r.worst == nil
	if first {
		r.worst, r.implicated = map[string]*promql.Sample{}, map[string]bool{}
	}
	out := []model.RuledOut{}
	for _, s := range differentialFirst(pack, own) {
		if phase := active(s.ID); phase != inactive {
			r.implicated[s.ID] = r.implicated[s.ID] || phase == firing
			continue
		}
		missing, err := b.missing(ctx, s)
		if err != nil || len(missing) > 0 || r.implicated[s.ID] {
			continue
		}
		if v := r.reading(ctx, b, s, from, first); v != nil {
			if w := r.worst[s.ID]; w == nil || s.Quiet.Op.Further(v.F, w.F) {
				r.worst[s.ID] = v
			}
		}
		out = append(out, model.RuledOut{Signature: s.ID, Title: s.Title, Why: s.Quiet.why(r.worst[s.ID])})
	}
	return out
}

// reading is the worst value of this beat, at first of the whole span. An
// expression that fails is reported by the beat's own judgement, not here.
func (r *ruling) reading(ctx context.Context, b *beat, s *Signature, from time.Time, whole bool) *promql.Sample {
	if s.Quiet == nil {
		return nil
	}
	if whole {
		v, err := b.quietSpan(ctx, s, from, b.query.interval)
		if err != nil {
			return nil
		}
		return v
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
