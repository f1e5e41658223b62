package web_test

import (
	"bytes"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"golang.org/x/net/html"

	"stallmark/web"
	"stallmark/web/gallery"
)

// site is a handler that shows a scene.
type site struct {
	http.Handler
	*gallery.Backend
	log *bytes.Buffer
}

func show(t *testing.T, s gallery.Scene) site {
	t.Helper()
	b := gallery.New(s)
	log := &bytes.Buffer{}
	h, err := web.New(web.Config{
		Backend: b, Host: "broker-07", Version: "v0", Now: b.Now, Audit: b.Audit, PageCache: b, Logs: b, Triage: b.Triage, AllowedHosts: []string{"broker-07.example"},
		Logger: slog.New(slog.NewTextHandler(log, &slog.HandlerOptions{Level: slog.LevelWarn})),
	})
	if err != nil {
		t.Fatal(err)
	}
	return site{gallery.Given(h), b, log}
}

func scene(t *testing.T, name string) gallery.Scene {
	t.Helper()
	s, ok := gallery.Find(name)
	if !ok {
		t.Fatalf("no scene %q", name)
	}
	return s
}

// get asks for a path as a browser on this machine does.
func (s site) get(t *testing.T, path string, header ...string) *httptest.ResponseRecorder {
	t.Helper()
	r := httptest.NewRequest(http.MethodGet, path, nil)
	r.Host = "127.0.0.1:8411"
	for i := 0; i+1 < len(header); i += 2 {
		r.Header.Set(header[i], header[i+1])
	}
	w := httptest.NewRecorder()
	s.ServeHTTP(w, r)
	return w
}

// page parses a page and checks what all pages must keep to.
func (s site) page(t *testing.T, path string) *html.Node {
	t.Helper()
	w := s.get(t, path)
	if w.Code != http.StatusOK {
		t.Fatalf("%s: status %d: %s", path, w.Code, w.Body)
	}
	doc, err := html.Parse(w.Body)
	if err != nil {
		t.Fatal(err)
	}
	checkPolicy(t, path, doc)
	if s.log.Len() > 0 {
		t.Errorf("%s: logged: %s", path, s.log)
		s.log.Reset()
	}
	return doc
}

// checkPolicy holds a document to the content security policy and to unique
// ids, which scripts and labels rely on.
func checkPolicy(t *testing.T, path string, doc *html.Node) {
	t.Helper()
	seen := map[string]bool{}
	for n := range doc.Descendants() {
		if n.Type != html.ElementNode {
			continue
		}
		switch {
		case n.Data == "script" && attr(n, "src") == "":
			t.Errorf("%s: an inline script", path)
		case n.Data == "style", n.Data == "iframe", n.Data == "object", n.Data == "form" && attr(n, "method") != "get":
			t.Errorf("%s: a %s element", path, n.Data)
		case n.Data == "img":
			t.Errorf("%s: an image, %v", path, n.Attr)
		}
		for _, a := range n.Attr {
			if a.Key == "style" || strings.HasPrefix(a.Key, "on") {
				t.Errorf("%s: attribute %s on %s", path, a.Key, n.Data)
			}
			if (a.Key == "href" || a.Key == "src") && strings.HasPrefix(strings.TrimSpace(strings.ToLower(a.Val)), "javascript:") {
				t.Errorf("%s: %s=%q", path, a.Key, a.Val)
			}
			if a.Key == "id" && a.Val != "" {
				if seen[a.Val] {
					t.Errorf("%s: id %q twice", path, a.Val)
				}
				seen[a.Val] = true
			}
		}
	}
}

func attr(n *html.Node, key string) string {
	for _, a := range n.Attr {
		if a.Key == key {
			return a.Val
		}
	}
	return ""
}

func hasClass(n *html.Node, class string) bool {
	for _, c := range strings.Fields(attr(n, "class")) {
		if c == class {
			return true
		}
	}
	return false
}

// find returns the elements with a class.
func find(doc *html.Node, class string) []*html.Node {
	var out []*html.Node
	for n := range doc.Descendants() {
		if n.Type == html.ElementNode && hasClass(n, class) {
			out = append(out, n)
		}
	}
	return out
}

// text is what a reader sees in the elements with a class, without icons.
func text(nodes ...*html.Node) string {
	var b strings.Builder
	for _, top := range nodes {
		for n := range top.Descendants() {
			if n.Type == html.TextNode {
				b.WriteString(n.Data + " ")
			}
		}
	}
	return strings.Join(strings.Fields(b.String()), " ")
}
