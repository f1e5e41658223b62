package main

import (
	"fmt"
	"net"
	"net/http"
	"runtime/pprof"
	"strconv"
	"strings"
	"time"

	"stallmark/web/access"
)

// checkPprof refuses an address that others can reach: a profile shows what the
// program holds.
func checkPprof(o *options) error {
	if o.pprof == "" {
		return nil
	}
	host, port, err := net.SplitHostPort(o.pprof)
	if err != nil || port == "" {
		return usagef("--pprof %s: want HOST:PORT", o.pprof)
	}
	if !isLoopback(host) {
		return usagef("--pprof %s: profiles are shown to this host alone; use 127.0.0.1 and ssh -L", o.pprof)
	}
	return nil
}

// openPprof listens for those who want profiles; nil if nobody does.
func openPprof(o *options) (net.Listener, error) {
	if o.pprof == "" {
		return nil, nil
	}
	return net.Listen("tcp", o.pprof)
}

// serveProfiles serves until the listener is closed.
func serveProfiles(l net.Listener, admin *access.Admin) {
	server := boundedServer(loopbackNames(forAdmin(admin, profiles())))
	server.ReadTimeout = server.WriteTimeout // it ends a request that takes longer
	_ = server.Serve(boundedListener(l))
}

// forAdmin lets those in who know the admin token: as a password, which the address
// that "go tool pprof" is given may hold, or as a bearer's. Other users of the host
// reach the port too.
func forAdmin(admin *access.Admin, next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, password, basic := r.BasicAuth()
		token, bearer := strings.CutPrefix(r.Header.Get("Authorization"), "Bearer ")
		if basic && admin.Knows(password) || bearer && admin.Knows(token) {
			next.ServeHTTP(w, r)
			return
		}
		w.Header().Set("WWW-Authenticate", `Basic realm="stallmark"`)
		http.Error(w, "the password is the admin token: http://admin:TOKEN@HOST:PORT/debug/pprof/", http.StatusUnauthorized)
	})
}

// loopbackNames refuses requests under a foreign name that resolves to this
// machine (DNS rebinding).
func loopbackNames(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		host, _, err := net.SplitHostPort(r.Host)
		if err != nil || !isLoopback(host) {
			http.Error(w, "ask for it by a loopback address", http.StatusForbidden)
			return
		}
		next.ServeHTTP(w, r)
	})
}

// longestProfile is less than what a response may take.
const longestProfile = 25 * time.Second

// profiles serves what "go tool pprof" asks for: a CPU profile and those that
// package runtime/pprof keeps. Package net/http/pprof would put them on a server
// of its own choice, with half a megabyte beside.
func profiles() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /debug/pprof/{$}", func(w http.ResponseWriter, _ *http.Request) {
		fmt.Fprintln(w, "profile?seconds=10")
		for _, p := range pprof.Profiles() {
			fmt.Fprintln(w, p.Name())
		}
	})
	mux.HandleFunc("GET /debug/pprof/profile", cpuProfile)
	mux.HandleFunc("GET /debug/pprof/{name}", func(w http.ResponseWriter, r *http.Request) {
		p := pprof.Lookup(r.PathValue("name"))
		if p == nil {
			http.NotFound(w, r)
			return
		}
		debug, _ := strconv.Atoi(r.FormValue("debug"))
		_ = p.WriteTo(w, debug) // the asker has gone
	})
	return mux
}

// cpuProfile profiles for as long as is asked for.
func cpuProfile(w http.ResponseWriter, r *http.Request) {
	span, err := time.ParseDuration(r.FormValue("seconds") + "s")
	if err != nil || span <= 0 {
		span = 10 * time.Second
	}
	if err := pprof.StartCPUProfile(w); err != nil {
		http.Error(w, err.Error(), http.StatusConflict)
		return
	}
	defer pprof.StopCPUProfile()
	select {
	case <-time.After(min(span, longestProfile)):
	case <-r.Context().Done():
	}
}
