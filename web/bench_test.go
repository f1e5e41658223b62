package web_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"stallmark/web"
	"stallmark/web/gallery"
)

// BenchmarkOverview is the first page of a stall, 15 minutes of one-second
// samples: the first look at it, and a live refresh two seconds later.
func BenchmarkOverview(b *testing.B) {
	backend := gallery.New(gallery.Stalling())
	now := backend.Now()
	h, err := web.New(web.Config{Backend: backend, Now: func() time.Time { return now }})
	if err != nil {
		b.Fatal(err)
	}
	look := func(b *testing.B, query string) {
		r := httptest.NewRequest(http.MethodGet, "/"+query, nil)
		r.Host = "localhost"
		r.Header.Set("Stallmark-Fragment", "1")
		w := httptest.NewRecorder()
		h.ServeHTTP(w, r)
		if w.Code != http.StatusOK {
			b.Fatal(w.Body)
		}
		b.ReportMetric(float64(w.Body.Len()), "bytes/page")
	}
	b.Run("first", func(b *testing.B) {
		query := fmt.Sprintf("?from=%d&to=%d", now.Add(-15*time.Minute).UnixMilli(), now.UnixMilli())
		for b.Loop() {
			look(b, query)
		}
	})
	b.Run("refresh", func(b *testing.B) {
		end, i := now, 0
		for b.Loop() {
			now = end.Add(time.Duration(i%30-30) * 2 * time.Second)
			i++
			look(b, "")
		}
	})
}
