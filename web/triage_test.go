package web_test

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"mime/multipart"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"stallmark/storage/model"
	"stallmark/storage/snapshot"
	"stallmark/web"
)

// giveTexts posts texts by name to the triage page.
func (s *sharingSite) giveTexts(t *testing.T, texts map[string]io.Reader) *httptest.ResponseRecorder {
	t.Helper()
	var body bytes.Buffer
	m := multipart.NewWriter(&body)
	for name, text := range texts {
		var part io.Writer
		var err error
		if name == "" {
			part, err = m.CreateFormField("text")
		} else {
			part, err = m.CreateFormFile("files", name)
		}
		if err != nil {
			t.Fatal(err)
		}
		if _, err := io.Copy(part, text); err != nil {
			t.Fatal(err)
		}
	}
	if err := m.Close(); err != nil {
		t.Fatal(err)
	}
	s.later += time.Minute
	r := httptest.NewRequest(http.MethodPost, "/triage", &body)
	r.Host = "127.0.0.1:8411"
	r.Header.Set("Content-Type", m.FormDataContentType())
	w := httptest.NewRecorder()
	s.ServeHTTP(w, r)
	return w
}

func TestTriagePage(t *testing.T) {
	var got []web.Upload
	s := sharingOf(t, func(c *web.Config) {
		c.Triage = func(_ context.Context, uploads []web.Upload) (*snapshot.Snapshot, error) {
			got = uploads
			if strings.Contains(string(uploads[0].Data), "prose") {
				return nil, fmt.Errorf("%w: want vmstat", web.ErrNothingKnown)
			}
			one := frozenScene(t, "possible")
			one.Report.Excerpts = []model.Excerpt{{File: "<b>x", From: 1, To: 3, Format: "vmstat", Says: []string{"40 rows"}}, {Notes: []string{"no times"}}}
			one.Report.Decide = []string{"stallmark record -o x"}
			return one, nil
		}
	})
	if w := s.get(t, "/triage"); w.Code != http.StatusOK || !strings.Contains(w.Body.String(), `enctype="multipart/form-data"`) {
		t.Fatalf("status %d", w.Code)
	}
	w := s.giveTexts(t, map[string]io.Reader{"": strings.NewReader("vmstat ..."), "../../store.log": strings.NewReader("line")})
	if w.Code != http.StatusSeeOther || len(got) != 2 {
		t.Fatalf("status %d, %d texts: %s", w.Code, len(got), w.Body)
	}
	for _, u := range got {
		if u.Name != "pasted text" && u.Name != "store.log" {
			t.Errorf("name %q", u.Name)
		}
	}
	path := w.Header().Get("Location")
	page := s.get(t, path).Body.String()
	for _, want := range []string{"From texts", "&lt;b&gt;x, lines 1 to 3", "40 rows", "no times", "stallmark record -o x"} {
		if !strings.Contains(page, want) {
			t.Errorf("%q is not on the page", want)
		}
	}
	s.later += 2 * time.Hour
	if w := s.get(t, path); w.Code != http.StatusNotFound {
		t.Errorf("after two hours: status %d", w.Code)
	}
	if w := s.giveTexts(t, map[string]io.Reader{"": strings.NewReader("prose")}); w.Code != http.StatusUnprocessableEntity || !strings.Contains(w.Body.String(), "Nothing in it is known") {
		t.Errorf("status %d: %s", w.Code, w.Body)
	}
	if w := s.giveTexts(t, map[string]io.Reader{"": strings.NewReader("")}); w.Code != http.StatusBadRequest {
		t.Errorf("nothing: status %d", w.Code)
	}
	if w := s.giveTexts(t, map[string]io.Reader{"x": io.LimitReader(zeros{}, 70<<20)}); w.Code != http.StatusRequestEntityTooLarge {
		t.Errorf("70 MiB: status %d", w.Code)
	}
}
