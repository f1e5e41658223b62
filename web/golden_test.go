package web_test

import (
	"bytes"
	"flag"
	"fmt"
	"hash/crc32"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"golang.org/x/net/html"

	"stallmark/web/gallery"
)

var update = flag.Bool("update", false, "write the golden files anew")

// TestGolden holds the markup of every scene's pages to what somebody has looked
// at. go test ./web -run Golden -update writes the files; the difference is to
// be read, and the pages looked at (STALLMARK_SHOTS in package browsertest).
func TestGolden(t *testing.T) {
	for _, name := range gallery.Names() {
		s, _ := gallery.Find(name)
		site := show(t, s)
		for _, path := range gallery.Paths(name) {
			file := filepath.Join("testdata", "golden", name+strings.ReplaceAll(path, "/", "_")+".txt")
			t.Run(filepath.Base(file), func(t *testing.T) {
				doc, err := html.Parse(site.get(t, path).Body)
				if err != nil {
					t.Fatal(err)
				}
				if name != "stalling" || path != "/" { // the frame once
					doc = mainOf(doc)
				}
				golden(t, file, outline(doc))
			})
		}
	}
	if left := unwanted(t); len(left) > 0 && !*update {
		t.Errorf("golden files of no scene: %s", left)
	}
}

func mainOf(doc *html.Node) *html.Node {
	for n := range doc.Descendants() {
		if n.Data == "main" {
			return n
		}
	}
	return doc
}

// golden compares with a file, or writes it.
func golden(t *testing.T, file string, got []byte) {
	t.Helper()
	if *update {
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, got, 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatalf("%v; go test ./web -run Golden -update writes it", err)
	}
	if bytes.Equal(got, want) {
		return
	}
	g, w := strings.Split(string(got), "\n"), strings.Split(string(want), "\n")
	for i := range g {
		if i >= len(w) || g[i] != w[i] {
			t.Fatalf("%s:%d: got\n%s\nwant\n%s", file, i+1, g[i], strings.Join(w[min(i, len(w)):min(i+1, len(w))], "\n"))
		}
	}
	t.Fatalf("%s: the page ends after line %d", file, len(g))
}

// unwanted are the golden files that no scene has.
func unwanted(t *testing.T) []string {
	t.Helper()
	wanted := map[string]bool{}
	for _, name := range gallery.Names() {
		for _, path := range gallery.Paths(name) {
			wanted[name+strings.ReplaceAll(path, "/", "_")+".txt"] = true
		}
	}
	var left []string
	files, err := filepath.Glob(filepath.Join("testdata", "golden", "*.txt"))
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range files {
		if !wanted[filepath.Base(f)] && !strings.HasPrefix(filepath.Base(f), "shares_") {
			left = append(left, f)
		}
	}
	return left
}

// outline writes a document an element a line, indented: its name, attributes
// and text. Of drawings it keeps classes and text, and counts what repeats.
func outline(doc *html.Node) []byte {
	var b bytes.Buffer
	outlineNode(&b, doc, 0, false)
	return b.Bytes()
}

func outlineNode(b *bytes.Buffer, n *html.Node, depth int, drawing bool) {
	last, times := "", 0
	flush := func() {
		if times > 1 {
			fmt.Fprintf(b, "%s(%d times)\n", strings.Repeat(" ", depth+1), times)
		}
		last, times = "", 0
	}
	for c := n.FirstChild; c != nil; c = c.NextSibling {
		switch c.Type {
		case html.TextNode:
			if text := strings.Join(strings.Fields(c.Data), " "); text != "" {
				flush()
				fmt.Fprintf(b, "%s%q\n", strings.Repeat(" ", depth), short(text))
			}
		case html.ElementNode:
			line := head(c, drawing)
			if drawing && line == last && c.FirstChild == nil {
				times++
				continue
			}
			flush()
			fmt.Fprintf(b, "%s%s\n", strings.Repeat(" ", depth), line)
			last, times = line, 1
			outlineNode(b, c, depth+1, drawing || c.Data == "svg")
		}
	}
	flush()
}

// head is an element's name with its attributes.
func head(n *html.Node, drawing bool) string {
	text := n.Data
	for _, a := range n.Attr {
		switch {
		case a.Key == "class":
			text += "." + strings.Join(strings.Fields(a.Val), ".")
		case !drawing && n.Data != "svg" && a.Val == "":
			text += " " + a.Key
		case !drawing && n.Data != "svg":
			text += " " + a.Key + "=" + short(kept.ReplaceAllString(hashed.ReplaceAllString(a.Val, "$1.HASH.$2"), "/triage/ID"))
		}
	}
	return text
}

// hashed is the path of an asset.
var hashed = regexp.MustCompile(`(/assets/[a-z]+)\.[0-9a-f]+\.([a-z]+)`)

// kept is the path of a verdict about texts.
var kept = regexp.MustCompile(`/triage/[0-9a-f]{32}`)

// short cuts a long text and adds a sum of the rest.
func short(text string) string {
	const room = 160
	if len(text) <= room {
		return text
	}
	return strings.ToValidUTF8(text[:room], "") + fmt.Sprintf("… (%d bytes, %08x)", len(text), crc32.ChecksumIEEE([]byte(text)))
}
