package web_test

import (
	"bytes"
	"encoding/json"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"golang.org/x/net/html"

	"stallmark/storage/model"
	"stallmark/storage/snapshot"
	"stallmark/web"
)

// TestExportedFileStandsAlone exports scenes and holds the file to what it
// promises: no script, nothing from elsewhere, links that lead to something in
// it, and a copy that imports.
func TestExportedFileStandsAlone(t *testing.T) {
	for _, name := range []string{"stalling", "calm", "hostile", "two-incidents"} {
		t.Run(name, func(t *testing.T) {
			s := frozenScene(t, name)
			id, archive, err := s.Encode()
			if err != nil {
				t.Fatal(err)
			}
			var b bytes.Buffer
			if err := web.ExportHTML(t.Context(), &b, s, archive); err != nil {
				t.Fatal(err)
			}
			file := b.Bytes()
			checkFile(t, file)
			f, err := snapshot.OpenFolder(snapshot.Config{Dir: filepath.Join(t.TempDir(), "s"), Now: time.Now})
			if err != nil {
				t.Fatal(err)
			}
			defer f.Close()
			if info, err := f.Import(bytes.NewReader(file)); err != nil || info.ID != id {
				t.Errorf("imported as %s, want %s: %v", info.ID, id, err)
			}
		})
	}
}

// checkFile parses an exported file.
func checkFile(t *testing.T, file []byte) {
	t.Helper()
	doc, err := html.Parse(bytes.NewReader(file))
	if err != nil {
		t.Fatal(err)
	}
	ids := map[string]bool{}
	var links []string
	charts := 0
	for n := range doc.Descendants() {
		if n.Type != html.ElementNode {
			continue
		}
		switch n.Data {
		case "script":
			if kind := attr(n, "type"); kind != "application/json" && kind != "application/vnd.stallmark+zstd" || attr(n, "src") != "" {
				t.Errorf("a script of type %q", kind)
			}
			if attr(n, "id") == "stallmark-report" {
				var r model.Report
				if err := json.Unmarshal([]byte(n.FirstChild.Data), &r); err != nil {
					t.Errorf("the report in it: %v", err)
				}
			}
		case "link", "iframe", "form", "img", "object":
			t.Errorf("a %s element: %v", n.Data, n.Attr)
		case "svg":
			charts++
		}
		for _, a := range n.Attr {
			if strings.HasPrefix(a.Key, "on") || a.Key == "src" {
				t.Errorf("attribute %s on %s", a.Key, n.Data)
			}
			if a.Key == "id" {
				if ids[a.Val] {
					t.Errorf("id %q twice", a.Val)
				}
				ids[a.Val] = true
			}
			if a.Key == "href" {
				links = append(links, a.Val)
			}
		}
	}
	for _, l := range links {
		if id, ok := strings.CutPrefix(l, "#"); ok && !ids[id] {
			t.Errorf("a link to %s, which is not in it", l)
		} else if !ok && !strings.HasPrefix(l, "https://") {
			t.Errorf("a link to %s", l)
		}
	}
	if charts < 5 || !bytes.Contains(file, []byte("default-src &#39;none&#39;")) {
		t.Errorf("%d drawings, or no policy", charts)
	}
}
