package browsertest

import (
	"context"
	"encoding/base64"
	"fmt"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"stallmark/storage/snapshot"
	"stallmark/web"
	"stallmark/web/access"
	"stallmark/web/gallery"
)

// shared is a site that freezes and judges texts, on a clock that the test moves.
type shared struct {
	url    string
	admin  *access.Admin
	folder *snapshot.Folder
	later  atomic.Int64 // seconds

	mu    sync.Mutex
	given []web.Upload
}

func share(t *testing.T) *shared {
	t.Helper()
	s := &shared{}
	b := gallery.New(gallery.Stalling())
	now := func() time.Time { return b.Now().Add(time.Duration(s.later.Load()) * time.Second) }
	dir := t.TempDir()
	var err error
	if s.admin, err = access.NewAdmin(dir); err != nil {
		t.Fatal(err)
	}
	if s.folder, err = snapshot.OpenFolder(snapshot.Config{Dir: filepath.Join(dir, "snapshots"), Now: now}); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.folder.Close() })
	cfg := web.Config{
		Backend: b, Host: "broker-07", Version: "v0.1.0", Now: now, Audit: b.Audit, PageCache: b, Admin: s.admin,
		Shares: &web.Shares{Folder: s.folder, Samples: func(context.Context, time.Time, time.Time) ([]snapshot.Series, error) { return nil, nil }},
	}
	cfg.Shares.Today = gallery.Today
	freezer, err := web.NewFreezer(cfg, cfg.Shares.Samples)
	if err != nil {
		t.Fatal(err)
	}
	cfg.Triage = func(ctx context.Context, uploads []web.Upload) (*snapshot.Snapshot, error) {
		s.mu.Lock()
		s.given = uploads
		s.mu.Unlock()
		to := b.Now().Truncate(time.Second)
		return freezer.Freeze(ctx, web.Order{From: to.Add(-5 * time.Minute), To: to, By: "triage"})
	}
	h, err := web.New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	srv := httptest.NewServer(h)
	t.Cleanup(srv.Close)
	s.url = srv.URL
	return s
}

// press submits the form of the first button that has these words, and waits for
// the page that follows.
func (s *shared) press(p *tab, words string) {
	p.t.Helper()
	s.later.Add(60)
	p.eval(fmt.Sprintf(`(window.leaving = true, [...document.querySelectorAll("button")].find((b) => b.textContent.trim() === %q).click())`, words))
	p.until(`!window.leaving && document.readyState === "complete"`)
}

// heading is the first heading of the page.
func heading(p *tab) string { return p.eval(`document.querySelector("h1")?.textContent`) }

// shareOne signs in, freezes what the page shows and makes a link.
func (s *shared) shareOne(p *tab) (path, link string) {
	p.t.Helper()
	p.visit(s.url + "/login?token=" + s.admin.Token())
	if !strings.Contains(heading(p), "signed in") { // another tab of this profile may have been
		s.press(p, "Sign in")
	}
	p.visit(s.url + "/")
	s.press(p, "Freeze")
	path = p.eval(`location.pathname`)
	if !strings.HasPrefix(path, "/snapshots/") {
		p.t.Fatalf("freezing leads to %s: %s", path, heading(p))
	}
	s.press(p, "Make a link")
	link = p.eval(`[...document.querySelectorAll(".shared code")].map((c) => c.textContent).find((t) => t.includes("/s/"))`)
	if !strings.Contains(link, "/s/") {
		p.t.Fatalf("no link: %q", link)
	}
	return path, strings.TrimSpace(link)
}

// TestShareInChromium takes an incident from the live page to a link that
// another profile opens, revokes it, and lets another expire.
func TestShareInChromium(t *testing.T) {
	c := browser(t)
	s := share(t)
	p := c.open(t, 1440, 900, "light")
	path, link := s.shareOne(p)
	p.clean()

	q := start(t).open(t, 390, 844, "dark") // a colleague's
	q.visit(link)
	if got := heading(q); !strings.Contains(got, "Writers are paused") {
		t.Errorf("the link shows %q", got)
	}
	if got := q.eval(`document.title + document.cookie + document.querySelectorAll("form").length`); got != "Stallmark snapshot0" {
		t.Errorf("title, cookies and forms: %q", got)
	}
	if got := q.eval(`document.documentElement.scrollWidth <= innerWidth`); got != "true" {
		t.Error("wider than the phone")
	}
	if small := q.eval(smallText); small != "" {
		t.Errorf("text smaller than 11 px: %s", small)
	}
	q.clean()

	p.visit(s.url + path)
	s.press(p, "Revoke")
	q.visit(link)
	if got := q.html(); strings.Contains(got, "broker-07") || !strings.Contains(got, "nothing at this link") {
		t.Errorf("after it was revoked: %.300s", got)
	}
	s.press(p, "Make a link")
	link = strings.TrimSpace(p.eval(`[...document.querySelectorAll(".shared code")].map((c) => c.textContent).find((t) => t.includes("/s/"))`))
	q.visit(link)
	if got := heading(q); !strings.Contains(got, "Writers are paused") {
		t.Errorf("the second link shows %q", got)
	}
	s.later.Add(8 * 24 * 3600)
	q.visit(link)
	if got := q.html(); !strings.Contains(got, "nothing at this link") {
		t.Errorf("after eight days: %.300s", got)
	}
	q.clean("404")
}

// TestRedactInChromium looks at what would leave, and makes the redacted twin.
func TestRedactInChromium(t *testing.T) {
	c := browser(t)
	s := share(t)
	p := c.open(t, 390, 844, "light")
	path, _ := s.shareOne(p)
	p.visit(s.url + path + "/redact")
	if got := p.eval(`document.body.textContent.includes("broker-07") && document.body.textContent.includes("host-1")`); got != "true" {
		t.Error("the preview does not tell what becomes of the host's name")
	}
	if got := p.eval(`document.documentElement.scrollWidth <= innerWidth`); got != "true" {
		t.Errorf("wider than the screen by %s", p.eval(`document.documentElement.scrollWidth - innerWidth`))
	}
	s.press(p, "Make the redacted snapshot")
	if got := p.eval(`location.pathname`); got == path || !strings.HasPrefix(got, "/snapshots/") {
		t.Errorf("led to %s", got)
	}
	s.press(p, "Make a link")
	p.visit(strings.TrimSpace(p.eval(`[...document.querySelectorAll(".shared code")].map((c) => c.textContent).find((t) => t.includes("/s/"))`)))
	if got := p.html(); strings.Contains(got, "broker-07") || strings.Count(got, "<figure") < 3 {
		t.Error("the host's name is left, or charts are gone")
	}
	p.clean()
}

// TestFileInChromium opens the exported file from the disk, with the network off,
// and prints the snapshot.
func TestFileInChromium(t *testing.T) {
	c := browser(t)
	s := share(t)
	p := c.open(t, 1440, 900, "light")
	_, link := s.shareOne(p)
	list, err := s.folder.List()
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "incident.html")
	out, err := os.Create(file)
	if err != nil {
		t.Fatal(err)
	}
	if err := web.ExportOf(t.Context(), out, s.folder, list[0].ID); err != nil {
		t.Fatal(err)
	}
	if err := out.Close(); err != nil {
		t.Fatal(err)
	}
	for _, v := range views()[:5] {
		q := c.open(t, v.width, v.height, v.scheme)
		q.do("Network.emulateNetworkConditions", object{"offline": true, "latency": 0, "downloadThroughput": 0, "uploadThroughput": 0})
		q.visit("file://" + file)
		if got := q.eval(`document.querySelectorAll("main.sheet svg").length > 5 && getComputedStyle(document.body).backgroundColor !== "rgba(0, 0, 0, 0)"`); got != "true" {
			t.Errorf("%s: no charts, or no style", v.name)
		}
		if got := q.eval(`document.documentElement.scrollWidth <= innerWidth`); got != "true" {
			t.Errorf("%s: wider than the screen by %s", v.name, q.eval(`document.documentElement.scrollWidth - innerWidth`))
		}
		q.clean()
		keep(t, q, "file-"+v.name)
	}
	p.visit(link)
	var pdf struct {
		Data string `json:"data"`
	}
	p.call(&pdf, p.session, "Page.printToPDF", object{"preferCSSPageSize": true, "printBackground": false})
	raw, err := base64.StdEncoding.DecodeString(pdf.Data)
	if err != nil || !strings.HasPrefix(string(raw), "%PDF-") || len(raw) < 10_000 {
		t.Errorf("%d bytes of PDF: %v", len(raw), err)
	}
	p.do("Emulation.setEmulatedMedia", object{"media": "print"})
	if got := p.eval(`[...document.querySelectorAll("button, form, nav")].filter((e) => e.getClientRects().length > 0).map((e) => e.outerHTML.slice(0, 80)).join("; ")`); got != "" {
		t.Errorf("on paper there are things to press: %s", got)
	}
}

// keep writes a picture where somebody asked for it.
func keep(t *testing.T, p *tab, name string) {
	t.Helper()
	if dir := os.Getenv("STALLMARK_SHOTS"); dir != "" {
		if err := os.WriteFile(filepath.Join(dir, name+".png"), p.shot(false), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

// TestTriageInChromium pastes mixed text and gives files, as a person would.
func TestTriageInChromium(t *testing.T) {
	c := browser(t)
	s := share(t)
	p := c.open(t, 1440, 900, "light")
	p.visit(s.url + "/triage")
	const mixed = "$ vmstat 1\nprocs ---memory---\n r  b   swpd\n 1  9      0\n\n2026-03-01 03:12:41 WARN [TIMEOUT_CLEAN_QUEUE]broker busy\n"
	p.eval(`document.getElementById("text").focus()`)
	p.do("Input.insertText", object{"text": mixed})
	dir := t.TempDir()
	var files []string
	for _, name := range []string{"store.log", "gc <b>.log"} {
		files = append(files, filepath.Join(dir, name))
		if err := os.WriteFile(files[len(files)-1], []byte("from "+name), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	giveFiles(p, files...)
	s.press(p, "Find out")
	if got := p.eval(`location.pathname`); !strings.HasPrefix(got, "/triage/") {
		t.Errorf("led to %s: %s", got, heading(p))
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.given) != 3 {
		t.Fatalf("%d texts", len(s.given))
	}
	for i, want := range []string{strings.ReplaceAll(mixed, "\n", "\r\n"), "from store.log", "from gc <b>.log"} {
		if got := string(s.given[i].Data); got != want {
			t.Errorf("text %d: %q, want %q", i, got, want)
		}
	}
	p.clean()
	keep(t, p, "triage-result")
}

// TestSharePages looks at the pages of the owner's side and at what others see, on
// a shelf with snapshots of every kind.
func TestSharePages(t *testing.T) {
	c := browser(t)
	s := share(t)
	p := c.open(t, 1440, 900, "light")
	for name, at := range map[string]string{"empty": "/snapshots", "login": "/login", "missing": "/s/00000000000000000000000000000000"} {
		p.visit(s.url + at)
		keep(t, p, "share-"+name+"-desk-light")
	}
	path, link := s.shareOne(p)
	list, err := s.folder.List()
	if err != nil {
		t.Fatal(err)
	}
	got, err := s.folder.Get(list[0].ID)
	if err != nil {
		t.Fatal(err)
	}
	if err := gallery.Fill(s.folder, got); err != nil {
		t.Fatal(err)
	}
	for _, v := range views() {
		p := c.open(t, v.width, v.height, v.scheme)
		for name, at := range map[string]string{
			"list": "/snapshots", "one": path, "redact": path + "/redact?paths=1", "today": path + "/today", "triage": "/triage", "login": "/login",
			"frozen": strings.TrimPrefix(link, s.url), "frozen-missing": strings.TrimPrefix(link, s.url) + "/nothing", "missing": "/s/00000000000000000000000000000000",
		} {
			s.later.Add(60)
			p.visit(s.url + at)
			if got := p.eval(`document.documentElement.scrollWidth <= innerWidth`); got != "true" {
				t.Errorf("%s at %s: wider than the screen by %s", at, v.name, p.eval(`document.documentElement.scrollWidth - innerWidth`))
			}
			if small := p.eval(smallText); small != "" && v.scheme != "print" {
				t.Errorf("%s at %s: text smaller than 11 px: %s", at, v.name, small)
			}
			p.clean("404")
			keep(t, p, "share-"+name+"-"+v.name)
		}
	}
}

// TestZoomInASnapshot drags over a chart of a link's page: the part that was
// dragged over is shown, the verdict stays, and all requests stay below the link.
func TestZoomInASnapshot(t *testing.T) {
	c := browser(t)
	s := share(t)
	_, link := s.shareOne(c.open(t, 1440, 900, "light"))
	q := start(t).open(t, 1440, 900, "light")
	q.visit(link)
	before := heading(q)
	q.mouse("mouseMoved", `.plot`, 0.5)
	q.mouse("mousePressed", `.plot`, 0.5)
	q.mouse("mouseMoved", `.plot`, 0.75)
	q.mouse("mouseReleased", `.plot`, 0.75)
	q.until(`location.search.includes("from=") && document.readyState === "complete"`)
	if got := heading(q); got != before {
		t.Errorf("after zooming the verdict is %q, before %q", got, before)
	}
	if got := q.eval(`location.origin + location.pathname`); got != link {
		t.Errorf("zooming leads to %s", got)
	}
	if got := q.eval(`[...document.querySelectorAll(".plot path")].some((p) => p.getAttribute("d").length > 50)`); got != "true" {
		t.Error("no line is drawn in the part")
	}
	if got := q.eval(`performance.getEntriesByType("resource").map((e) => new URL(e.name).pathname).filter((p) => !p.startsWith("/assets/") && !p.startsWith(new URL(location.href).pathname)).join(" ")`); got != "" {
		t.Errorf("asked for beside the link: %s", got)
	}
	q.clean()
}
