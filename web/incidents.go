package web

import (
	"net/http"
	"net/url"
	"slices"
	"time"

	"github.com/a-h/templ"

	"stallmark/storage/model"
	"stallmark/web/chart"
	"stallmark/web/format"
	"stallmark/web/view"
)

// incidentReach is how long before and after a finding the others of its
// incident are looked for, and the changed settings before it.
const incidentReach = time.Hour

func (s *server) incidents(r *http.Request, w view.Window) (templ.Component, error) {
	rep, err := s.liveReport(r.Context(), w)
	if err != nil {
		return nil, err
	}
	events, err := s.cfg.Backend.EventsIn(r.Context(), w.From, w.To, model.EventSetting)
	if err != nil {
		return nil, err
	}
	p := s.live(s.frame(r, w, "Incidents"))
	p.Timed, p.Twin = true, "/api/v1/incidents"+w.Query()
	return view.IncidentsPage(view.NewIncidents(p, rep, view.ChangesOf(events))), nil
}

// incidentData is an incident in the JSON, with its findings, root first.
type incidentData struct {
	Root     string          `json:"root"`
	Started  string          `json:"started"`
	Ended    *string         `json:"ended"`
	Findings []model.Finding `json:"findings"`
}

func (s *server) incidentsJSON(r *http.Request, w view.Window) (any, error) {
	rep, err := s.report(r.Context(), w)
	if err != nil {
		return nil, err
	}
	out := []incidentData{}
	for _, i := range rep.Incidents {
		_, all := view.IncidentOf(i.Root, rep)
		out = append(out, incidentJSON(i, all))
	}
	return out, nil
}

func incidentJSON(i model.Incident, all []model.Finding) incidentData {
	d := incidentData{Root: i.Root, Started: format.ISO(i.Started), Findings: all}
	if i.Ended != nil {
		ended := format.ISO(*i.Ended)
		d.Ended = &ended
	}
	return d
}

// incidentAt is the report about the time of the incident that a finding
// belongs to, with the window around it.
func (s *server) incidentAt(r *http.Request, w view.Window) (model.Finding, model.Report, view.Window, error) {
	f, err := s.findingByID(r)
	if err != nil {
		return f, model.Report{}, w, err
	}
	ctx := r.Context()
	until := w.To
	if f.Ended != nil {
		until = *f.Ended
	}
	found, err := s.cfg.Backend.FindingsIn(ctx, f.Started.Add(-incidentReach), until.Add(incidentReach))
	if err != nil {
		return f, model.Report{}, w, err
	}
	rep, err := s.cfg.Backend.Report(ctx, f.Started.Add(-incidentReach), until, found)
	if err != nil {
		return f, rep, w, err
	}
	q := r.URL.Query()
	if i, all := view.IncidentOf(f.ID, rep); len(all) > 0 && i.Ended != nil && !q.Has("range") && !q.Has("from") {
		w = w.Fit(i.Started, *i.Ended)
	}
	return f, rep, w, nil
}

func (s *server) incidentOneJSON(r *http.Request, w view.Window) (any, error) {
	f, rep, _, err := s.incidentAt(r, w)
	if err != nil {
		return nil, err
	}
	i, all := view.IncidentOf(f.ID, rep)
	return incidentJSON(i, all), nil
}

func (s *server) incident(r *http.Request, w view.Window) (templ.Component, error) {
	ctx := r.Context()
	f, rep, w, err := s.incidentAt(r, w)
	if err != nil {
		return nil, err
	}
	i, all := view.IncidentOf(f.ID, rep)
	events, err := s.cfg.Backend.EventsIn(ctx, i.Started.Add(-incidentReach), w.To)
	if err != nil {
		return nil, err
	}
	changes := view.ChangesOf(events)
	p := s.live(s.frame(r, w, "Incident: "+f.Title))
	p.Timed, p.Twin = true, w.Link("api", "v1", "incidents", f.ID)
	page, ok := view.NewIncident(p, f.ID, rep, events, changes)
	if !ok {
		return nil, notFound("There is no incident of the finding %s.", format.Clean(f.ID))
	}
	page.Verdict = page.Brief.Title + ", " + page.Brief.Word
	b := backdrop{window: w, fired: spansAmong(all[0].Signature, all, w), marks: marksOf(changes), gaps: gapsOf(rep.Coverage)}
	b.tell(events)
	page.Changes = s.withEffects(ctx, newest(changesIn(changes, i, w), maxChanges), rootOf(i, all), events)
	if page.Markdown, err = s.markdown(ctx, f.ID, rep, events); err != nil {
		s.cfg.Logger.Warn("post-mortem", "finding", f.ID, "error", err)
	}
	page.File = w.Base + "/api/v1/incidents/" + url.PathEscape(f.ID) + "/postmortem"
	page.Charts = figures(s.evidenceCharts(ctx, all, 2*evidenceMax, b))
	if page.Logs, err = s.excerpt(ctx, all, i.Started, endOf(rootOf(i, all), w), w); err != nil {
		return nil, err
	}
	return view.IncidentPage(page), nil
}

// rootOf is an incident's root over the time of the whole incident.
func rootOf(i model.Incident, all []model.Finding) model.Finding {
	root := all[0]
	root.Started, root.Ended = i.Started, i.Ended
	return root
}

// changesIn are the changes from a while before an incident to a while after it.
func changesIn(changes []view.Change, i model.Incident, w view.Window) []view.Change {
	from, to := i.Started.Add(-changeReach), w.To
	if i.Ended != nil {
		to = i.Ended.Add(changeReach)
	}
	return slices.DeleteFunc(slices.Clone(changes), func(c view.Change) bool { return c.At.Before(from) || c.At.After(to) })
}

// changeReach is how far from an incident a changed setting may belong to it.
const changeReach = 10 * time.Minute

// spansAmong are the times in which a signature fired.
func spansAmong(signature string, all []model.Finding, w view.Window) []chart.Span {
	var out []chart.Span
	for _, f := range all {
		if f.Signature == signature {
			out = append(out, chart.Span{From: f.Started, To: endOf(f, w)})
		}
	}
	return out
}
