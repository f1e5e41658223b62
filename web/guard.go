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

// readOnly refuses every method that could change something.
func readOnly(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method != http.MethodGet && r.Method != http.MethodHead {
			w.Header().Set("Allow", "GET, HEAD")
			http.Error(w, "405: only GET and HEAD are answered", http.StatusMethodNotAllowed)
			return
		}
		next.ServeHTTP(w, r)
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
