package web_test

import (
	"context"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/prometheus/prometheus/promql"

	"stallmark/web"
	"stallmark/web/gallery"
)

func TestHeaders(t *testing.T) {
	s := show(t, gallery.Calm())
	for _, path := range []string{"/", "/api/v1/report", "/nowhere", "/?range=1y"} {
		h := s.get(t, path).Header()
		csp := h.Get("Content-Security-Policy")
		for _, want := range []string{"default-src 'none'", "script-src 'self'", "style-src 'self'", "connect-src 'self'", "base-uri 'none'", "form-action 'self'", "frame-ancestors 'none'"} {
			if !strings.Contains(csp, want) {
				t.Errorf("%s: the policy lacks %s", path, want)
			}
		}
		if strings.Contains(csp, "unsafe") {
			t.Errorf("%s: %s", path, csp)
		}
		for name, want := range map[string]string{"X-Content-Type-Options": "nosniff", "Referrer-Policy": "no-referrer", "Cache-Control": "private, no-store", "X-Frame-Options": "DENY"} {
			if h.Get(name) != want {
				t.Errorf("%s: %s is %q", path, name, h.Get(name))
			}
		}
	}
}

func TestHostAllowList(t *testing.T) {
	s := show(t, gallery.Calm())
	for host, want := range map[string]int{
		"127.0.0.1:8411": 200, "localhost": 200, "LOCALHOST:1": 200, "localhost.": 200, "[::1]:8411": 200, "127.8.9.10": 200,
		"broker-07.example:8411": 200, "BROKER-07.example": 200,
		"evil.example": 421, "127.0.0.1.evil.example": 421, "localhost.evil.example": 421, "10.1.2.3:8411": 421, "": 421, "[::2]": 421,
		"xbroker-07.example": 421, "0.0.0.0": 421,
	} {
		r := httptest.NewRequest(http.MethodGet, "/", nil)
		r.Host = host
		w := httptest.NewRecorder()
		s.ServeHTTP(w, r)
		if w.Code != want {
			t.Errorf("Host %q: status %d, want %d", host, w.Code, want)
		}
		if w.Code != 200 && (strings.Contains(w.Body.String(), "No known stall") || strings.Contains(w.Body.String(), "broker-07")) {
			t.Errorf("Host %q sees the page", host)
		}
	}
}

func TestOnlyReading(t *testing.T) {
	s := show(t, gallery.Calm())
	for _, method := range []string{"POST", "PUT", "DELETE", "PATCH", "OPTIONS", "TRACE", "BREW"} {
		for _, path := range []string{"/", "/api/v1/report", "/findings/f-dirty"} {
			r := httptest.NewRequest(method, path, strings.NewReader("x=1"))
			r.Host = "localhost"
			w := httptest.NewRecorder()
			s.ServeHTTP(w, r)
			if w.Code != http.StatusMethodNotAllowed || w.Header().Get("Allow") != "GET, HEAD" {
				t.Errorf("%s %s: status %d, Allow %q", method, path, w.Code, w.Header().Get("Allow"))
			}
		}
	}
	r := httptest.NewRequest(http.MethodPost, "/", nil)
	r.Host = "localhost"
	r.Header.Set("Sec-Fetch-Site", "cross-site")
	w := httptest.NewRecorder()
	s.ServeHTTP(w, r)
	if w.Code != http.StatusForbidden {
		t.Errorf("a cross-site POST gives %d", w.Code)
	}
}

func TestHead(t *testing.T) {
	s := show(t, gallery.Calm())
	r := httptest.NewRequest(http.MethodHead, "/", nil)
	r.Host = "localhost"
	w := httptest.NewRecorder()
	s.ServeHTTP(w, r)
	if w.Code != http.StatusOK || w.Header().Get("ETag") == "" {
		t.Errorf("HEAD: %d, ETag %q", w.Code, w.Header().Get("ETag"))
	}
}

func TestNoWayOut(t *testing.T) {
	s := show(t, scene(t, "stalling"))
	for _, path := range []string{
		"/assets/", "/assets/stallmark.css", "/assets/../go.mod", "/assets/%2e%2e/%2e%2e/etc/passwd", "/assets/..%2f..%2fetc%2fpasswd",
		"/debug/pprof/", "/debug/vars", "//evil.example/", "/findings/:id", "/findings/{id}", "/findings/*", "/findings/",
		"/signatures/..%2fdirty-throttling", "/findings/" + strings.Repeat("a", 5000), "/findings/%00", "/api/v1/", "/api/v1/findings/none", "/index.html",
	} {
		w := s.get(t, path)
		if w.Code != http.StatusNotFound {
			t.Errorf("%.60s: status %d, want 404", path, w.Code)
		}
		if loc := w.Header().Get("Location"); loc != "" {
			t.Errorf("%.60s redirects to %s", path, loc)
		}
	}
}

func TestErrorsKeepTheDesign(t *testing.T) {
	s := show(t, scene(t, "store-fails"))
	w := s.get(t, "/")
	if w.Code != http.StatusInternalServerError || !strings.Contains(w.Body.String(), `class="brand"`) {
		t.Fatalf("status %d: %s", w.Code, w.Body)
	}
	if strings.Contains(w.Body.String(), "process does not answer") {
		t.Error("the page shows the internal error")
	}
	if !strings.Contains(s.log.String(), "process does not answer") {
		t.Errorf("the log does not have the error: %s", s.log)
	}
	for path, status := range map[string]int{"/api/v1/report": 500, "/api/v1/nothing": 404, "/api/v1/report?range=2y": 400} {
		w := s.get(t, path)
		var body struct {
			Error struct {
				Status  int
				Message string
			}
		}
		if err := json.Unmarshal(w.Body.Bytes(), &body); err != nil || w.Code != status || body.Error.Status != status || body.Error.Message == "" {
			t.Errorf("%s: %d %s", path, w.Code, w.Body)
		}
	}
}

func TestBadWindows(t *testing.T) {
	s := show(t, gallery.Calm())
	for query, want := range map[string]int{
		"range=15m": 200, "range=7d": 200, "from=2026-03-01T03:00:00Z&to=2026-03-01T03:10:00Z": 200, "from=1772333400000&to=1772334000000": 200,
		"from=2026-03-01T03:00:00Z": 200, "tz=local": 200,
		"range=1y": 400, "range=": 200, "range=%00": 400, "from=yesterday": 400, "from=1&to=9223372036854775807": 400, "to=2026-03-01T03:00:00Z": 400,
		"from=2026-03-01T03:10:00Z&to=2026-03-01T03:00:00Z": 400, "from=2026-03-01T03:10:00Z&to=2026-03-01T03:10:00Z": 400,
		"from=2020-01-01T00:00:00Z&to=2026-01-01T00:00:00Z": 400, "tz=Mars": 400, "from=0000-01-01T00:00:00Z": 400, "from=-5": 400,
	} {
		if w := s.get(t, "/findings?"+query); w.Code != want {
			t.Errorf("%s: status %d, want %d", query, w.Code, want)
		}
	}
}

func TestETagAndFragment(t *testing.T) {
	s := show(t, gallery.Calm())
	whole := s.get(t, "/")
	part := s.get(t, "/", "Stallmark-Fragment", "1")
	body := part.Body.String()
	if strings.Contains(body, "<html") || !strings.Contains(body, `id="page"`) || !strings.Contains(whole.Body.String(), body) {
		t.Errorf("the fragment is not a part of the page:\n%.300s", body)
	}
	tag := part.Header().Get("ETag")
	if tag == whole.Header().Get("ETag") {
		t.Error("page and fragment share an ETag")
	}
	if again := s.get(t, "/", "Stallmark-Fragment", "1", "If-None-Match", tag); again.Code != http.StatusNotModified || again.Body.Len() != 0 {
		t.Errorf("unchanged: status %d, %d bytes", again.Code, again.Body.Len())
	}
	s.Set(scene(t, "stalling"))
	if again := s.get(t, "/", "Stallmark-Fragment", "1", "If-None-Match", tag); again.Code != http.StatusOK {
		t.Errorf("changed: status %d", again.Code)
	}
}

func TestAssetsAreHashedAndKept(t *testing.T) {
	s := show(t, gallery.Calm())
	doc := s.page(t, "/")
	n := 0
	for node := range doc.Descendants() {
		path := attr(node, "src")
		if path == "" && strings.HasPrefix(attr(node, "href"), "/assets/") {
			path = attr(node, "href")
		}
		if path == "" {
			continue
		}
		n++
		w := s.get(t, path)
		if w.Code != 200 || !strings.Contains(w.Header().Get("Cache-Control"), "immutable") || w.Body.Len() == 0 {
			t.Errorf("%s: %d %q", path, w.Code, w.Header().Get("Cache-Control"))
		}
	}
	if n != 3 {
		t.Errorf("%d assets, want 3", n)
	}
}

// slow is a backend whose findings take until the request is given up.
type slow struct {
	*gallery.Backend
	begun chan struct{}
}

func (s slow) Instant(ctx context.Context, expr string, at time.Time) (promql.Vector, error) {
	select {
	case s.begun <- struct{}{}:
	default:
	}
	<-ctx.Done()
	return nil, ctx.Err()
}

func TestRequestsEndInTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := slow{gallery.New(gallery.Calm()), make(chan struct{}, 1)}
		h, err := web.New(web.Config{Backend: b, Now: b.Now, Timeout: 3 * time.Second})
		if err != nil {
			t.Fatal(err)
		}
		began := time.Now()
		var wg sync.WaitGroup
		for range 20 { // more than there are seats: the rest is turned away in the same time
			wg.Go(func() {
				r := httptest.NewRequest(http.MethodGet, "/disks", nil)
				r.Host = "localhost"
				w := httptest.NewRecorder()
				h.ServeHTTP(w, r)
				if w.Code != http.StatusServiceUnavailable {
					t.Errorf("status %d", w.Code)
				}
			})
		}
		wg.Wait()
		if took := time.Since(began); took != 3*time.Second {
			t.Errorf("took %v", took)
		}
	})
}

// broken is a backend that panics.
type broken struct{ *gallery.Backend }

func (broken) Extent(context.Context) (oldest, newest time.Time) { panic("a bug") }

func TestPanicIsAnErrorPage(t *testing.T) {
	b := broken{gallery.New(gallery.Calm())}
	h, err := web.New(web.Config{Backend: b, Now: b.Now})
	if err != nil {
		t.Fatal(err)
	}
	r := httptest.NewRequest(http.MethodGet, "/", nil)
	r.Host = "localhost"
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	if w.Code != http.StatusInternalServerError || strings.Contains(w.Body.String(), "a bug") || !strings.Contains(w.Body.String(), `class="brand"`) {
		t.Errorf("status %d: %s", w.Code, w.Body)
	}
}

func TestNewWantsBackendAndClock(t *testing.T) {
	if _, err := web.New(web.Config{Now: time.Now}); err == nil {
		t.Error("no backend, no error")
	}
	if _, err := web.New(web.Config{Backend: gallery.New(gallery.Calm())}); err == nil {
		t.Error("no clock, no error")
	}
}
