package web

import (
	"net/http"
	"net/url"
	"slices"

	"github.com/a-h/templ"
	"github.com/go-chi/chi/v5"

	"stallmark/storage/model"
	"stallmark/web/chart"
	"stallmark/web/format"
	"stallmark/web/view"
)

// maxFindings bounds the list of findings, maxID the length of an id that is
// looked up.
const (
	maxFindings = 500
	maxID       = 200
)

func (s *server) findings(r *http.Request, w view.Window) (templ.Component, error) {
	found, err := s.recent(r, w)
	if err != nil {
		return nil, err
	}
	page := view.Findings{Page: s.live(s.frame(r, w, "Findings")), Rows: view.BriefsOf(found, w)}
	page.Timed, page.Twin, page.Nav = true, "/api/v1/findings"+w.Query(), "/incidents"
	rows := view.Lanes(s.cfg.Backend.Signatures(), model.Report{Findings: found}, nil, nil, w)
	page.Lanes = chart.LayLanes(rows[:view.Fired(rows)], nil, w.From, w.To)
	return view.FindingsPage(page), nil
}

func (s *server) findingsJSON(r *http.Request, w view.Window) (any, error) {
	found, err := s.recent(r, w)
	if found == nil {
		found = []model.Finding{}
	}
	return found, err
}

// recent are a window's findings, the newest first.
func (s *server) recent(r *http.Request, w view.Window) ([]model.Finding, error) {
	found, err := s.cfg.Backend.FindingsIn(r.Context(), w.From, w.To)
	if err != nil {
		return nil, err
	}
	found = slices.Clone(found)
	slices.SortStableFunc(found, func(a, b model.Finding) int { return b.Started.Compare(a.Started) })
	return found[:min(len(found), maxFindings)], nil
}

func (s *server) findingByID(r *http.Request) (model.Finding, error) {
	id, err := pathID(r)
	if err != nil {
		return model.Finding{}, err
	}
	f, ok, err := s.cfg.Backend.Finding(r.Context(), id)
	if err == nil && !ok {
		err = notFound("There is no finding with the id %s.", format.Clean(id))
	}
	return f, err
}

func (s *server) findingJSON(r *http.Request, _ view.Window) (any, error) {
	return s.findingByID(r)
}

// finding shows one finding. Without a window in the URL, its charts show the
// finding with some of its surroundings.
func (s *server) finding(r *http.Request, w view.Window) (templ.Component, error) {
	f, err := s.findingByID(r)
	if err != nil {
		return nil, err
	}
	q := r.URL.Query()
	if f.Ended != nil && !q.Has("range") && !q.Has("from") {
		w = w.Fit(f.Started, *f.Ended)
	}
	p := s.live(s.frame(r, w, f.Title))
	p.Timed, p.Twin, p.Nav = true, w.Link("api", "v1", "findings", f.ID), "/incidents"
	p.Verdict = format.Clean(f.Title) + ", " + string(f.State)
	page := view.NewFinding(p, f)
	rep, err := s.liveReport(r.Context(), w)
	if err != nil {
		return nil, err
	}
	since := f.Started.Add(-changeReach)
	if w.From.Before(since) {
		since = w.From
	}
	events, err := s.cfg.Backend.EventsIn(r.Context(), since, w.To, model.EventSetting, model.EventLog, model.EventPause)
	if err != nil {
		return nil, err
	}
	changes := view.ChangesOf(events)
	page.Chain = view.ChainOf(f.ID, rep, changes, w)
	b := backdrop{window: w, fired: []chart.Span{{From: f.Started, To: endOf(f, w)}}, marks: marksOf(changes), gaps: gapsOf(rep.Coverage)}
	b.tell(events)
	page.Charts = figures(s.evidenceCharts(r.Context(), []model.Finding{f}, 2*evidenceMax, b))
	page.Changes = s.withEffects(r.Context(), newest(changes, maxChanges), f, events)
	if page.Logs, err = s.excerpt(r.Context(), []model.Finding{f}, f.Started, endOf(f, w), w); err != nil {
		return nil, err
	}
	return view.FindingPage(page), nil
}

// pathID is the {id} of a path, of a length that an id can have.
func pathID(r *http.Request) (string, error) {
	id, err := url.PathUnescape(chi.URLParam(r, "id"))
	if err != nil || id == "" || len(id) > maxID {
		return "", notFound("There is nothing with this id.")
	}
	return id, nil
}
