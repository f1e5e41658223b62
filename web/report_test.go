package web_test

import (
	"context"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"stallmark/storage/model"
	"stallmark/web"
	"stallmark/web/gallery"
)

// counting counts the reports that a backend makes.
type counting struct {
	*gallery.Backend
	reports int
}

func (c *counting) Report(ctx context.Context, from, to time.Time, found []model.Finding) (model.Report, error) {
	c.reports++
	return c.Backend.Report(ctx, from, to, found)
}

// TestLiveVerdicts shows findings at once and measures what they rule out only
// now and then.
func TestLiveVerdicts(t *testing.T) {
	b := &counting{Backend: gallery.New(gallery.Calm())}
	now := b.Now()
	h, err := web.New(web.Config{Backend: b, Now: func() time.Time { return now }})
	if err != nil {
		t.Fatal(err)
	}
	ask := func(path string) string {
		r := httptest.NewRequest(http.MethodGet, path, nil)
		r.Host = "localhost"
		w := httptest.NewRecorder()
		h.ServeHTTP(w, r)
		return w.Body.String()
	}
	for range 4 {
		ask("/")
		now = now.Add(2 * time.Second)
	}
	if b.reports != 1 {
		t.Errorf("eight seconds took %d reports", b.reports)
	}
	b.Set(gallery.Stalling())
	if page := ask("/"); !strings.Contains(page, "Writers are paused at the dirty-page limit") || b.reports != 2 {
		t.Errorf("after %d reports the page does not show the stall", b.reports)
	}
	now = now.Add(2 * time.Second)
	if page := ask("/"); !strings.Contains(page, "Appends wait inside the kernel") || b.reports != 2 {
		t.Errorf("after %d reports the page does not show the chain", b.reports)
	}
	now = now.Add(10 * time.Second)
	ask("/")
	ask("/?range=1h")
	if b.reports != 4 {
		t.Errorf("%d reports, want one more after ten seconds and one for the other window", b.reports)
	}
	ask("/api/v1/report")
	ask("/api/v1/report")
	if b.reports != 6 {
		t.Errorf("%d reports: the JSON is exact", b.reports)
	}
}
