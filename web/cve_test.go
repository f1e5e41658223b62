package web_test

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"runtime"
	"strings"
	"testing"
	"time"

	"golang.org/x/net/html"

	"stallmark/storage/model"
	"stallmark/storage/snapshot"
	"stallmark/web"
)

// TestCVE202139226LiteralPaths asks for links and snapshots by the words of the
// routes (Grafana CVE-2021-39226): every miss is the same page.
func TestCVE202139226LiteralPaths(t *testing.T) {
	s := sharingOf(t, nil)
	link := s.linked(t, s.frozen(t))
	bearer := []string{"Authorization", "Bearer " + s.admin.Token()}
	want := s.get(t, "/s/"+strings.Repeat("0", 32)).Body.String()
	for _, p := range []string{":token", ":key", "{token}", "*", "%7Btoken%7D", "%00", "..%2f..", link[3:34], strings.ToUpper(link[3:]), link[3:] + "0", link[3:] + "%20"} {
		if link[3:] == strings.ToUpper(link[3:]) {
			continue
		}
		w := s.get(t, "/s/"+p)
		if w.Code != http.StatusNotFound || w.Body.String() != want {
			t.Errorf("/s/%s: status %d, or another page", p, w.Code)
		}
	}
	for _, p := range []string{":id", "{id}", "*", strings.Repeat("0", 64), link[3:]} {
		for _, end := range []string{"", "/view", "/archive", "/html", "/redact", "/today"} {
			if w := s.get(t, "/snapshots/"+p+end, bearer...); w.Code != http.StatusNotFound {
				t.Errorf("/snapshots/%s%s: status %d", p, end, w.Code)
			}
		}
		if w := s.post(t, "/snapshots/"+url.PathEscape(p)+"/delete", nil); w.Code != http.StatusNotFound {
			t.Errorf("delete %s: status %d", p, w.Code)
		}
	}
	if list, _ := s.folder.List(); len(list) != 1 {
		t.Errorf("%d snapshots are left", len(list))
	}
}

// TestCVE20241313ViewersCannotDelete uses a link's token for everything that
// changes something (Grafana CVE-2024-1313, CVE-2026-28380).
func TestCVE20241313ViewersCannotDelete(t *testing.T) {
	s := sharingOf(t, nil)
	path := s.frozen(t)
	link := s.linked(t, path)
	token := strings.TrimPrefix(link, "/s/")
	name := s.folder.Links(strings.TrimPrefix(path, "/snapshots/"))[0].Name()
	for _, auth := range [][]string{{"Authorization", "Bearer " + token}, {"Cookie", "stallmark-admin=" + token}, {"Cookie", "stallmark-admin="}} {
		for _, p := range []string{path + "/delete", path + "/links", path + "/links/" + name + "/revoke", path + "/redact", link + "/delete", link} {
			if w := s.post(t, p, url.Values{}, auth...); w.Code != http.StatusForbidden && w.Code != http.StatusMethodNotAllowed {
				t.Errorf("POST %s as a viewer: status %d", p, w.Code)
			}
		}
	}
	for _, method := range []string{"DELETE", "PUT", "PATCH", "PROPFIND"} {
		r := httptest.NewRequest(method, path, nil)
		r.Host = "127.0.0.1:8411"
		r.Header.Set("Authorization", "Bearer "+s.admin.Token())
		w := httptest.NewRecorder()
		s.ServeHTTP(w, r)
		if w.Code != http.StatusMethodNotAllowed {
			t.Errorf("%s: status %d", method, w.Code)
		}
	}
	if w := s.get(t, link); w.Code != http.StatusOK {
		t.Errorf("the link after all that: status %d", w.Code)
	}
}

// TestCVE202127358StrangersCannotCreate posts without authority (Grafana
// CVE-2021-27358), and with it more often than is worked on.
func TestCVE202127358StrangersCannotCreate(t *testing.T) {
	s := sharingOf(t, nil)
	for range 50 {
		if w := s.post(t, "/api/v1/snapshots", s.minutes(), "Authorization", "Basic YWRtaW46YWRtaW4="); w.Code != http.StatusForbidden {
			t.Fatalf("status %d", w.Code)
		}
	}
	if list, _ := s.folder.List(); len(list) != 0 {
		t.Fatalf("%d snapshots", len(list))
	}
	// A body of the visitor's is no part of what is frozen.
	form := s.minutes()
	for _, field := range []string{"title", "host", "url", "originalUrl", "dashboard", "id", "token"} {
		form.Set(field, "http://evil.example/x")
	}
	if w := s.post(t, "/snapshots", form); w.Code != http.StatusSeeOther {
		t.Fatalf("status %d", w.Code)
	}
	list, _ := s.folder.List()
	got, err := s.folder.Get(list[0].ID)
	if err != nil {
		t.Fatal(err)
	}
	if text := fmt.Sprintf("%+v", *got); strings.Contains(text, "evil.example") {
		t.Error("a field of the request is in the snapshot")
	}
}

// TestCVE202239324NoChosenLinks imports a snapshot whose texts are links and
// looks for one that leads away (Grafana CVE-2022-39324).
func TestCVE202239324NoChosenLinks(t *testing.T) {
	s := frozenScene(t, "stalling")
	const evil = "https://evil.example/login"
	s.Meta.Title, s.Meta.Host, s.Meta.Version, s.Meta.Rules = evil, evil, evil, evil
	for i := range s.Report.Findings {
		f := &s.Report.Findings[i]
		f.Title, f.What, f.Caveat, f.ID = evil, evil, evil, evil+fmt.Sprint(i)
		f.Explains = []string{evil}
	}
	s.Report.Incidents = nil
	h, err := web.ShowSnapshot(s, web.Sight{Base: "/s/x"})
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range []string{"/s/x", "/s/x/findings", "/s/x/incidents"} {
		rec := httptest.NewRecorder()
		h.ServeHTTP(rec, httptest.NewRequest(http.MethodGet, p, nil))
		doc, err := html.Parse(rec.Body)
		if err != nil {
			t.Fatal(err)
		}
		for n := range doc.Descendants() {
			for _, a := range []string{"href", "src", "action", "formaction", "poster", "data"} {
				if v := attr(n, a); n.Type == html.ElementNode && strings.Contains(v, "evil") && !strings.HasPrefix(v, "/s/x/") {
					t.Errorf("%s: %s %s=%q", p, n.Data, a, v)
				}
			}
		}
	}
}

// TestCVE20254123OpenRedirectAndTraversal asks for files beside the assets and
// for ways to other sites (Grafana CVE-2025-4123).
func TestCVE20254123OpenRedirectAndTraversal(t *testing.T) {
	s := sharingOf(t, nil)
	for _, p := range []string{
		"/assets/..%2f..%2fetc%2fpasswd", "/assets/%2e%2e/%2e%2e/etc/passwd", "//evil.example", "/%2f%2fevil.example", "/\\evil.example", "/assets//evil.example/..",
		"/public/..%2F%5cevil.example%2f%3f%2F..%2F..", "/snapshots/..%2f..%2fadmin-token/archive", "/snapshots/admin-token", "/s/..%2fsnapshots", "/assets/",
	} {
		w := s.get(t, p)
		if to := w.Header().Get("Location"); w.Code < 400 || strings.Contains(to, "evil") {
			t.Errorf("%s: status %d to %q", p, w.Code, to)
		}
	}
	token := url.Values{"token": {s.admin.Token()}}
	for _, next := range []string{"//evil.example", "https://evil.example", "/\\evil.example", "\\/evil.example", "javascript:alert(1)", " //evil.example", "/\t/evil.example", "/\r\nX: y", "http:evil.example", "%2f%2fevil.example"} {
		token.Set("next", next)
		w := s.post(t, "/login", token)
		u, err := url.Parse(w.Header().Get("Location"))
		if err != nil || w.Code != http.StatusSeeOther || u.Host != "" || u.Scheme != "" || strings.HasPrefix(u.Path, "//") || strings.ContainsAny(w.Header().Get("Location"), "\\\t\r\n") {
			t.Errorf("next=%q leads to %q", next, w.Header().Get("Location"))
		}
	}
}

// TestCVE202621720NothingGrowsWithRequests counts goroutines after many requests
// of every kind (Grafana CVE-2026-21720, CVE-2026-28375).
func TestCVE202621720NothingGrowsWithRequests(t *testing.T) {
	s := sharingOf(t, nil)
	path := s.frozen(t)
	link := s.linked(t, path)
	ask := func(n int) {
		for i := range n {
			s.later += time.Minute
			for _, p := range []string{"/snapshots", link + "/findings", fmt.Sprintf("/s/%032x", i), path + "/archive", fmt.Sprintf("/nothing/%d", i)} {
				s.get(t, p)
			}
			s.post(t, "/snapshots", url.Values{"from": {"x"}})
		}
	}
	ask(3)
	before := runtime.NumGoroutine()
	ask(30)
	if after := runtime.NumGoroutine(); after > before+5 {
		t.Errorf("%d goroutines, before %d", after, before)
	}
}

// TestCVE202640179StoredXSS puts markup into every text of a snapshot
// (Prometheus CVE-2026-40179) and looks at pages and the exported file.
func TestCVE202640179StoredXSS(t *testing.T) {
	const evil = `"><script>alert(1)</script><img src=x onerror=alert(1)>'</script><svg onload=alert(1)>`
	s := frozenScene(t, "stalling")
	s.Meta.Title, s.Meta.Host, s.Meta.Version, s.Meta.Cut = evil, evil, evil, []string{evil}
	for i := range s.Report.Findings {
		f := &s.Report.Findings[i]
		f.Title, f.What, f.Caveat, f.Subject = evil, evil, evil, map[string]string{"topic" + evil: evil}
		for j := range f.Evidence {
			f.Evidence[j].Title, f.Evidence[j].Detail, f.Evidence[j].Unit = evil, evil, evil
		}
		for j := range f.Remedy {
			f.Remedy[j].Title, f.Remedy[j].Apply = evil, evil
		}
	}
	for i := range s.Report.Coverage {
		s.Report.Coverage[i].Source, s.Report.Coverage[i].Detail = evil+fmt.Sprint(i), evil
	}
	s.Report.Excerpts = []model.Excerpt{{File: evil, Format: evil, Says: []string{evil}, Notes: []string{evil}}}
	s.Events = append(s.Events, model.Event{From: s.Meta.From, To: s.Meta.From, Kind: model.EventLog, Source: evil, Text: evil, Attrs: map[string]string{evil: evil}})
	for i := range s.Lines {
		for j := range s.Lines[i].Series {
			s.Lines[i].Series[j].Labels = append(s.Lines[i].Series[j].Labels, model.Label{Name: "topic", Value: evil})
		}
	}
	_, archive, err := s.Encode()
	if err != nil {
		t.Fatal(err)
	}
	var file bytes.Buffer
	if err := web.ExportHTML(t.Context(), &file, s, archive); err != nil {
		t.Fatal(err)
	}
	checkFile(t, file.Bytes())
	doc, err := html.Parse(bytes.NewReader(pagesOf(t, s, "text/html")))
	if err != nil {
		t.Fatal(err)
	}
	for n := range doc.Descendants() {
		if n.Type != html.ElementNode {
			continue
		}
		if n.Data == "img" || n.Data == "script" && attr(n, "src") == "" {
			t.Errorf("a %s element: %v", n.Data, n.Attr)
		}
		for _, a := range n.Attr {
			if strings.HasPrefix(a.Key, "on") {
				t.Errorf("%s on %s", a.Key, n.Data)
			}
		}
	}
}

// TestCVE202221698MethodsAndPathsAreNotKept sends methods and paths that nobody
// else sends (client_golang CVE-2022-21698): nothing that is kept grows.
func TestCVE202221698MethodsAndPathsAreNotKept(t *testing.T) {
	s := sharingOf(t, nil)
	for i := range 300 {
		r := httptest.NewRequest(fmt.Sprintf("METHOD%d", i), fmt.Sprintf("/path/%d", i), nil)
		r.Host = "127.0.0.1:8411"
		w := httptest.NewRecorder()
		s.ServeHTTP(w, r)
		if w.Code != http.StatusMethodNotAllowed || len(w.Body.String()) > 200 {
			t.Fatalf("status %d, %d bytes", w.Code, w.Body.Len())
		}
	}
	body := s.get(t, "/api/v1/status").Body.String()
	if strings.Contains(body, "METHOD") || strings.Contains(body, "/path/") {
		t.Error("a method or path of a request is told again")
	}
}

// TestK8sCVE201911248NoProfiles asks for the profiles that others leave open
// (kubernetes CVE-2019-11248).
func TestK8sCVE201911248NoProfiles(t *testing.T) {
	s := sharingOf(t, nil)
	link := s.linked(t, s.frozen(t))
	for _, p := range []string{"/debug/pprof/", "/debug/pprof/heap", "/debug/vars", "/metrics/../debug/pprof/cmdline", link + "/debug/pprof/"} {
		if w := s.get(t, p, "Authorization", "Bearer "+s.admin.Token()); w.Code != http.StatusNotFound {
			t.Errorf("%s: status %d", p, w.Code)
		}
	}
}

// TestNetdata3635LogInjection puts line breaks into what is logged about a
// request (netdata issue 3635).
func TestNetdata3635LogInjection(t *testing.T) {
	s := sharingOf(t, nil)
	r := httptest.NewRequest(http.MethodGet, "/", nil)
	r.Host = "evil\n level=ERROR msg=forged"
	s.ServeHTTP(httptest.NewRecorder(), r)
	r = httptest.NewRequest(http.MethodGet, "/x%0Alevel=ERROR%20msg=forged", nil)
	r.Host = "127.0.0.1:8411"
	s.ServeHTTP(httptest.NewRecorder(), r)
	s.post(t, "/snapshots/import", url.Values{"file\nlevel=ERROR msg=forged": {"x"}})
	for _, line := range strings.Split(strings.TrimSpace(s.log.String()), "\n") {
		if line != "" && !strings.HasPrefix(line, "time=") {
			t.Errorf("a line of the visitor's in the log: %q", line)
		}
	}
	if s.log.Len() == 0 {
		t.Error("nothing was logged at all")
	}
}

// TestBelow8254ErrorsTellNoContents imports and judges files that are something
// else (below issue 8254): what is said of them has no byte of theirs.
func TestBelow8254ErrorsTellNoContents(t *testing.T) {
	const secret = "root:$6$SALT$HASH:19000:0:99999:7:::"
	f, err := snapshot.OpenFolder(snapshot.Config{Dir: t.TempDir() + "/s", Now: time.Now})
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	for _, data := range []string{secret, "<!doctype html>" + secret, "<!doctype html>" + snapshot.HTMLOpen + secret + snapshot.HTMLClose} {
		_, err := f.Import(strings.NewReader(data))
		if err == nil || strings.Contains(err.Error(), "SALT") {
			t.Errorf("%v", err)
		}
	}
}

// TestPCPCVE20123421SlowClients sends a body byte by byte, of which nothing is
// waited for but by the connection's own time; a body without an end is cut off
// (PCP CVE-2012-3421). The times of the connection are checked where the server
// is made.
func TestPCPCVE20123421SlowClients(t *testing.T) {
	s := sharingOf(t, nil)
	counted := &counter{}
	r := httptest.NewRequest(http.MethodPost, "/snapshots", io.MultiReader(strings.NewReader("from="), counted))
	r.Host = "127.0.0.1:8411"
	r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	w := httptest.NewRecorder()
	s.ServeHTTP(w, r)
	if w.Code != http.StatusForbidden || counted.read > 0 {
		t.Errorf("a stranger's body: status %d after %d bytes", w.Code, counted.read)
	}
}

// counter is a body without an end.
type counter struct{ read int }

func (c *counter) Read(p []byte) (int, error) {
	for i := range p {
		p[i] = '0'
	}
	c.read += len(p)
	return len(p), nil
}
