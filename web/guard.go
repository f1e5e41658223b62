package web

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"runtime/debug"
	"slices"
	"strings"
)

// policy allows the page's own files and nothing else: no inline script or
// style, no frame, no foreign origin.
const policy = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; " +
	"base-uri 'none'; form-action 'self'; frame-ancestors 'none'"

// headers go with every answer.
func headers(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		h := w.Header()
		h.Set("Content-Security-Policy", policy)
		h.Set("X-Content-Type-Options", "nosniff")
		h.Set("Referrer-Policy", "no-referrer")
		h.Set("X-Frame-Options", "DENY")
		h.Set("X-Robots-Tag", "noindex, nofollow")
		h.Set("Cross-Origin-Opener-Policy", "same-origin")
		h.Set("Cross-Origin-Resource-Policy", "same-origin")
		h.Set("Cache-Control", "private, no-store")
		next.ServeHTTP(w, r)
	})
}

// knownHost refuses requests for a name that is not ours: a foreign name that
// resolves to this machine would let another site's page read this one.
func (s *server) knownHost(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !s.hostAllowed(r.Host) {
			// A bare answer: whoever asks under a foreign name learns nothing of this host.
			s.cfg.Logger.Warn("request for a foreign name refused", "host", r.Host)
			http.Error(w, "421: this server does not answer to that name; names can be allowed in its configuration", http.StatusMisdirectedRequest)
			return
		}
		next.ServeHTTP(w, r)
	})
}

func (s *server) hostAllowed(hostport string) bool {
	host := hostport
	if h, _, err := net.SplitHostPort(hostport); err == nil {
		host = h
	}
	host = strings.ToLower(strings.TrimSuffix(strings.Trim(host, "[]"), "."))
	if host == "localhost" || strings.HasSuffix(host, ".localhost") {
		return true
	}
	if ip, err := netip.ParseAddr(host); err == nil && ip.IsLoopback() {
		return true
	}
	return slices.ContainsFunc(s.cfg.AllowedHosts, func(a string) bool {
		return strings.EqualFold(strings.Trim(a, "[]"), host)
	})
}

// maxBody bounds what a request may send: a form, or the file of a snapshot.
const maxBody = 64 << 20

// bounded bounds the body of a request. Methods that no page answers are refused
// before anything else looks at them.
func (s *server) bounded(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch r.Method {
		case http.MethodGet, http.MethodHead:
			r.Body = http.MaxBytesReader(w, r.Body, 0)
		case http.MethodPost:
			r.Body = http.MaxBytesReader(w, r.Body, maxBody)
		default:
			s.noMethod(w, r)
			return
		}
		next.ServeHTTP(w, r)
	})
}

// noMethod answers where a path is not for this method.
func (s *server) noMethod(w http.ResponseWriter, _ *http.Request) {
	w.Header().Set("Allow", "GET, HEAD")
	http.Error(w, "405: only GET and HEAD are answered here", http.StatusMethodNotAllowed)
}

// reader asks who wants to read, where that is asked at all. The admin's token
// is as good as a password, so that a command needs no second one.
func (s *server) reader(next http.Handler) http.Handler {
	if s.cfg.Basic == nil {
		return next
	}
	known := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { next.ServeHTTP(w, knownReader(r)) })
	guarded := s.cfg.Basic.Wrap(known)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if strings.HasPrefix(r.Header.Get("Authorization"), "Bearer ") && s.may(r) {
			known.ServeHTTP(w, r)
			return
		}
		guarded.ServeHTTP(w, r)
	})
}

// timed gives a request its time and one of the seats.
func (s *server) timed(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		ctx, cancel := context.WithTimeout(r.Context(), s.cfg.Timeout)
		defer cancel()
		select {
		case s.seats <- struct{}{}:
			defer func() { <-s.seats }()
		case <-ctx.Done():
			s.fail(w, r, &failure{status: http.StatusServiceUnavailable, message: "Too many requests at once. Try again.", cause: ctx.Err()})
			return
		}
		next.ServeHTTP(w, r.WithContext(ctx))
	})
}

// recovered turns a panic into an error page. Pages are rendered before
// anything is written, so half a page has not gone out.
func (s *server) recovered(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		defer func() {
			switch p := recover(); {
			case p == nil:
			case p == http.ErrAbortHandler:
				panic(p)
			default:
				s.fail(w, r, errors.New(fmt.Sprint("panic: ", p, "\n", string(debug.Stack()))))
			}
		}()
		next.ServeHTTP(w, r)
	})
}
