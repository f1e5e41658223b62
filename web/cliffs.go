package web

import (
	"net/http"

	"stallmark/rules"
	"stallmark/web/view"
)

// cliffsJSON is how far it was, at the end of the window, to the points where
// stalls begin.
func (s *server) cliffsJSON(r *http.Request, w view.Window) (any, error) {
	return rules.Cliffs(r.Context(), s.cfg.Backend, w.To, s.cfg.Interval)
}
