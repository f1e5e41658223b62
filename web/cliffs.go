package web

import (
	"net/http"

	"stallmark/rules"
	"stallmark/web/view"
)

// cliffsJSON is how far it was, at the end of the window, to the points where
// stalls begin. What fails leaves its distance out, as on the page.
func (s *server) cliffsJSON(r *http.Request, w view.Window) (any, error) {
	all, err := rules.Cliffs(r.Context(), s.cfg.Backend, w.To, s.cfg.Interval)
	if err != nil && len(all) > 0 {
		s.cfg.Logger.Warn("distances to the cliffs", "error", err)
		err = nil
	}
	return all, err
}
