package web

import (
	"context"
	"net/http"
	"sync"
	"time"

	"github.com/a-h/templ"

	"stallmark/rules/audit"
	"stallmark/storage/model"
	"stallmark/web/view"
)

// auditFresh is how long the results of an audit are shown again: settings seldom
// change, and judging them takes hundreds of queries.
const auditFresh = 10 * time.Second

// auditHintFresh is the same for the line on a calm overview, which nobody waits
// for.
const auditHintFresh = time.Minute

// auditHint is what the audit would change, in a line; none where there is no
// audit, or it fails: the page of the audit says so.
func (s *server) auditHint(ctx context.Context, w view.Window) []view.AuditCount {
	if s.cfg.Audit == nil {
		return nil
	}
	_, results, err := s.audited(ctx, w, auditHintFresh)
	if err != nil {
		s.cfg.Logger.Warn("audit for the overview", "error", err)
		return nil
	}
	return view.AuditHint(results)
}

// auditor keeps the last results.
type auditor struct {
	mu      sync.Mutex
	at      time.Time
	results []audit.Result
}

// auditData is the audit in the JSON, as audit --json prints it.
type auditData struct {
	At      string         `json:"at"`
	Results []audit.Result `json:"results"`
}

// audited judges the settings at the end of a window, or gives what was judged
// a moment before. Nobody changes the results.
func (s *server) audited(ctx context.Context, w view.Window, fresh time.Duration) (time.Time, []audit.Result, error) {
	if s.cfg.Audit == nil {
		return w.To, nil, notFound("This Stallmark has no audit.")
	}
	a := &s.auditor
	a.mu.Lock()
	defer a.mu.Unlock()
	if age := w.To.Sub(a.at); !a.at.IsZero() && age >= 0 && age < fresh {
		return a.at, a.results, nil
	}
	results, err := s.cfg.Audit(ctx, w.To)
	if err != nil {
		return w.To, nil, err
	}
	a.at, a.results = w.To, results
	return a.at, a.results, nil
}

func (s *server) auditPage(r *http.Request, w view.Window) (templ.Component, error) {
	at, results, err := s.audited(r.Context(), w, auditFresh)
	if err != nil {
		return nil, err
	}
	p := s.live(s.frame(r, w, "Audit"))
	p.Twin = "/api/v1/audit" + w.Query()
	if p.Refresh > 0 {
		p.Refresh = auditFresh
	}
	return view.AuditPage(view.NewAudit(p, at, results)), nil
}

func (s *server) auditJSON(r *http.Request, w view.Window) (any, error) {
	at, results, err := s.audited(r.Context(), w, auditFresh)
	if results == nil {
		results = []audit.Result{}
	}
	return auditData{at.UTC().Format(model.JSONTime), results}, err
}
