package web

import (
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strconv"
	"testing"
	"time"

	"stallmark/storage/model"
	"stallmark/storage/snapshot"
)

// shownOf are the pages over a folder with snapshots of so many values each.
func shownOf(t *testing.T, n, values int) (s *shown, ids []string, clock *time.Time) {
	t.Helper()
	at := time.Date(2026, 3, 1, 3, 0, 0, 0, time.UTC)
	clock = &at
	now := func() time.Time { return *clock }
	f, err := snapshot.OpenFolder(snapshot.Config{Dir: filepath.Join(t.TempDir(), "s"), Now: now})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { f.Close() })
	one := snapshot.Series{Labels: []model.Label{{Name: "__name__", Value: "x"}}}
	for i := range values {
		one.T, one.V = append(one.T, at.UnixMilli()+int64(i)), append(one.V, 1)
	}
	for i := range n {
		info, err := f.Put(&snapshot.Snapshot{
			Meta:  snapshot.Meta{Format: 1, Title: strconv.Itoa(i), From: at, To: at.Add(time.Hour), Interval: time.Second, Created: at},
			Lines: []snapshot.Line{{Expr: "x", Series: []snapshot.Series{one}}},
		})
		if err != nil {
			t.Fatal(err)
		}
		ids = append(ids, info.ID)
	}
	return &shown{folder: f, now: now}, ids, clock
}

func (s *shown) mustShow(t *testing.T, id, base string) http.Handler {
	t.Helper()
	h, err := s.handler(id, Sight{Base: base, ID: id})
	if err != nil {
		t.Fatal(err)
	}
	w := httptest.NewRecorder()
	h.ServeHTTP(w, httptest.NewRequest(http.MethodGet, base, nil))
	if w.Code != http.StatusOK {
		t.Fatalf("%s: status %d", base, w.Code)
	}
	return h
}

// TestShownIsReadOnce looks twice, then by another link.
func TestShownIsReadOnce(t *testing.T) {
	s, ids, clock := shownOf(t, 1, 100)
	first := s.mustShow(t, ids[0], "/s/a")
	if again := s.mustShow(t, ids[0], "/s/a"); again != first {
		t.Error("the pages of a link are made anew")
	}
	backend := s.all[0].backend
	s.mustShow(t, ids[0], "/s/b")
	if len(s.all) != 1 || s.all[0].backend != backend || len(s.all[0].sights) != 2 {
		t.Error("a second link reads the snapshot again")
	}
	for i := range 3 * maxSights {
		s.mustShow(t, ids[0], "/s/"+strconv.Itoa(i))
	}
	if n := len(s.all[0].sights); n > maxSights {
		t.Errorf("pages of %d links are kept", n)
	}
	*clock = clock.Add(2 * shownFor)
	if s.mustShow(t, ids[0], "/s/a"); s.all[0].backend != backend {
		t.Error("what is asked for is let go") // it is at hand; it need not be read
	}
}

// TestShownIsBounded looks at more than is kept, and at what was deleted.
func TestShownIsBounded(t *testing.T) {
	s, ids, clock := shownOf(t, 3, maxShown/16/2)
	for _, id := range ids {
		s.mustShow(t, id, "/s/a")
	}
	if s.bytes() > maxShown || len(s.all) != 1 || s.all[0].id != ids[2] {
		t.Errorf("%d are kept, of %d bytes", len(s.all), s.bytes())
	}
	if err := s.folder.Delete(ids[2]); err != nil {
		t.Fatal(err)
	}
	if _, err := s.handler(ids[2], Sight{Base: "/s/a"}); err == nil || len(s.all) != 0 {
		t.Errorf("a deleted one is shown: %v", err)
	}
	s.mustShow(t, ids[0], "/s/a")
	*clock = clock.Add(2 * shownFor)
	s.mustShow(t, ids[1], "/s/a")
	if len(s.all) != 1 {
		t.Error("what nobody looks at is kept")
	}
}
