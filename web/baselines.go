package web

import (
	"encoding/json"
	"net/http"

	"stallmark/web/view"
)

// baselinesJSON is what was learned of hours without findings, as a recording
// carries it.
func (s *server) baselinesJSON(*http.Request, view.Window) (any, error) {
	if s.cfg.Baselines == nil {
		return nil, notFound("Nothing is learned here.")
	}
	data, err := s.cfg.Baselines()
	return json.RawMessage(data), err
}

// costsJSON is what judging each signature costs, the dearest first.
func (s *server) costsJSON(*http.Request, view.Window) (any, error) {
	if s.cfg.Costs == nil {
		return nil, notFound("Nobody counts here.")
	}
	return s.cfg.Costs(), nil
}
