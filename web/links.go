package web

import (
	"context"
	"errors"
	"net/http"
	"net/netip"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/go-chi/chi/v5"

	"stallmark/storage/snapshot"
)

// byLink serves what a link shows. Whoever has no good token learns nothing,
// not even the host's name.
func (s *server) byLink(rw http.ResponseWriter, r *http.Request) {
	token := chi.URLParam(r, "token")
	l, err := s.sharing.Folder.Resolve(token)
	limit := &s.sharing.opening
	if err != nil {
		limit = &s.sharing.missing
	}
	if !limit.allow() {
		http.Error(rw, "429: too many requests, try again", http.StatusTooManyRequests)
		return
	}
	base := "/s/" + token
	var h http.Handler
	if err == nil {
		h, err = s.sharing.shown.handler(l.Snapshot, Sight{Base: base, ID: l.Snapshot, Expires: l.Expires, Logger: s.cfg.Logger})
	}
	if err != nil {
		if !errors.Is(err, snapshot.ErrGone) {
			s.cfg.Logger.Error("shared snapshot", "snapshot", l.Snapshot, "error", err)
		}
		s.fail(rw, r, notFound("There is nothing at this link. It may have expired or been revoked; ask for a new one."))
		return
	}
	if r.URL.Path == base {
		if err := s.sharing.Folder.Opened(token); err != nil {
			s.cfg.Logger.Warn("shared snapshot", "error", err)
		}
	}
	below(h, rw, r)
}

// below has pages answered that have a router of their own; chi would go on with
// ours.
func below(h http.Handler, rw http.ResponseWriter, r *http.Request) {
	h.ServeHTTP(rw, r.WithContext(context.WithValue(r.Context(), chi.RouteCtxKey, nil)))
}

// ownView shows a snapshot to its owner, without a link.
func (s *server) ownView(rw http.ResponseWriter, r *http.Request) {
	id := chi.URLParam(r, "id")
	h, err := s.sharing.shown.handler(id, Sight{Base: "/snapshots/" + id + "/view", ID: id, Logger: s.cfg.Logger})
	if err != nil {
		s.fail(rw, r, snapshotError(err))
		return
	}
	below(h, rw, r)
}

// nearby reports whether links begin with an address that only this machine has.
func (s *server) nearby(r *http.Request) bool {
	host := (&url.URL{Host: r.Host}).Hostname()
	ip, err := netip.ParseAddr(host)
	return s.sharing.ExternalURL == "" && (err == nil && ip.IsLoopback() || host == "localhost" || strings.HasSuffix(host, ".localhost"))
}

// absolute is a path as somebody elsewhere has to write it.
func (s *server) absolute(r *http.Request, path string) string {
	if s.sharing.ExternalURL != "" {
		return s.sharing.ExternalURL + path
	}
	scheme := "http"
	if s.cfg.Secure {
		scheme = "https"
	}
	return scheme + "://" + r.Host + path
}

// goodFor reads for how long a link is to be good, in hours.
func goodFor(text string) (time.Duration, error) {
	if text == "" {
		return snapshot.DefaultExpiry, nil
	}
	hours, err := strconv.Atoi(text)
	if err != nil || hours < 1 || hours > 24*366 {
		return 0, badRequest("hours=%s: want 1 to %d", text, 24*366)
	}
	return time.Duration(hours) * time.Hour, nil
}

func (s *server) postLink(r *http.Request) (string, error) {
	id := chi.URLParam(r, "id")
	good, err := goodFor(r.PostFormValue("hours"))
	if err != nil {
		return "", err
	}
	_, err = s.sharing.Folder.NewLink(id, "page", good)
	return "/snapshots/" + id, snapshotError(err)
}

func (s *server) postRevoke(r *http.Request) (string, error) {
	return "/snapshots/" + chi.URLParam(r, "id"), snapshotError(s.sharing.Folder.Revoke(chi.URLParam(r, "name")))
}
