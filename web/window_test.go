package web

import (
	"net/http/httptest"
	"net/url"
	"testing"
	"time"
)

func clockServer() *server {
	now := time.Date(2026, 3, 1, 3, 14, 49, 700e6, time.UTC)
	return &server{cfg: Config{Now: func() time.Time { return now }, Interval: time.Second}}
}

func TestWindow(t *testing.T) {
	for _, c := range []struct {
		query, from, to string
		live            bool
	}{
		{"", "02:59:49", "03:14:49", true},
		{"?range=1h", "02:14:49", "03:14:49", true},
		{"?from=2026-03-01T03:00:00Z&to=2026-03-01T04:10:00%2B01:00", "03:00:00", "03:10:00", false},
		{"?from=1772334000000&to=1772334060000", "03:00:00", "03:01:00", false},
		{"?from=2026-03-01T03:00:00.9Z", "03:00:00", "03:14:49", false},
	} {
		w, err := clockServer().window(httptest.NewRequest("GET", "/"+c.query, nil))
		if err != nil {
			t.Errorf("%s: %v", c.query, err)
			continue
		}
		if w.From.Format("15:04:05") != c.from || w.To.Format("15:04:05") != c.to || w.Live != c.live {
			t.Errorf("%s: %v to %v, live %v", c.query, w.From, w.To, w.Live)
		}
	}
}

// TestWindowLinks holds links to the window that they come from: URL is state.
func TestWindowLinks(t *testing.T) {
	s := clockServer()
	for _, query := range []string{"", "?range=6h", "?tz=local", "?from=1772334000000&to=1772334060000&tz=local"} {
		w, err := s.window(httptest.NewRequest("GET", "/disks"+query, nil))
		if err != nil {
			t.Fatal(err)
		}
		again, err := s.window(httptest.NewRequest("GET", w.Link("disks"), nil))
		if err != nil || again != w {
			t.Errorf("%s: its own link %s leads to %+v, %v", query, w.Link("disks"), again, err)
		}
		for _, href := range []string{w.Earlier(), w.Later(), w.Freeze()} {
			n, err := s.window(httptest.NewRequest("GET", href, nil))
			if err != nil || n.Live || n.Local != w.Local {
				t.Errorf("%s: %s leads to %+v, %v", query, href, n, err)
			}
			if got, want := n.To.Sub(n.From), w.To.Sub(w.From); got != want {
				t.Errorf("%s: %s is %v long, want %v", query, href, got, want)
			}
		}
		if n, err := s.window(httptest.NewRequest("GET", w.GoLive(), nil)); err != nil || !n.Live {
			t.Errorf("%s: %s does not go live: %v", query, w.GoLive(), err)
		}
	}
	if got := clockWindow(t, "").Link("findings", `a/b?c#d"`); got != "/findings/a%2Fb%3Fc%23d%22" {
		t.Errorf("an id is not escaped in %s", got)
	}
}

func clockWindow(t *testing.T, query string) interface{ Link(...string) string } {
	t.Helper()
	w, err := clockServer().window(httptest.NewRequest("GET", "/"+query, nil))
	if err != nil {
		t.Fatal(err)
	}
	return w
}

// FuzzWindow reads any query without a panic and gives bounded windows only.
func FuzzWindow(f *testing.F) {
	for _, q := range []string{"range=15m", "from=1&to=2", "from=2026-03-01T03:00:00Z&to=9999999999999999999", "from=%00&tz=local", "from=253402300799999&to=0"} {
		f.Add(q)
	}
	f.Fuzz(func(t *testing.T, query string) {
		r := httptest.NewRequest("GET", "/", nil)
		r.URL = &url.URL{Path: "/", RawQuery: query}
		w, err := clockServer().window(r)
		if err != nil {
			return
		}
		if span := w.To.Sub(w.From); span < minSpan || span > maxSpan {
			t.Errorf("%q gives a window of %v", query, span)
		}
	})
}
