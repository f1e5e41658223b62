package audit

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/prometheus/prometheus/promql"

	"stallmark/rules"
	"stallmark/storage/model"
)

// Source tells what is known of a host. [rules.Source] is one.
type Source interface {
	// FactsAt gives the newest fact of each key at a time.
	FactsAt(ctx context.Context, at time.Time) (map[string]model.Fact, error)
	// CoverageAt gives the state of each source at a time.
	CoverageAt(ctx context.Context, at time.Time) ([]model.Coverage, error)
}

// Querier evaluates PromQL at one time. [rules.Query] is one.
type Querier interface {
	Instant(ctx context.Context, expr string, at time.Time) (promql.Vector, error)
}

// Run judges the host as it was at a time. Results are in the order of the
// areas, the most pressing state first, then in that of the files. An error
// means that the source or a query failed, not that a setting is bad.
func (p *Pack) Run(ctx context.Context, src Source, q Querier, at time.Time) ([]Result, error) {
	h, err := newHost(ctx, src, q, at)
	if err != nil {
		return nil, err
	}
	results := []Result{}
	for _, c := range p.checks {
		rs, err := c.run(h)
		if err != nil {
			return nil, fmt.Errorf("check %s: %w", c.id, err)
		}
		results = append(results, rs...)
	}
	slices.SortStableFunc(results, func(a, b Result) int {
		return cmp.Or(
			cmp.Compare(slices.Index(Areas(), a.Area), slices.Index(Areas(), b.Area)),
			cmp.Compare(slices.Index(States(), a.State), slices.Index(States(), b.State)),
		)
	})
	return results, nil
}

// Reaches reports whether a state is at least as pressing as a level, which is
// [Advise] or [Warn].
func (s State) Reaches(level State) bool { return s == Warn || s == Advise && level == Advise }

// run gives the results of a check, one for each subject.
func (c *check) run(h *host) ([]Result, error) {
	if c.each == "" {
		r, err := c.judge(h, nil)
		return []Result{r}, err
	}
	subjects, err := h.subjects(c.each)
	if err != nil {
		return nil, err
	}
	if len(subjects) == 0 {
		r := c.result(nil)
		r.State, r.Says = Absent, c.none
		if g, unread := h.unread(c.each); unread {
			r.State, r.Says, r.Mend = Unknown, "Not read: "+g.why, g.mend
		}
		return []Result{r}, nil
	}
	var results []Result
	for _, s := range subjects {
		r, err := c.judge(h, s)
		if err != nil {
			return nil, err
		}
		results = append(results, r)
	}
	return results, nil
}

// result is the frame of a check's result.
func (c *check) result(subject map[string]string) Result {
	r := Result{ID: c.id, Title: c.title, Area: c.area, Subject: map[string]string{}, Source: c.source}
	for _, name := range []string{"process", "pid", "device", "mount"} {
		if v := subject[name]; v != "" {
			r.Subject[name] = v
		}
	}
	return r
}

// judge gives the result for one subject. A value that is not there makes it
// absent or unknown; an expression that does not fit the values makes it
// unknown. An error is a failed query.
func (c *check) judge(h *host, subject map[string]string) (Result, error) {
	r := c.result(subject)
	s := &scope{host: h, check: c, subject: subject, known: map[string]outcome{}}
	v, err := c.choose(s)
	if err == nil {
		err = v.fill(s, &r)
	}
	if failed, ok := errors.AsType[*queryError](err); ok {
		return r, failed
	}
	if err == nil {
		if r.State != Absent {
			r.Current, _ = rules.Render(c.current, s.texts(), subject, false)
		}
		return r, nil
	}
	if errors.Is(err, rules.ErrMissing) {
		err = s.firstGap(err)
	}
	r.Advice, r.State = nil, Unknown
	if g, ok := errors.AsType[gap](err); ok && g.lacking {
		r.State, r.Says = Absent, g.why
	} else if ok {
		r.Says, r.Mend = "Not read: "+g.why, g.mend
	} else {
		r.Says = "Not judged: " + err.Error()
	}
	return r, nil
}

// notHere is a gap with the check's own words.
func (c *check) notHere() error { return gap{lacking: true, why: c.absent} }

// choose finds the first verdict that holds.
func (c *check) choose(s *scope) (*verdict, error) {
	if c.applies != nil {
		ok, err := evalBool(c.applies.tree, s.lookup)
		if err != nil {
			return nil, err
		}
		if !ok {
			return nil, c.notHere()
		}
	}
	for i := range c.verdicts {
		v := &c.verdicts[i]
		if v.when == nil {
			return v, nil
		}
		ok, err := evalBool(v.when.tree, s.lookup)
		if err != nil {
			return nil, err
		}
		if ok {
			return v, nil
		}
	}
	return nil, errors.New("no verdict holds")
}

// fill renders the texts of a verdict. Advice that lacks a value, or would put
// an odd name into a command, is left out.
func (v *verdict) fill(s *scope, r *Result) error {
	r.State = v.state
	var err error
	if r.Says, err = rules.Render(v.says, s.texts(), s.subject, false); err != nil {
		return err
	}
	why := cmp.Or(v.why, s.check.why)
	if r.Why, err = rules.Render(why, s.texts(), s.subject, false); err != nil {
		return err
	}
	if v.advice != nil {
		r.Advice = v.advice.fill(s)
	}
	return s.queryFailure()
}

func (a *Advice) fill(s *scope) *Advice {
	var out Advice
	for _, part := range []struct {
		source  string
		into    *string
		command bool
	}{
		{a.Change, &out.Change, false},
		{a.Command, &out.Command, true},
		{a.Persist, &out.Persist, true},
		{a.Rollback, &out.Rollback, true},
		{a.Risk, &out.Risk, false},
	} {
		text, err := rules.Render(part.source, s.texts(), s.subject, part.command)
		if err != nil {
			return nil
		}
		*part.into = text
	}
	return &out
}
