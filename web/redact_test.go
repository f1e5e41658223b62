package web_test

import (
	"archive/tar"
	"bytes"
	"html"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"testing"

	"github.com/klauspost/compress/zstd"
	nethtml "golang.org/x/net/html"

	"stallmark/storage/model"
	"stallmark/storage/snapshot"
	"stallmark/web"
)

// secrets are what must not be left in any layer of what is shared.
var secrets = []string{
	"10.42.7.13", "broker-07", "orders-secret-topic", "billing-group", "alice@example.com", "0a2a070d00002a9f0000000000012345",
	"2001:db8::beef:1", "mq-prod-3.corp.example.com", "msgkey-778899", "slack.acme.io", "jdbchost",
}

// withSecrets puts them into a frozen scene.
func withSecrets(t *testing.T, name string) *snapshot.Snapshot {
	t.Helper()
	s := frozenScene(t, name)
	line := strings.Join(secrets, " , ") + ` keys=MSGKEY-778899 jdbc:mysql://jdbchost:3306/x http://slack.acme.io/ <b title="alice@example.com">`
	for i := range s.Report.Findings {
		f := &s.Report.Findings[i]
		f.Caveat, f.Subject = line, map[string]string{"topic": "orders-secret-topic", "group": "billing-group"}
		for j := range f.Evidence {
			f.Evidence[j].Detail = line
		}
	}
	for i := range s.Report.Coverage {
		s.Report.Coverage[i].Detail = line
	}
	s.Meta.Cut = append(s.Meta.Cut, line)
	s.Meta.Title += line
	s.Events = append(s.Events, model.Event{From: s.Meta.From, To: s.Meta.From, Kind: model.EventLog, Source: "logs", Text: line, Attrs: map[string]string{
		"topic": "orders-secret-topic", "group": "billing-group", "surroundings": line,
	}})
	s.Samples = append(s.Samples, snapshot.Series{Labels: []model.Label{{Name: "__name__", Value: "x"}, {Name: "topic", Value: "orders-secret-topic"}}, T: []int64{s.Meta.From.UnixMilli()}, V: []float64{1}})
	return s
}

// unpacked are the contents of the files of an archive.
func unpacked(t *testing.T, archive []byte) []byte {
	t.Helper()
	z, err := zstd.NewReader(bytes.NewReader(archive))
	if err != nil {
		t.Fatal(err)
	}
	defer z.Close()
	var all bytes.Buffer
	for r := tar.NewReader(z); ; {
		h, err := r.Next()
		if err == io.EOF {
			return all.Bytes()
		}
		if err != nil {
			t.Fatal(err)
		}
		all.WriteString(h.Name + "\n")
		if _, err := io.Copy(&all, r); err != nil {
			t.Fatal(err)
		}
	}
}

// leaks looks for secrets in a text as it is and as a browser or a program would
// decode it.
func leaks(t *testing.T, where string, text []byte) (found int) {
	t.Helper()
	forms := []string{string(text), html.UnescapeString(string(text)), strings.ReplaceAll(string(text), `\u003c`, "<")}
	if u, err := url.QueryUnescape(string(text)); err == nil {
		forms = append(forms, u)
	}
	for _, secret := range secrets {
		if slices.ContainsFunc(forms, func(f string) bool { return strings.Contains(strings.ToLower(f), secret) }) {
			found++
			t.Logf("%s: %s", where, secret)
		}
	}
	return found
}

// TestRedactedLeavesNothing looks at every layer that leaves the house: pages,
// the file of HTML, the archive in it, and what is in the archive.
func TestRedactedLeavesNothing(t *testing.T) {
	for _, scene := range []string{"stalling", "two-incidents", "hostile"} {
		t.Run(scene, func(t *testing.T) {
			original := withSecrets(t, scene)
			twin, _, err := snapshot.Redact(original, strings.Repeat("a", 64), snapshot.Choice{})
			if err != nil {
				t.Fatal(err)
			}
			for _, one := range []struct {
				s     *snapshot.Snapshot
				clean bool
			}{{original, false}, {twin, true}} {
				_, archive, err := one.s.Encode()
				if err != nil {
					t.Fatal(err)
				}
				var file bytes.Buffer
				if err := web.ExportHTML(t.Context(), &file, one.s, archive); err != nil {
					t.Fatal(err)
				}
				inside, err := snapshot.FromHTML(file.Bytes())
				if err != nil {
					t.Fatal(err)
				}
				pages := pagesOf(t, one.s, "")
				n := leaks(t, "file", file.Bytes()) + leaks(t, "archive", unpacked(t, inside)) + leaks(t, "pages", pages)
				if one.clean != (n == 0) {
					t.Errorf("redacted %v: %d leaks", one.clean, n)
				}
			}
		})
	}
}

// pagesOf is everything that a link to a snapshot shows, of one media type.
func pagesOf(t *testing.T, s *snapshot.Snapshot, kind string) []byte {
	t.Helper()
	h, err := web.ShowSnapshot(s, web.Sight{Base: "/s/x"})
	if err != nil {
		t.Fatal(err)
	}
	paths := []string{"/s/x", "/s/x/incidents", "/s/x/findings"}
	for _, f := range s.Report.Findings {
		paths = append(paths, "/s/x/findings/"+f.ID, "/s/x/incidents/"+f.ID, "/s/x/api/v1/incidents/"+f.ID+"/postmortem", "/s/x/signatures/"+f.Signature)
	}
	var all bytes.Buffer
	for _, p := range paths {
		rec := httptest.NewRecorder()
		h.ServeHTTP(rec, httptest.NewRequest(http.MethodGet, p, nil))
		if rec.Code != http.StatusOK && !strings.Contains(p, "incidents/") {
			t.Errorf("%s: status %d: %s", p, rec.Code, rec.Body)
		}
		if strings.HasPrefix(rec.Header().Get("Content-Type"), kind) {
			all.Write(rec.Body.Bytes())
		}
	}
	return all.Bytes()
}

// TestRedactedDrawsTheSame compares the shapes of all charts.
func TestRedactedDrawsTheSame(t *testing.T) {
	for _, scene := range []string{"stalling", "calm", "two-incidents", "hostile", "many-disks"} {
		t.Run(scene, func(t *testing.T) {
			s := frozenScene(t, scene)
			twin, _, err := snapshot.Redact(s, "", snapshot.Choice{Paths: true})
			if err != nil {
				t.Fatal(err)
			}
			a, b := shapesOf(t, s), shapesOf(t, twin)
			if len(a) == 0 || !slices.Equal(a, b) {
				t.Errorf("%d shapes, want %d", len(b), len(a))
			}
		})
	}
}

// shapesOf are the lines of all charts of a snapshot's overview and findings,
// sorted: a chart may order its series by their names.
func shapesOf(t *testing.T, s *snapshot.Snapshot) []string {
	t.Helper()
	doc, err := nethtml.Parse(bytes.NewReader(pagesOf(t, s, "text/html")))
	if err != nil {
		t.Fatal(err)
	}
	var out []string
	for n := range doc.Descendants() {
		for _, name := range []string{"d", "points"} {
			if d := attr(n, name); n.Type == nethtml.ElementNode && d != "" {
				out = append(out, d)
			}
		}
	}
	slices.Sort(out)
	return out
}
