package web_test

import (
	"bytes"
	"io"
	"log/slog"
	"mime/multipart"
	"net/http"
	"net/http/httptest"
	"net/url"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"golang.org/x/crypto/bcrypt"
	"golang.org/x/net/html"

	"stallmark/storage/snapshot"
	"stallmark/web"
	"stallmark/web/access"
	"stallmark/web/gallery"
)

// sharingSite is a site whose incidents can be frozen. Its clock moves on by a
// minute with each change, so that no limiter is in the way.
type sharingSite struct {
	site
	admin  *access.Admin
	folder *snapshot.Folder
	later  time.Duration
}

func sharingOf(t *testing.T, change func(*web.Config)) *sharingSite {
	t.Helper()
	s := &sharingSite{}
	b := gallery.New(scene(t, "stalling"))
	now := func() time.Time { return b.Now().Add(s.later) }
	dir := t.TempDir()
	var err error
	if s.admin, err = access.NewAdmin(dir); err != nil {
		t.Fatal(err)
	}
	if s.folder, err = snapshot.OpenFolder(snapshot.Config{Dir: filepath.Join(dir, "snapshots"), Now: now}); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.folder.Close() })
	log := &bytes.Buffer{}
	cfg := web.Config{
		Backend: b, Host: "broker-07", Version: "v0", Now: now, Audit: b.Audit, PageCache: b, Admin: s.admin,
		Shares: &web.Shares{Folder: s.folder, Samples: noSamples},
		Logger: slog.New(slog.NewTextHandler(log, &slog.HandlerOptions{Level: slog.LevelDebug})),
	}
	if change != nil {
		change(&cfg)
	}
	h, err := web.New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	s.site = site{h, b, log}
	return s
}

// post sends a form, as the admin unless header says otherwise.
func (s *sharingSite) post(t *testing.T, path string, form url.Values, header ...string) *httptest.ResponseRecorder {
	t.Helper()
	s.later += time.Minute
	r := httptest.NewRequest(http.MethodPost, path, strings.NewReader(form.Encode()))
	r.Host = "127.0.0.1:8411"
	r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	if len(header) == 0 {
		header = []string{"Authorization", "Bearer " + s.admin.Token()}
	}
	for i := 0; i+1 < len(header); i += 2 {
		r.Header.Set(header[i], header[i+1])
	}
	w := httptest.NewRecorder()
	s.ServeHTTP(w, r)
	return w
}

// minutes is the form by which the last ten minutes are frozen.
func (s *sharingSite) minutes() url.Values {
	to := s.Now().Truncate(time.Second)
	return url.Values{"from": {strconv.FormatInt(to.Add(-10*time.Minute).UnixMilli(), 10)}, "to": {strconv.FormatInt(to.UnixMilli(), 10)}}
}

// frozen makes a snapshot and returns its path.
func (s *sharingSite) frozen(t *testing.T) string {
	t.Helper()
	w := s.post(t, "/snapshots", s.minutes())
	if w.Code != http.StatusSeeOther {
		t.Fatalf("status %d: %s", w.Code, w.Body)
	}
	return w.Header().Get("Location")
}

// linked makes a link to a snapshot and returns its path.
func (s *sharingSite) linked(t *testing.T, path string) string {
	t.Helper()
	if w := s.post(t, path+"/links", url.Values{"hours": {"24"}}); w.Code != http.StatusSeeOther {
		t.Fatalf("status %d: %s", w.Code, w.Body)
	}
	links := s.folder.Links(strings.TrimPrefix(path, "/snapshots/"))
	return "/s/" + links[0].Token
}

func TestSnapshotIsMadeSharedRevokedAndDeleted(t *testing.T) {
	s := sharingOf(t, nil)
	path := s.frozen(t)
	bearer := []string{"Authorization", "Bearer " + s.admin.Token()}
	for _, p := range []string{"/snapshots", path, path + "/view", "/login"} {
		if w := s.get(t, p, bearer...); w.Code != http.StatusOK {
			t.Fatalf("%s: status %d: %s", p, w.Code, w.Body)
		}
	}
	link := s.linked(t, path)
	w := s.get(t, link)
	if w.Code != http.StatusOK || !strings.Contains(w.Body.String(), "as it stood at") {
		t.Fatalf("status %d: %s", w.Code, w.Body)
	}
	if body := s.get(t, path).Body.String(); strings.Contains(body, link) {
		t.Error("who is not signed in sees the token")
	}
	if body := s.get(t, path, bearer...).Body.String(); !strings.Contains(body, "http://127.0.0.1:8411"+link) || !strings.Contains(body, "opened 1 time") {
		t.Error("the owner does not see the link, or that it was opened")
	}
	name := s.folder.Links(strings.TrimPrefix(path, "/snapshots/"))[0].Name()
	if w := s.post(t, path+"/links/"+name+"/revoke", nil); w.Code != http.StatusSeeOther {
		t.Fatalf("status %d", w.Code)
	}
	if w := s.get(t, link); w.Code != http.StatusNotFound {
		t.Errorf("a revoked link: status %d", w.Code)
	}
	link = s.linked(t, path)
	s.later += 25 * time.Hour
	if w := s.get(t, link); w.Code != http.StatusNotFound || strings.Contains(w.Body.String(), "broker-07") {
		t.Errorf("an expired link: status %d, or it names the host", w.Code)
	}
	link = s.linked(t, path)
	if w := s.post(t, path+"/delete", nil); w.Code != http.StatusSeeOther {
		t.Fatalf("status %d", w.Code)
	}
	for _, p := range []string{link, path, path + "/view", path + "/archive"} {
		if w := s.get(t, p); w.Code != http.StatusNotFound {
			t.Errorf("%s of a deleted snapshot: status %d", p, w.Code)
		}
	}
}

// TestLinkLeadsNowhereElse follows every link of every page of a snapshot.
func TestLinkLeadsNowhereElse(t *testing.T) {
	s := sharingOf(t, nil)
	link := s.linked(t, s.frozen(t))
	seen := map[string]bool{}
	todo := []string{link}
	for len(todo) > 0 && len(seen) < 100 {
		path := todo[0]
		todo = todo[1:]
		if seen[path] {
			continue
		}
		seen[path] = true
		w := s.get(t, path)
		if w.Code != http.StatusOK {
			t.Errorf("%s: status %d", path, w.Code)
			continue
		}
		if !strings.HasPrefix(w.Header().Get("Content-Type"), "text/html") {
			continue
		}
		doc, err := html.Parse(w.Body)
		if err != nil {
			t.Fatal(err)
		}
		for n := range doc.Descendants() {
			if n.Data == "form" || n.Data == "title" && n.Parent.Data == "head" && n.FirstChild.Data != "Stallmark snapshot" {
				t.Errorf("%s has a form, or a title that tells something", path)
			}
			href := attr(n, "href")
			if n.Data != "a" || href == "" || strings.HasPrefix(href, "#") || strings.HasPrefix(href, "https://") {
				continue
			}
			if !strings.HasPrefix(href, link) {
				t.Errorf("%s leads to %s", path, href)
			}
			href, _, _ = strings.Cut(href, "#")
			todo = append(todo, href)
		}
	}
	s.later += time.Minute
	if len(seen) < 8 {
		t.Errorf("%d pages only: %v", len(seen), seen)
	}
	for _, p := range []string{"/api/v1/report", "/status", "/disks", "/api/v1/snapshots", "/../snapshots", "/audit"} {
		if w := s.get(t, link+p); w.Code != http.StatusNotFound && w.Code != http.StatusMovedPermanently {
			t.Errorf("%s is answered below a link: status %d", p, w.Code)
		}
	}
}

func TestChangesNeedTheToken(t *testing.T) {
	s := sharingOf(t, nil)
	path := s.frozen(t)
	for _, p := range []string{"/snapshots", "/api/v1/snapshots", "/snapshots/import", path + "/links", path + "/links/x/revoke", path + "/delete", path + "/redact"} {
		for _, auth := range []string{"", "Bearer " + strings.Repeat("0", 32), "Bearer "} {
			if w := s.post(t, p, s.minutes(), "Authorization", auth); w.Code != http.StatusForbidden {
				t.Errorf("%s with %q: status %d", p, auth, w.Code)
			}
		}
		if w := s.get(t, p+"?from=1&to=2"); w.Code == http.StatusSeeOther {
			t.Errorf("GET %s changes something", p)
		}
	}
	if list, _ := s.folder.List(); len(list) != 1 {
		t.Errorf("%d snapshots", len(list))
	}
}

// TestOtherSitesCannotChange sends what a browser sends for another site's form.
func TestOtherSitesCannotChange(t *testing.T) {
	s := sharingOf(t, nil)
	for _, header := range [][]string{{"Sec-Fetch-Site", "cross-site"}, {"Origin", "http://evil.example"}} {
		w := s.post(t, "/snapshots", s.minutes(), append(header, "Authorization", "Bearer "+s.admin.Token())...)
		if w.Code != http.StatusForbidden {
			t.Errorf("%v: status %d", header, w.Code)
		}
	}
}

func TestLogin(t *testing.T) {
	s := sharingOf(t, nil)
	if w := s.post(t, "/login", url.Values{"token": {"wrong"}}, "X", "y"); w.Code != http.StatusForbidden || len(w.Result().Cookies()) > 0 {
		t.Errorf("a wrong token: status %d", w.Code)
	}
	for _, next := range []string{"/snapshots", "//evil.example", "https://evil.example", `/\evil.example`, "javascript:alert(1)"} {
		w := s.post(t, "/login", url.Values{"token": {s.admin.Token()}, "next": {next}}, "X", "y")
		want := "/"
		if next == "/snapshots" {
			want = next
		}
		if w.Code != http.StatusSeeOther || w.Header().Get("Location") != want || len(w.Result().Cookies()) != 1 {
			t.Errorf("%s: status %d to %s", next, w.Code, w.Header().Get("Location"))
		}
		cookie := w.Result().Cookies()[0]
		if w := s.post(t, "/snapshots", s.minutes(), "Cookie", cookie.Name+"="+cookie.Value); w.Code != http.StatusSeeOther {
			t.Errorf("with the cookie: status %d", w.Code)
		}
	}
}

func TestTooManyAreRefused(t *testing.T) {
	s := sharingOf(t, nil)
	refused := 0
	for range 20 {
		s.later -= time.Minute // the clock stands
		if w := s.post(t, "/snapshots", s.minutes()); w.Code == http.StatusTooManyRequests {
			refused++
		}
	}
	if refused < 10 {
		t.Errorf("%d of 20 at once were refused", refused)
	}
}

func TestImportThroughThePage(t *testing.T) {
	from, to := sharingOf(t, nil), sharingOf(t, nil)
	path := from.frozen(t)
	archive := from.get(t, path+"/archive").Body.Bytes()
	send := func(data []byte) *httptest.ResponseRecorder {
		var body bytes.Buffer
		m := multipart.NewWriter(&body)
		part, err := m.CreateFormFile("file", "../../x.stallmark")
		if err != nil {
			t.Fatal(err)
		}
		if _, err := part.Write(data); err != nil {
			t.Fatal(err)
		}
		if err := m.Close(); err != nil {
			t.Fatal(err)
		}
		to.later += time.Minute
		r := httptest.NewRequest(http.MethodPost, "/snapshots/import", &body)
		r.Host = "127.0.0.1:8411"
		r.Header.Set("Content-Type", m.FormDataContentType())
		r.Header.Set("Authorization", "Bearer "+to.admin.Token())
		w := httptest.NewRecorder()
		to.ServeHTTP(w, r)
		return w
	}
	if w := send(archive); w.Code != http.StatusSeeOther || w.Header().Get("Location") != path {
		t.Fatalf("status %d to %s, want %s", w.Code, w.Header().Get("Location"), path)
	}
	if w := to.get(t, path+"/view"); w.Code != http.StatusOK {
		t.Errorf("status %d", w.Code)
	}
	if w := send([]byte("hello")); w.Code != http.StatusUnprocessableEntity {
		t.Errorf("no snapshot: status %d", w.Code)
	}
}

// TestBasicAuth guards everything but links and the page's own files.
func TestBasicAuth(t *testing.T) {
	hash, err := bcrypt.GenerateFromPassword([]byte("secret"), bcrypt.MinCost)
	if err != nil {
		t.Fatal(err)
	}
	s := sharingOf(t, func(c *web.Config) { c.Basic = access.NewBasic(map[string]string{"ann": string(hash)}, c.Now) })
	path := s.frozen(t) // by the token alone
	link := s.linked(t, path)
	if w := s.get(t, link); w.Code != http.StatusOK {
		t.Errorf("a link needs a password: status %d", w.Code)
	}
	for _, p := range []string{"/", "/status", "/api/v1/report", "/snapshots", path, path + "/view", path + "/archive", "/nothing", "/login"} {
		if w := s.get(t, p); w.Code != http.StatusUnauthorized || strings.Contains(w.Body.String(), "broker-07") {
			t.Errorf("%s without a password: status %d", p, w.Code)
		}
	}
	r := httptest.NewRequest(http.MethodGet, "/", nil)
	r.Host = "127.0.0.1:8411"
	r.SetBasicAuth("ann", "secret")
	w := httptest.NewRecorder()
	s.ServeHTTP(w, r)
	if w.Code != http.StatusOK {
		t.Errorf("with the password: status %d", w.Code)
	}
}

// TestBodiesAreBounded sends more than a form may have.
func TestBodiesAreBounded(t *testing.T) {
	s := sharingOf(t, nil)
	r := httptest.NewRequest(http.MethodPost, "/login", io.MultiReader(strings.NewReader("token="), io.LimitReader(zeros{}, 80<<20)))
	r.Host = "127.0.0.1:8411"
	r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	w := httptest.NewRecorder()
	s.ServeHTTP(w, r)
	if w.Code != http.StatusForbidden {
		t.Errorf("status %d", w.Code)
	}
}

type zeros struct{}

func (zeros) Read(p []byte) (int, error) {
	for i := range p {
		p[i] = '0'
	}
	return len(p), nil
}

// TestRedactThroughThePage looks at the preview and makes the twin.
func TestRedactThroughThePage(t *testing.T) {
	s := sharingOf(t, nil)
	path := s.frozen(t)
	bearer := []string{"Authorization", "Bearer " + s.admin.Token()}
	if w := s.get(t, path+"/redact"); w.Code != http.StatusForbidden {
		t.Errorf("without the token: status %d", w.Code)
	}
	w := s.get(t, path+"/redact?words=balance_dirty_pages", bearer...)
	if body := w.Body.String(); w.Code != http.StatusOK || !strings.Contains(body, "broker-07") || !strings.Contains(body, "host-1") || !strings.Contains(body, "word-1") {
		t.Fatalf("status %d: %s", w.Code, body)
	}
	if w = s.post(t, path+"/redact", nil); w.Code != http.StatusSeeOther || w.Header().Get("Location") == path {
		t.Fatalf("status %d to %s", w.Code, w.Header().Get("Location"))
	}
	link := s.linked(t, w.Header().Get("Location"))
	if body := s.get(t, link).Body.String(); strings.Contains(body, "broker-07") || !strings.Contains(body, "names and addresses are replaced") {
		t.Error("the host's name is in what the link shows")
	}
}
