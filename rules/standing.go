package rules

import (
	"context"
	"slices"
	"strings"
	"time"

	"stallmark/storage/model"
)

// standing is why a signature can not be judged in a window; at most one of the
// two is set. With neither it fires or is ruled out.
type standing struct {
	unknown *model.Unknown
	none    *model.NotApplicable
}

func (s standing) judged() bool { return s.unknown == nil && s.none == nil }

// standing looks at what a signature needs, at the end of a window that begins
// at from.
func (e *Engine) standing(ctx context.Context, b *beat, s *Signature, from time.Time, coverage []model.Coverage) (standing, error) {
	if u := e.tooDear(s); u != nil {
		return standing{unknown: u}, nil
	}
	now, ever, err := b.applies(ctx, s, from)
	switch {
	case err != nil:
		return standing{}, wrap(s.ID, err)
	case !ever:
		st, err := e.inapplicable(ctx, b, s, coverage)
		return st, wrap(s.ID, err)
	case !now: // what it is about is gone; while it was there it was judged
		return standing{}, nil
	}
	u, err := e.unknown(ctx, b, s, coverage)
	return standing{unknown: u}, err
}

// applies reports whether there is anything that a signature is about: at the
// beat, and at any time since from.
func (b *beat) applies(ctx context.Context, s *Signature, from time.Time) (now, ever bool, err error) {
	if s.Applies == nil {
		return true, true, nil
	}
	v, err := b.instant(ctx, s.Applies.Expr)
	if err != nil || len(v) > 0 {
		return true, true, err
	}
	if !from.Before(b.at) {
		return false, false, nil
	}
	ever, known := b.applied[s.Applies.Expr]
	if !known {
		step := max(b.query.interval, b.at.Sub(from)/maxExact)
		m, err := b.query.Range(ctx, s.Applies.Expr, from, b.at, step)
		if err != nil {
			return false, false, err
		}
		ever = len(m) > 0
		b.applied[s.Applies.Expr] = ever
	}
	return false, ever, nil
}

// inapplicable is the standing of a signature without anything that it is about:
// not applicable, unless the source that would show it could not be read.
func (e *Engine) inapplicable(ctx context.Context, b *beat, s *Signature, coverage []model.Coverage) (standing, error) {
	missing, err := b.missingOf(ctx, s.Applies.Expr)
	if err != nil {
		return standing{}, err
	}
	none := &model.NotApplicable{Signature: s.ID, Title: s.Title, Layer: s.Layer, Severity: s.Severity, Why: s.Applies.None}
	for _, name := range missing {
		switch c := provider(name, coverage); c.State {
		case model.SourceDenied, model.SourceFailed:
			u := newUnknown(s)
			u.Why, u.Mend = explainMissing([]string{name}, coverage)
			return standing{unknown: u}, nil
		case model.SourceAbsent:
			none.Mend = c.Mend
		}
	}
	return standing{none: none}, nil
}

// missingOf lists the metrics of an expression that have no sample.
func (b *beat) missingOf(ctx context.Context, expr string) ([]string, error) {
	parsed, err := b.query.parser.ParseExpr(expr)
	if err != nil {
		return nil, err
	}
	var out []string
	for _, name := range metricNames(parsed) {
		ok, err := b.has(ctx, name)
		if err != nil {
			return nil, err
		}
		if !ok {
			out = append(out, name)
		}
	}
	return out, nil
}

func newUnknown(s *Signature) *model.Unknown {
	return &model.Unknown{Signature: s.ID, Title: s.Title, Layer: s.Layer, Severity: s.Severity}
}

// unknown says why a signature cannot be judged, nil if it can.
func (e *Engine) unknown(ctx context.Context, b *beat, s *Signature, coverage []model.Coverage) (*model.Unknown, error) {
	missing, err := b.missing(ctx, s)
	if err != nil || len(missing) == 0 {
		return nil, wrap(s.ID, err)
	}
	if len(s.Limits) > 0 {
		if err := b.readFacts(ctx); err != nil {
			return nil, wrap(s.ID, err)
		}
	}
	u := newUnknown(s)
	u.Why, u.Mend, u.Lacking = b.explain(s, missing, coverage)
	return u, nil
}

// explain says why needs are missing, what would mend it, and whether this host
// cannot have them: its kernel is too old, or their source says that nothing
// would mend it.
func (b *beat) explain(s *Signature, missing []string, coverage []model.Coverage) (why, mend string, lacking bool) {
	var whys, mends, rest []string
	for _, need := range missing {
		limit := s.Limits[need]
		old := limit.tooOld(need, b.fact("host.kernel"))
		if old == "" {
			rest = append(rest, need)
			continue
		}
		whys = append(whys, old)
		if limit.Else != "" && !slices.Contains(mends, limit.Else) {
			mends = append(mends, limit.Else)
		}
	}
	lacking = !slices.ContainsFunc(rest, func(need string) bool {
		c := provider(need, coverage)
		return c.State != model.SourceAbsent || c.Mend != ""
	})
	if len(rest) > 0 {
		why, mend := explainMissing(rest, coverage)
		whys = append(whys, why)
		if mend != "" {
			mends = append(mends, mend)
		}
	}
	return strings.Join(whys, "; "), strings.Join(mends, "; "), lacking
}
