package web_test

import (
	"bytes"
	"context"
	"net/http"
	"net/http/httptest"
	"reflect"
	"strings"
	"testing"
	"time"

	"golang.org/x/net/html"

	"stallmark/storage/snapshot"
	"stallmark/web"
	"stallmark/web/gallery"
)

// noSamples is for tests that look at what is shown only.
func noSamples(context.Context, time.Time, time.Time) ([]snapshot.Series, error) { return nil, nil }

// frozenScene freezes the last ten minutes of a scene, through the archive.
func frozenScene(t *testing.T, name string) *snapshot.Snapshot {
	t.Helper()
	b := gallery.New(scene(t, name))
	f, err := web.NewFreezer(web.Config{Backend: b, Host: "broker-07", Version: "v0", Now: b.Now, Logs: b}, noSamples)
	if err != nil {
		t.Fatal(err)
	}
	to := b.Now().Truncate(time.Second)
	s, err := f.Freeze(t.Context(), web.Order{From: to.Add(-10 * time.Minute), To: to, By: "page"})
	if err != nil {
		t.Fatal(err)
	}
	id, data, err := s.Encode()
	if err != nil {
		t.Fatal(err)
	}
	got, again, err := snapshot.Decode(bytes.NewReader(data), snapshot.DefaultLimits())
	if err != nil || got != id {
		t.Fatalf("id %s, want %s: %v", got, id, err)
	}
	return again
}

// drawings are the charts and lanes of a page, as HTML.
func drawings(t *testing.T, doc *html.Node) []string {
	t.Helper()
	var out []string
	for n := range doc.Descendants() {
		if n.Type == html.ElementNode && n.Data == "figure" {
			var b bytes.Buffer
			if err := html.Render(&b, n); err != nil {
				t.Fatal(err)
			}
			out = append(out, b.String())
		}
	}
	return out
}

// TestFrozenPageIsTheSame freezes scenes and compares verdict and charts with
// those of the live page for the same time.
func TestFrozenPageIsTheSame(t *testing.T) {
	for _, name := range []string{"stalling", "calm", "resolved", "two-incidents", "hostile", "many-disks"} {
		t.Run(name, func(t *testing.T) {
			s := frozenScene(t, name)
			frozen, err := web.ShowSnapshot(s, web.Sight{Base: "/s/x"})
			if err != nil {
				t.Fatal(err)
			}
			live := show(t, scene(t, name))
			want := live.page(t, "/?from="+s.Meta.From.Format(time.RFC3339)+"&to="+s.Meta.To.Format(time.RFC3339))
			r := httptest.NewRequest(http.MethodGet, "/s/x", nil)
			rec := httptest.NewRecorder()
			frozen.ServeHTTP(rec, r)
			if rec.Code != http.StatusOK {
				t.Fatalf("status %d: %s", rec.Code, rec.Body)
			}
			body := rec.Body.String()
			doc, err := html.Parse(strings.NewReader(body))
			if err != nil {
				t.Fatal(err)
			}
			a, b := drawings(t, want), drawings(t, doc)
			if len(a) == 0 || len(a) != len(b) {
				t.Fatalf("%d charts, want %d", len(b), len(a))
			}
			for i := range a {
				if x := strings.ReplaceAll(b[i], "/s/x/", "/"); x != a[i] {
					t.Errorf("chart %d differs", i)
				}
			}
			for n := range doc.Descendants() {
				if href := attr(n, "href"); n.Data == "a" && strings.HasPrefix(href, "/") && !strings.HasPrefix(href, "/s/x") {
					t.Errorf("a link leads out of the snapshot: %s", href)
				}
			}
			if strings.Contains(body, "/api/v1") || !strings.Contains(body, "<title>Stallmark snapshot</title>") {
				t.Error("the page offers JSON, or its title tells something")
			}
		})
	}
}

// TestFreezeKeepsTheVerdict compares the report.
func TestFreezeKeepsTheVerdict(t *testing.T) {
	sc := scene(t, "stalling")
	s := frozenScene(t, "stalling")
	if len(s.Report.Findings) != len(sc.Report.Findings) || len(s.Report.Findings) == 0 {
		t.Fatalf("%d findings, want %d", len(s.Report.Findings), len(sc.Report.Findings))
	}
	for i, f := range s.Report.Findings {
		if !reflect.DeepEqual(f.What, sc.Report.Findings[i].What) || f.ID != sc.Report.Findings[i].ID {
			t.Errorf("finding %s differs", f.ID)
		}
	}
	if s.Meta.Title != sc.Report.Findings[0].Title && s.Meta.Title == "" {
		t.Errorf("title %q", s.Meta.Title)
	}
}
