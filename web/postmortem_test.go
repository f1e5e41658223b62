package web_test

import (
	"net/http"
	"strings"
	"testing"
)

func TestPostmortem(t *testing.T) {
	s := show(t, scene(t, "stalling"))
	w := s.get(t, "/api/v1/incidents/f-append/postmortem")
	if w.Code != http.StatusOK || !strings.HasPrefix(w.Header().Get("Content-Type"), "text/markdown") {
		t.Fatalf("%d %s", w.Code, w.Body)
	}
	if got := w.Body.String(); !strings.HasPrefix(got, "# Post-mortem: ") || !strings.Contains(got, "dirty-throttling") {
		t.Errorf("%.800s", got)
	}
	if w := s.get(t, "/api/v1/incidents/none/postmortem"); w.Code != http.StatusNotFound {
		t.Errorf("an unknown id: %d", w.Code)
	}
}
