package web

import (
	"errors"
	"net/http"

	"github.com/go-chi/chi/v5"

	"stallmark/storage/snapshot"
	"stallmark/web/view"
)

var errNotAllowed = &failure{
	status:  http.StatusForbidden,
	message: "This changes something, so it needs the admin token. It stands in the file admin-token in the data folder; sign in with it first.",
}

// may reports whether the visitor may change something.
func (s *server) may(r *http.Request) bool { return s.cfg.Admin != nil && s.cfg.Admin.Allowed(r) }

// admitted lets a change through that comes with the token and not too soon
// after others; otherwise it answers.
func (s *server) admitted(rw http.ResponseWriter, r *http.Request) bool {
	switch {
	case !s.may(r):
		s.fail(rw, r, errNotAllowed)
	case !s.sharing.making.allow():
		s.fail(rw, r, &failure{status: http.StatusTooManyRequests, message: "Too many at once. Try again in some seconds."})
	default:
		return true
	}
	return false
}

// change serves a POST that changes something: it needs the token, is bounded,
// and ends in a page to go to.
func (s *server) change(do func(r *http.Request) (next string, err error)) http.HandlerFunc {
	return func(rw http.ResponseWriter, r *http.Request) {
		if !s.admitted(rw, r) {
			return
		}
		next, err := do(r)
		if err != nil {
			s.fail(rw, r, err)
			return
		}
		http.Redirect(rw, r, next, http.StatusSeeOther)
	}
}

// freeze makes a snapshot of the times in a form.
func (s *server) freeze(r *http.Request) (snapshot.Info, error) {
	from, err1 := parseTime(r.PostFormValue("from"))
	to, err2 := parseTime(r.PostFormValue("to"))
	if err := errors.Join(err1, err2); err != nil {
		return snapshot.Info{}, badRequest("from and to: want times as in 2026-03-01T03:12:41Z, or milliseconds since the epoch")
	}
	by := "page"
	if wantsJSON(r) {
		by = "command"
	}
	return s.sharing.Make(r.Context(), Order{From: from, To: to, By: by})
}

func (s *server) postSnapshot(r *http.Request) (string, error) {
	info, err := s.freeze(r)
	return "/snapshots/" + info.ID, err
}

// snapshotPostJSON makes a snapshot for a command.
func (s *server) snapshotPostJSON(rw http.ResponseWriter, r *http.Request) {
	if !s.admitted(rw, r) {
		return
	}
	info, err := s.freeze(r)
	if err != nil {
		s.fail(rw, r, err)
		return
	}
	s.json(func(*http.Request, view.Window) (any, error) { return s.snapshotData(info), nil })(rw, r)
}

// postImport takes a snapshot's file.
func (s *server) postImport(r *http.Request) (string, error) {
	file, _, err := r.FormFile("file")
	if err != nil {
		return "", badRequest("Choose a .stallmark file first.")
	}
	defer file.Close()
	info, err := s.sharing.Folder.Import(file)
	return "/snapshots/" + info.ID, snapshotError(err)
}

func (s *server) postDelete(r *http.Request) (string, error) {
	return "/snapshots", snapshotError(s.sharing.Folder.Delete(chi.URLParam(r, "id")))
}
