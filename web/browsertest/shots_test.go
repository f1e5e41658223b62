package browsertest

import (
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"stallmark/web"
	"stallmark/web/gallery"
)

// serve shows a scene on a loopback port.
func serve(t testing.TB, s gallery.Scene) (*gallery.Backend, string) {
	t.Helper()
	b := gallery.New(s)
	h, err := web.New(web.Config{Backend: b, Host: "broker-07", Version: "v0.1.0", Now: b.Now, Audit: b.Audit, PageCache: b, Logs: b, Triage: b.Triage})
	if err != nil {
		t.Fatal(err)
	}
	srv := httptest.NewServer(gallery.Given(h))
	t.Cleanup(srv.Close)
	return b, srv.URL
}

// browser starts Chromium, or skips where nobody asked for it.
func browser(t testing.TB) *chromium {
	t.Helper()
	if os.Getenv("STALLMARK_BROWSER") != "1" {
		t.Skip("needs a browser: set STALLMARK_BROWSER=1, as make test does")
	}
	return start(t)
}

// TestShots writes a picture of every scene, for eyes.
func TestShots(t *testing.T) {
	dir := os.Getenv("STALLMARK_SHOTS")
	if dir == "" {
		t.Skip("writes pictures: set STALLMARK_SHOTS to a folder, and STALLMARK_SHOTS_ONLY to a part of a picture's name")
	}
	only := os.Getenv("STALLMARK_SHOTS_ONLY")
	c := browser(t)
	for _, scene := range gallery.Names() {
		s, _ := gallery.Find(scene)
		for _, path := range gallery.Paths(scene) {
			for _, v := range views() {
				name := scene + strings.ReplaceAll(path, "/", "_") + "-" + v.name
				if only != "" && !strings.Contains(name, only) {
					continue
				}
				_, url := serve(t, s)
				p := c.open(t, v.width, v.height, v.scheme)
				p.visit(url + path)
				if err := os.WriteFile(filepath.Join(dir, name+".png"), p.shot(false), 0o644); err != nil {
					t.Fatal(err)
				}
			}
		}
	}
}

// size is a window to look through.
type size struct {
	name          string
	width, height int
	scheme        string
}

// views are a laptop and a phone, by day and by night, and paper; tall ones show
// what is below the first screen.
func views() []size {
	return []size{
		{"desk-light", 1440, 900, "light"},
		{"desk-dark", 1440, 900, "dark"},
		{"tall-light", 1440, 2000, "light"},
		{"phone-light", 390, 844, "light"},
		{"phone-dark", 390, 1600, "dark"},
		{"paper", 760, 1075, "print"},
	}
}
