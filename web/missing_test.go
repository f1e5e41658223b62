package web_test

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"stallmark/storage/model"
	"stallmark/web"
	"stallmark/web/gallery"
)

// forgetful is a backend whose older history answers or does not.
type forgetful struct {
	*gallery.Backend
	lacks bool
}

func (f *forgetful) FindingsIn(ctx context.Context, from, to time.Time) ([]model.Finding, error) {
	if f.lacks {
		web.Missing(ctx)
	}
	return f.Backend.FindingsIn(ctx, from, to)
}

func (f *forgetful) Finding(context.Context, string) (model.Finding, bool, error) {
	if f.lacks {
		return model.Finding{}, false, fmt.Errorf("%w: really", web.ErrMissing)
	}
	return model.Finding{}, false, nil
}

// TestMissingHistoryIsSaid asks while older history does not answer, and after.
func TestMissingHistoryIsSaid(t *testing.T) {
	b := &forgetful{gallery.New(scene(t, "calm")), true}
	h, err := web.New(web.Config{Backend: b, Host: "broker-07", Now: b.Now})
	if err != nil {
		t.Fatal(err)
	}
	s := site{Handler: h, Backend: b.Backend}
	const note, header = "Older history does not answer", "Stallmark-History-Missing"
	for _, lacks := range []bool{true, false} {
		b.lacks = lacks
		for _, path := range []string{"/findings?range=6h", "/?range=24h"} {
			if lacks {
				path += "&tz=local" // pages are shared for a second
			}
			w := s.get(t, path)
			if w.Code != http.StatusOK || strings.Contains(w.Body.String(), note) != lacks {
				t.Errorf("%s: status %d, history missing %v, the page says otherwise", path, w.Code, lacks)
			}
		}
		w := s.get(t, "/api/v1/report")
		if w.Code != http.StatusOK || (w.Header().Get(header) != "") != lacks {
			t.Errorf("JSON: status %d, history missing %v, header %q", w.Code, lacks, w.Header().Get(header))
		}
		w = s.get(t, "/findings/NOPE")
		if w.Code != http.StatusNotFound || strings.Contains(w.Body.String(), "not in memory") != lacks {
			t.Errorf("an unknown finding: status %d, history missing %v", w.Code, lacks)
		}
	}
	web.Missing(context.Background()) // nobody to tell
}
