package rules

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/prometheus/prometheus/promql"

	"stallmark/storage/model"
)

// maxExact is how many beats of a window are looked at for the values by which
// causes are ruled out. A longer window is looked at in as many steps.
const maxExact = 3600

// maxExactWindow is the longest window of which the samples themselves are looked
// at for such values, where no series of them is kept. Of a longer one a point a
// minute is.
const maxExactWindow = time.Hour

// Report is the verdict about a window: the findings that overlap it, their
// incidents, the causes that are ruled out with their worst value in it, what
// could not be judged and why (nothing measures it at the end, or in a tenth of
// the window or during a finding; or it has not been watched for long enough),
// what does not apply here, and the coverage at
// its end.
// findings are usually those of the store. An error says what could not be
// read; the report then lacks that part. Slices are never nil.
func (e *Engine) Report(ctx context.Context, from, to time.Time, findings []model.Finding) (model.Report, error) {
	from, to = from.UTC(), to.UTC().Truncate(time.Millisecond)
	r := model.Report{
		Window:   model.Window{From: from, To: to},
		Findings: inWindow(findings, from, to),
		RuledOut: []model.RuledOut{}, Unknown: []model.Unknown{}, NotApplicable: []model.NotApplicable{},
		Coverage: []model.Coverage{},
	}
	r.Incidents = Incidents(r.Findings)
	b := newBeat(e.src, e.query, to)
	var errs []error
	coverage, err := b.sources(ctx)
	if err != nil {
		errs = append(errs, fmt.Errorf("coverage: %w", err))
	}
	r.Coverage = append(r.Coverage, coverage...)
	var holes *gaps
	if to.Sub(from) <= maxGapWindow {
		holes, err = gapsIn(ctx, b, e.pack, from)
		errs = append(errs, err)
	}
	judged, beside := map[string]bool{}, map[string]string{}
	for _, s := range e.pack.Signatures {
		st, err := e.standing(ctx, b, s, from, r.Coverage)
		if err == nil && st.judged() && !hasFinding(r, s.ID) {
			st.unknown, err = e.undecided(ctx, b, s)
			if err == nil && st.unknown == nil && holes != nil {
				st.unknown, beside[s.ID], err = e.partly(ctx, holes, s, r)
			}
		}
		errs = append(errs, err)
		if st.unknown != nil {
			r.Unknown = append(r.Unknown, *st.unknown)
		}
		if st.none != nil && !hasFinding(r, s.ID) {
			r.NotApplicable = append(r.NotApplicable, *st.none)
		}
		judged[s.ID] = err == nil && st.judged()
	}
	for _, s := range differentialFirst(e.pack, e.rootSignature(r)) {
		if !judged[s.ID] || hasFinding(r, s.ID) {
			continue
		}
		ruled, err := e.ruleOut(ctx, b, s, r.Window)
		errs = append(errs, err)
		if ruled != nil && beside[s.ID] != "" {
			ruled.Why += ", " + beside[s.ID]
		}
		if ruled != nil {
			r.RuledOut = append(r.RuledOut, *ruled)
		}
	}
	return r, errors.Join(errs...)
}

// inWindow is the findings that overlap the window, sorted, without nil slices.
func inWindow(findings []model.Finding, from, to time.Time) []model.Finding {
	out := []model.Finding{}
	for _, f := range findings {
		if f.Started.After(to) || f.Ended != nil && f.Ended.Before(from) {
			continue
		}
		if f.Subject == nil {
			f.Subject = map[string]string{}
		}
		f.Evidence = append([]model.Evidence{}, f.Evidence...)
		f.Explains = append([]string{}, f.Explains...)
		f.Remedy = append([]model.Remedy{}, f.Remedy...)
		out = append(out, f)
	}
	sortFindings(out)
	return out
}

// rootSignature is the signature of the worst incident's root, nil if there is
// none: its differential comes first among the ruled-out.
func (e *Engine) rootSignature(r model.Report) *Signature {
	if len(r.Incidents) == 0 {
		return nil
	}
	for _, f := range r.Findings {
		if f.ID == r.Incidents[0].Root {
			return e.pack.Signature(f.Signature)
		}
	}
	return nil
}

// ruleOut gives the line of a cause that was judged and not found.
func (e *Engine) ruleOut(ctx context.Context, b *beat, s *Signature, w model.Window) (*model.RuledOut, error) {
	worst, err := e.worstQuiet(ctx, b, s, w)
	if err != nil {
		return nil, wrap(s.ID, err)
	}
	return &model.RuledOut{Signature: s.ID, Title: s.Title, Why: s.Quiet.why(worst)}, nil
}

// holdsAt reports whether a signature's condition holds: as last judged if that
// was just now, else evaluated.
func (e *Engine) holdsAt(ctx context.Context, b *beat, s *Signature) (bool, error) {
	e.mu.Lock()
	age, active := b.at.Sub(e.at), e.active(s.ID) != inactive
	e.mu.Unlock()
	if age >= 0 && age < minBeats*max(e.interval, judgeEvery) {
		return active, nil
	}
	v, err := b.instant(ctx, s.When)
	return len(v) > 0, err
}

// worstQuiet is the worst quiet value in a window: from the book if that has
// it, else from the series of quiet values as far back as they go, and what is
// older is evaluated.
func (e *Engine) worstQuiet(ctx context.Context, b *beat, s *Signature, w model.Window) (*promql.Sample, error) {
	if s.Quiet == nil {
		return nil, nil
	}
	if worst, ok := e.book.between(s, w.From, w.To); ok {
		return worst, nil
	}
	if w.To.Sub(w.From) < bookWindow {
		return b.query.quietSpan(ctx, s, w, e.interval)
	}
	if b.quiet == nil {
		var err error
		if b.quiet, err = b.quietPasts(ctx, e.pack, w.From); err != nil {
			return nil, err
		}
	}
	past, known := b.quiet[s.ID]
	if known {
		w.To = time.UnixMilli(past.from).UTC()
	}
	if w.To.Sub(w.From) < time.Minute && known {
		return past.worst, nil
	}
	query := b.query
	if w.To.Sub(w.From) > maxExactWindow {
		query = NewQuery(coarseSource{b.src}, e.interval)
	}
	older, err := query.quietSpan(ctx, s, w, max(e.interval, w.To.Sub(w.From)/maxExact))
	if err != nil || older == nil || past.worst != nil && !s.Quiet.Op.Further(older.F, past.worst.F) {
		return past.worst, err
	}
	return older, nil
}

func wrap(id string, err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("%s: %w", id, err)
}

// hasFinding reports whether a signature has a finding in the report.
func hasFinding(r model.Report, id string) bool {
	return slices.ContainsFunc(r.Findings, func(f model.Finding) bool { return f.Signature == id })
}

// Replay judges every beat of a past span with a fresh state, by the same code
// as live, and reports on it.
func (e *Engine) Replay(ctx context.Context, from, to time.Time) (model.Report, error) {
	fresh := NewEngine(e.pack, e.src, e.interval)
	found := map[string]model.Finding{}
	var order []string
	var errs []error
	for at := from; !at.After(to); at = at.Add(e.interval) {
		if err := ctx.Err(); err != nil {
			return model.Report{}, err
		}
		findings, err := fresh.Step(ctx, at)
		errs = append(errs, err)
		for _, f := range findings {
			if _, seen := found[f.ID]; !seen {
				order = append(order, f.ID)
			}
			found[f.ID] = f
		}
	}
	var all []model.Finding
	for _, id := range order {
		all = append(all, found[id])
	}
	r, err := fresh.Report(ctx, from, to, all)
	return r, errors.Join(append(errs, err)...)
}
