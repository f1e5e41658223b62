package web_test

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"stallmark/web"
	"stallmark/web/gallery"
)

func TestPageCachePage(t *testing.T) {
	doc := show(t, scene(t, "page-cache")).page(t, "/pagecache")
	got := text(doc)
	for _, want := range []string{
		"rocketmq-broker (pid 4242)", "/data/rocketmq/store · 6.09 GiB of 38.2 GiB in memory, 65 files",
		"commitlog 16 % · 38 segments", "830 MiB came in, 355 MiB left since the look before",
		"00000000011811160064 old 100 % of 1 GiB · 320 MiB came in", "96 MiB evicted lately · 71 MiB left",
		"Linux 6.5", "322.4 MiB of 2 old files",
	} {
		if !strings.Contains(got, want) {
			t.Errorf("the page does not say %q", want)
		}
	}
	for _, c := range find(doc, "chart") {
		if len(find(c, "line")) == 0 {
			t.Errorf("nothing is drawn in %s", text(c))
		}
	}
}

func TestPageCacheSaysWhyNot(t *testing.T) {
	got := text(show(t, scene(t, "page-cache-denied")).page(t, "/pagecache"))
	for _, want := range []string{"denied : the data files of rocketmq-broker may not be opened", "run with CAP_DAC_READ_SEARCH"} {
		if !strings.Contains(got, want) {
			t.Errorf("the page does not say %q: %s", want, got)
		}
	}
}

// TestPageCacheOfManySegments bounds the page and leaves nothing out of the JSON.
func TestPageCacheOfManySegments(t *testing.T) {
	s := show(t, scene(t, "page-cache-many"))
	if n := s.get(t, "/pagecache").Body.Len(); n > 150_000 {
		t.Errorf("the page of 2,000 segments is %d bytes", n)
	}
	var data struct {
		Coverage struct{ State string }
		Files    []struct {
			Path    string
			Parts   string
			Dirty   *int64 `json:"dirty_bytes"`
			Filled  *int64 `json:"filled_bytes"`
			Evicted *int64 `json:"evicted_bytes"`
		}
	}
	if err := json.Unmarshal(s.get(t, "/api/v1/pagecache").Body.Bytes(), &data); err != nil {
		t.Fatal(err)
	}
	if len(data.Files) != 2000 || data.Coverage.State != "partial" {
		t.Errorf("%d files, coverage %q", len(data.Files), data.Coverage.State)
	}
	if f := data.Files[9]; f.Parts != "1*45,0*19" || f.Dirty != nil || f.Evicted != nil || f.Filled == nil {
		t.Errorf("a file is %+v", f)
	}
}

func TestNobodyLooksAtThePageCache(t *testing.T) {
	b := gallery.New(gallery.Calm())
	h, err := web.New(web.Config{Backend: b, Now: b.Now})
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{"/pagecache", "/api/v1/pagecache"} {
		r := httptest.NewRequest(http.MethodGet, path, nil)
		r.Host = "localhost"
		w := httptest.NewRecorder()
		h.ServeHTTP(w, r)
		if w.Code != http.StatusNotFound || !strings.Contains(w.Body.String(), "does not look at the page cache") {
			t.Errorf("%s: %d %s", path, w.Code, w.Body)
		}
	}
}
