package web

import (
	"net/http"
	"slices"

	"github.com/a-h/templ"
	"github.com/go-chi/chi/v5"

	"stallmark/storage/model"
	"stallmark/web/view"
)

// Today is what the rules as they are now say of a snapshot.
type Today = view.Today

// CompareVerdicts tells what a pack says of a snapshot beside what was said
// then.
func CompareVerdicts(rules string, then, now model.Report) Today {
	was, is := firedIn(then), firedIn(now)
	t := Today{Rules: rules}
	for _, id := range is {
		if slices.Contains(was, id) {
			t.Same = append(t.Same, id)
		} else {
			t.New = append(t.New, id)
		}
	}
	for _, id := range was {
		if !slices.Contains(is, id) {
			t.Gone = append(t.Gone, id)
		}
	}
	return t
}

// firedIn are the signatures that fired, each once, sorted.
func firedIn(r model.Report) []string {
	var ids []string
	for _, f := range r.Findings {
		ids = append(ids, f.Signature)
	}
	slices.Sort(ids)
	return slices.Compact(ids)
}

// today shows what today's rules say of a snapshot. The snapshot stays as it is.
func (s *server) today(r *http.Request, w view.Window) (templ.Component, error) {
	if !s.may(r) {
		return nil, errNotAllowed
	}
	id := chi.URLParam(r, "id")
	info, err := s.sharing.Folder.Info(id)
	if err != nil {
		return nil, snapshotError(err)
	}
	got, err := s.sharing.Folder.Get(id)
	if err != nil {
		return nil, snapshotError(err)
	}
	if s.sharing.Today == nil {
		return nil, notFound("There are no rules here to ask.")
	}
	t, err := s.sharing.Today(r.Context(), got)
	if err != nil {
		return nil, err
	}
	return view.TodayPage(view.TodayVerdict{
		Page: s.frame(r, w, "Today's rules"), Row: s.snapshotRow(info, w), Then: got.Meta.Rules, Today: t,
	}), nil
}
