package web

import (
	"net/http"
	"slices"

	"github.com/a-h/templ"

	"stallmark/rules"
	"stallmark/storage/model"
	"stallmark/web/format"
	"stallmark/web/view"
)

func (s *server) signatures(r *http.Request, w view.Window) (templ.Component, error) {
	rep, err := s.liveReport(r.Context(), w)
	if err != nil {
		return nil, err
	}
	p := s.live(s.frame(r, w, "Signatures"))
	p.Timed, p.Twin = true, "/api/v1/signatures"+w.Query()
	health := s.cfg.Backend.Health(r.Context())
	return view.SignaturesPage(view.NewSignatures(p, s.cfg.Backend.Signatures(), view.StatesOf(s.cfg.Backend.Signatures(), rep), health)), nil
}

func (s *server) signaturesJSON(r *http.Request, w view.Window) (any, error) {
	rep, err := s.report(r.Context(), w)
	if err != nil {
		return nil, err
	}
	states := view.StatesOf(s.cfg.Backend.Signatures(), rep)
	all := []signatureData{}
	for _, sig := range s.cfg.Backend.Signatures() {
		all = append(all, dataOf(sig, states))
	}
	return all, nil
}

// signatureByID finds the catalogue entry that a path names.
func (s *server) signatureByID(r *http.Request) (*rules.Signature, error) {
	id, err := pathID(r)
	if err != nil {
		return nil, err
	}
	all := s.cfg.Backend.Signatures()
	k := slices.IndexFunc(all, func(sig *rules.Signature) bool { return sig.ID == id })
	if k < 0 {
		return nil, notFound("There is no signature %s.", format.Clean(id))
	}
	return all[k], nil
}

func (s *server) signature(r *http.Request, w view.Window) (templ.Component, error) {
	sig, err := s.signatureByID(r)
	if err != nil {
		return nil, err
	}
	rep, err := s.liveReport(r.Context(), w)
	if err != nil {
		return nil, err
	}
	p := s.live(s.frame(r, w, sig.Title))
	p.Timed, p.Twin = true, w.Link("api", "v1", "signatures", sig.ID)
	page := view.NewSignature(p, sig, view.StatesOf(s.cfg.Backend.Signatures(), rep))
	mine := slices.DeleteFunc(slices.Clone(rep.Findings), func(f model.Finding) bool { return f.Signature != sig.ID })
	page.Recent = view.BriefsOf(mine, w)
	return view.SignaturePage(page), nil
}

func (s *server) signatureJSON(r *http.Request, w view.Window) (any, error) {
	sig, err := s.signatureByID(r)
	if err != nil {
		return nil, err
	}
	rep, err := s.report(r.Context(), w)
	if err != nil {
		return nil, err
	}
	return dataOf(sig, view.StatesOf(s.cfg.Backend.Signatures(), rep)), nil
}
