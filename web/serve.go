package web

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"net/http"
	"strconv"
	"strings"

	"github.com/a-h/templ"

	"stallmark/web/format"
	"stallmark/web/view"
)

// fragmentHeader is set by the page's script: it wants the body alone.
const fragmentHeader = "Stallmark-Fragment"

// missingHeader is set on JSON that lacks older history.
const missingHeader = "Stallmark-History-Missing"

type (
	pageFunc func(r *http.Request, w view.Window) (templ.Component, error)
	dataFunc func(r *http.Request, w view.Window) (any, error)
)

// page serves what f returns, whole or as a fragment, or its error.
func (s *server) page(f pageFunc) http.HandlerFunc {
	return func(rw http.ResponseWriter, r *http.Request) {
		body, err := s.render(r, f)
		if err != nil {
			s.fail(rw, r, err)
			return
		}
		rw.Header().Add("Vary", fragmentHeader)
		send(rw, r, "text/html; charset=utf-8", body)
	}
}

// private serves what f returns to this visitor alone: it depends on who asks.
func (s *server) private(f pageFunc) http.HandlerFunc {
	return func(rw http.ResponseWriter, r *http.Request) {
		w, err := s.window(r)
		if err != nil {
			s.fail(rw, r, err)
			return
		}
		body, err := s.renderAnew(r, w, f)
		if err != nil {
			s.fail(rw, r, err)
			return
		}
		rw.Header().Add("Vary", fragmentHeader+", Cookie, Authorization")
		send(rw, r, "text/html; charset=utf-8", body)
	}
}

// render makes a page. One that is live is shared with who else asks for it.
func (s *server) render(r *http.Request, f pageFunc) ([]byte, error) {
	w, err := s.window(r)
	if err != nil {
		return nil, err
	}
	if !w.Live {
		return s.renderAnew(r, w, f)
	}
	key := r.URL.RequestURI() + "\x00" + r.Header.Get(fragmentHeader)
	return s.shared.get(r.Context(), key, w.To, func() ([]byte, error) { return s.renderAnew(r, w, f) })
}

func (s *server) renderAnew(r *http.Request, w view.Window, f pageFunc) ([]byte, error) {
	r = r.WithContext(watched(r.Context()))
	component, err := f(r, s.fitted(r.Context(), w))
	if err != nil {
		return nil, err
	}
	var buf bytes.Buffer
	if r.Header.Get(fragmentHeader) != "" {
		err = templ.RenderFragments(r.Context(), &buf, component, view.BodyFragment)
	} else {
		err = component.Render(r.Context(), &buf)
	}
	return buf.Bytes(), err
}

// json serves what f returns as JSON, or its error.
func (s *server) json(f dataFunc) http.HandlerFunc {
	return func(rw http.ResponseWriter, r *http.Request) {
		w, err := s.window(r)
		if err != nil {
			s.fail(rw, r, err)
			return
		}
		r = r.WithContext(watched(r.Context()))
		data, err := f(r, w)
		if err != nil {
			s.fail(rw, r, err)
			return
		}
		if isMissing(r.Context()) {
			rw.Header().Set(missingHeader, "true")
		}
		body, err := json.MarshalIndent(data, "", "  ")
		if err != nil {
			s.fail(rw, r, err)
			return
		}
		send(rw, r, "application/json", append(body, '\n'))
	}
}

// send writes a body, or says that it has not changed.
func send(rw http.ResponseWriter, r *http.Request, contentType string, body []byte) {
	sum := sha256.Sum256(body)
	tag := `W/"` + base64.RawURLEncoding.EncodeToString(sum[:12]) + `"`
	rw.Header().Set("ETag", tag)
	for known := range strings.SplitSeq(r.Header.Get("If-None-Match"), ",") {
		if strings.TrimSpace(known) == tag {
			rw.WriteHeader(http.StatusNotModified)
			return
		}
	}
	rw.Header().Set("Content-Type", contentType)
	_, _ = rw.Write(body) // the visitor has left; there is nobody to tell
}

// wantsJSON tells the JSON paths from the pages.
func wantsJSON(r *http.Request) bool { return strings.HasPrefix(r.URL.Path, "/api/") }

// noPage answers for paths that do not exist.
func (s *server) noPage(rw http.ResponseWriter, r *http.Request) {
	s.fail(rw, r, notFound("There is no page at %s.", format.Clean(pathForLog(r))))
}

// fail is the one place where an error becomes a status, a page and a line in
// the log.
func (s *server) fail(rw http.ResponseWriter, r *http.Request, err error) {
	f := failureOf(err)
	switch {
	case f.status >= 500 && r.Context().Err() != context.Canceled:
		s.cfg.Logger.Error("request failed", "method", r.Method, "path", pathForLog(r), "status", f.status, "error", err)
	default:
		s.cfg.Logger.Debug("request refused", "method", r.Method, "path", pathForLog(r), "status", f.status, "error", err)
	}
	if s.isStranger(r) {
		s = s.knowsNothing()
	}
	rw.Header().Del("ETag")
	if wantsJSON(r) {
		rw.Header().Set("Content-Type", "application/json")
		rw.WriteHeader(f.status)
		_ = json.NewEncoder(rw).Encode(map[string]any{"error": map[string]any{"status": f.status, "message": f.message}})
		return
	}
	var buf bytes.Buffer
	title := cmp.Or(f.title, http.StatusText(f.status))
	w := view.Window{Live: true, Path: "/"}
	if s.frozen != nil {
		w.Base = s.frozen.whole.Base
	}
	p := s.frame(r, w, title)
	if f.status >= 500 { // it may have passed soon
		p.Refresh = 2 * refresh
	}
	if err := view.FailurePage(p, view.Failure{Status: f.status, Title: title, Message: f.message, SignIn: f == errNotAllowed, Texts: f.texts}).Render(context.WithoutCancel(r.Context()), &buf); err != nil {
		http.Error(rw, strconv.Itoa(f.status)+" "+title, f.status)
		return
	}
	rw.Header().Set("Content-Type", "text/html; charset=utf-8")
	rw.WriteHeader(f.status)
	_, _ = rw.Write(buf.Bytes())
}

// frame fills what all pages have in common.
func (s *server) frame(r *http.Request, w view.Window, title string) view.Page {
	p := view.Page{
		Title: format.Clean(title) + " · " + format.Clean(s.cfg.Host) + " · Stallmark",
		Host:  s.cfg.Host, Version: s.cfg.Version, Window: w, Assets: s.assets, Gap: gap(r.Context()),
	}
	p.Share, p.Triage = s.sharing != nil, s.cfg.Triage != nil
	if s.frozen != nil {
		// A chat shows the title of what a link leads to: it says nothing.
		p.Frozen, p.Title = s.frozen.note, snapshotTitle
	}
	section, _, _ := strings.Cut(strings.TrimPrefix(strings.TrimPrefix(r.URL.Path, w.Base), "/"), "/")
	p.Nav = "/" + section
	return p
}

// live makes a page look for news, unless its window is in the past.
func (s *server) live(p view.Page) view.Page {
	if p.Window.Live {
		p.Refresh = max(refresh, s.step(p.Window))
	}
	return p
}
