package web

import (
	"context"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"

	"stallmark/rules"
	"stallmark/storage/model"
	"stallmark/web/view"
)

// What a live window rules out is measured over the whole of it, for every
// signature. It is looked at again when a finding comes, goes or changes its
// state, and else after a while.
const (
	ruledFor   = 10 * time.Second
	ruledSteps = 5 // of a chart, where those are longer
)

// reports keeps the last verdict about each live window.
type reports struct {
	mu      sync.Mutex
	byRange map[string]keptReport
}

type keptReport struct {
	at       time.Time
	findings string // their ids and states
	report   model.Report
}

// report fetches the findings of a window and the verdict about it.
func (s *server) report(ctx context.Context, w view.Window) (model.Report, error) {
	found, err := s.cfg.Backend.FindingsIn(ctx, w.From, w.To)
	if err != nil {
		return model.Report{}, err
	}
	return s.cfg.Backend.Report(ctx, w.From, w.To, found)
}

// liveReport is report for a page, which may be a live one: findings and
// incidents are those of now, the rest may be some seconds old.
func (s *server) liveReport(ctx context.Context, w view.Window) (model.Report, error) {
	if !w.Live {
		return s.report(ctx, w)
	}
	found, err := s.cfg.Backend.FindingsIn(ctx, w.From, w.To)
	if err != nil {
		return model.Report{}, err
	}
	states := findingStates(found)
	s.reports.mu.Lock()
	kept, ok := s.reports.byRange[w.Range]
	s.reports.mu.Unlock()
	age := w.To.Sub(kept.at)
	if ok && kept.findings == states && age >= 0 && age < max(ruledFor, ruledSteps*s.step(w)) {
		return kept.with(found, w), nil
	}
	rep, err := s.cfg.Backend.Report(ctx, w.From, w.To, found)
	if err != nil || isMissing(ctx) {
		return rep, err
	}
	s.reports.mu.Lock()
	defer s.reports.mu.Unlock()
	if s.reports.byRange == nil {
		s.reports.byRange = map[string]keptReport{}
	}
	s.reports.byRange[w.Range] = keptReport{w.To, states, rep} // as many as there are named ranges
	return rep, nil
}

// with is the report with the findings of now.
func (k keptReport) with(found []model.Finding, w view.Window) model.Report {
	rep := k.report
	rep.Window = model.Window{From: w.From, To: w.To}
	rep.Findings = slices.Clone(found)
	slices.SortStableFunc(rep.Findings, func(a, b model.Finding) int { return a.Started.Compare(b.Started) })
	rep.Incidents = rules.Incidents(rep.Findings)
	return rep
}

// findingStates tells sets of findings apart.
func findingStates(found []model.Finding) string {
	all := make([]string, len(found))
	for i, f := range found {
		all[i] = f.ID + " " + string(f.State) + " " + string(f.Confidence)
		if f.Ended != nil {
			all[i] += " ended"
		}
	}
	slices.Sort(all)
	return strings.Join(all, "\n")
}

func (s *server) reportJSON(r *http.Request, w view.Window) (any, error) {
	return s.report(r.Context(), w)
}
