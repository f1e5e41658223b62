package web

import (
	"fmt"
	"net/http"
	"net/url"
	"strings"

	"github.com/a-h/templ"

	"stallmark/web/view"
)

// login shows the form in which the token is entered. The link that start-up
// prints has it filled in.
func (s *server) login(r *http.Request, w view.Window) (templ.Component, error) {
	page := view.Login{Page: s.frame(r, w, "Sign in"), Token: r.URL.Query().Get("token"), Next: local(r.URL.Query().Get("next")), May: s.may(r)}
	return view.LoginPage(page), nil
}

func (s *server) postLogin(rw http.ResponseWriter, r *http.Request) {
	if !s.sharing.trying.allow() {
		s.fail(rw, r, &failure{status: http.StatusTooManyRequests, message: "Too many tries. Wait some seconds."})
		return
	}
	if r.PostFormValue("out") != "" {
		s.cfg.Admin.Forget(rw)
		http.Redirect(rw, r, "/", http.StatusSeeOther)
		return
	}
	if s.cfg.Admin == nil || !s.cfg.Admin.Knows(strings.TrimSpace(r.PostFormValue("token"))) {
		s.fail(rw, r, &failure{status: http.StatusForbidden, message: fmt.Sprintf("That is not the admin token. It stands in the file %s in the data folder.", "admin-token")})
		return
	}
	s.cfg.Admin.Remember(rw, s.cfg.Secure)
	http.Redirect(rw, r, local(r.PostFormValue("next")), http.StatusSeeOther)
}

// local is a path of ours to go back to, the start page for anything else.
func local(path string) string {
	u, err := url.Parse(path)
	if err != nil || u.Scheme != "" || u.Host != "" || !strings.HasPrefix(path, "/") || strings.HasPrefix(path, "//") || strings.ContainsAny(path, "\\\r\n") {
		return "/"
	}
	return path
}
