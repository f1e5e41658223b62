package web

import (
	"context"
	"net/http"

	"stallmark/rules/postmortem"
	"stallmark/storage/model"
	"stallmark/web/format"
)

// postmortem serves the incident that a finding belongs to as Markdown.
func (s *server) postmortem(rw http.ResponseWriter, r *http.Request) {
	text, err := s.writePostmortem(r)
	if err != nil {
		s.fail(rw, r, err)
		return
	}
	rw.Header().Set("Content-Disposition", `inline; filename="postmortem.md"`)
	send(rw, r, "text/markdown; charset=utf-8", []byte(text))
}

func (s *server) writePostmortem(r *http.Request) (string, error) {
	w, err := s.window(r)
	if err != nil {
		return "", err
	}
	f, rep, _, err := s.incidentAt(r, w)
	if err != nil {
		return "", err
	}
	events, err := s.cfg.Backend.EventsIn(r.Context(), rep.Window.From, rep.Window.To)
	if err != nil {
		return "", err
	}
	return s.markdown(r.Context(), f.ID, rep, events)
}

// markdown is the incident that a finding belongs to.
func (s *server) markdown(ctx context.Context, id string, rep model.Report, events []model.Event) (string, error) {
	about := postmortem.About{Host: s.cfg.Host, Version: s.cfg.Version, Now: s.cfg.Now().UTC(), Interval: s.cfg.Interval}
	text, ok, err := postmortem.Incident(ctx, s.cfg.Backend, about, rep, id, events)
	if err == nil && !ok {
		err = notFound("There is no incident of the finding %s.", format.Clean(id))
	}
	return text, err
}
