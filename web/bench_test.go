package web_test

import (
	"net/http"
	"net/http/httptest"
	"testing"

	"stallmark/web"
	"stallmark/web/gallery"
)

// BenchmarkOverview is one look at the first page of a stall, 15 minutes of
// one-second samples. Its bytes are those of a live refresh.
func BenchmarkOverview(b *testing.B) {
	backend := gallery.New(gallery.Stalling())
	h, err := web.New(web.Config{Backend: backend, Now: backend.Now})
	if err != nil {
		b.Fatal(err)
	}
	n := 0
	for b.Loop() {
		r := httptest.NewRequest(http.MethodGet, "/", nil)
		r.Host = "localhost"
		r.Header.Set("Stallmark-Fragment", "1")
		w := httptest.NewRecorder()
		h.ServeHTTP(w, r)
		n = w.Body.Len()
	}
	b.ReportMetric(float64(n), "bytes/page")
}
