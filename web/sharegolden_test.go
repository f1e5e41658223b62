package web_test

import (
	"bytes"
	"net/url"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"golang.org/x/net/html"

	"stallmark/web"
	"stallmark/web/gallery"
)

// random are ids, tokens and names of links, and sizes, which follow from what
// pages ask for.
var random = regexp.MustCompile(`[0-9a-f]{12,64}|[0-9.]+ KiB`)

// empty takes out what is in scripts and styles: the file carries the whole sheet,
// which has nothing to do with its markup, and the archive.
func empty(doc *html.Node) {
	for n := range doc.Descendants() {
		if n.Data == "style" || n.Data == "script" {
			for n.FirstChild != nil {
				n.RemoveChild(n.FirstChild)
			}
		}
	}
}

// TestGoldenShares holds the markup of the pages of snapshots to what somebody has
// looked at (TestSharePages in package browsertest).
func TestGoldenShares(t *testing.T) {
	s := sharingOf(t, func(c *web.Config) { c.Shares.Today = gallery.Today })
	bearer := []string{"Authorization", "Bearer " + s.admin.Token()}
	check := func(name string, body []byte, whole bool) {
		t.Run(name, func(t *testing.T) {
			doc, err := html.Parse(bytes.NewReader(body))
			if err != nil {
				t.Fatal(err)
			}
			if !whole {
				doc = mainOf(doc)
			}
			empty(doc)
			golden(t, filepath.Join("testdata", "golden", "shares_"+name+".txt"), random.ReplaceAll(outline(doc), []byte("X")))
		})
	}
	page := func(name, path string, whole bool, header ...string) {
		t.Helper()
		check(name, s.get(t, path, header...).Body.Bytes(), whole)
	}
	page("empty", "/snapshots", false)
	page("login", "/login?next=/snapshots", false)
	page("login-done", "/login", false, bearer...)
	check("not-signed-in", s.post(t, "/snapshots", s.minutes(), "X", "y").Body.Bytes(), false)
	check("too-short", s.post(t, "/snapshots", url.Values{"from": {"1772334000000"}, "to": {"1772334001000"}}).Body.Bytes(), false)
	page("missing-link", "/s/"+strings.Repeat("0", 32), true)

	path := s.frozen(t)
	page("one-stranger", path, false)
	page("one-fresh", path, false, bearer...)
	link := s.linked(t, path)
	got, err := s.folder.Get(strings.TrimPrefix(path, "/snapshots/"))
	if err != nil {
		t.Fatal(err)
	}
	if err := gallery.Fill(s.folder, got); err != nil {
		t.Fatal(err)
	}
	page("frozen", link, true)
	page("frozen-missing", link+"/nothing", true)
	page("list", "/snapshots", false, bearer...)
	page("one-linked", path, false, bearer...)
	page("redact", path+"/redact?paths=1&words=balance_dirty_pages", false, bearer...)
	page("today", path+"/today", false, bearer...)
	list, err := s.folder.List()
	if err != nil {
		t.Fatal(err)
	}
	for _, info := range list {
		if len(info.Meta.Cut) > 0 {
			page("one-automatic", "/snapshots/"+info.ID, false, bearer...)
		}
		if info.Meta.Redacted {
			page("one-redacted", "/snapshots/"+info.ID, false, bearer...)
		}
	}
	check("file", s.get(t, path+"/html").Body.Bytes(), true)

	expiring := s.linked(t, path)
	for _, l := range s.folder.Links(strings.TrimPrefix(path, "/snapshots/")) {
		if "/s/"+l.Token == link {
			s.post(t, path+"/links/"+l.Name()+"/revoke", nil)
		}
	}
	page("revoked-link", link, true)
	s.later += 25 * time.Hour
	page("expired-link", expiring, true)
}
