package web

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"strings"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"

	"stallmark/assets"
	"stallmark/storage/snapshot"
	"stallmark/web/view"
)

// maxSheets bounds the pages of an exported file.
const maxSheets = 40

// sheet is a page of the exported file.
type sheet struct {
	path, title string
	body        []*html.Node // what is in its <main>
}

// ExportHTML writes a snapshot as one file that opens without a network: the
// overview, every incident and every finding, the report as JSON, and the
// archive itself. There is no script in it; its style is its own.
func ExportHTML(ctx context.Context, w io.Writer, s *snapshot.Snapshot, archive []byte) error {
	const base = "/x"
	h, err := ShowSnapshot(s, Sight{Base: base})
	if err != nil {
		return err
	}
	sheets, err := sheetsOf(ctx, h, base, s)
	if err != nil {
		return err
	}
	places := map[string]string{} // path to id
	for i, one := range sheets {
		places[one.path] = "sheet-" + strconv.Itoa(i+1)
	}
	style, err := assets.FS.ReadFile("stallmark.css")
	if err != nil {
		return err
	}
	report, err := json.Marshal(s.Report) // escapes <, > and &
	if err != nil {
		return err
	}
	page := view.Export{
		Style: string(style), Report: string(report), Archive: base64.StdEncoding.EncodeToString(archive),
		Created: s.Meta.Created, Redacted: s.Meta.Redacted, Version: s.Meta.Version, Host: s.Meta.Host,
	}
	for i, one := range sheets {
		var b bytes.Buffer
		settle(one.body, "s"+strconv.Itoa(i+1)+"-", base, places)
		for _, n := range one.body {
			if err := html.Render(&b, n); err != nil {
				return err
			}
		}
		page.Sheets = append(page.Sheets, view.Sheet{ID: places[one.path], Title: one.title, Body: b.String()})
	}
	return view.ExportPage(page).Render(ctx, w)
}

// sheetsOf renders the pages through the same handler as a link does.
func sheetsOf(ctx context.Context, h http.Handler, base string, s *snapshot.Snapshot) ([]sheet, error) {
	list := []sheet{{path: base, title: "Overview"}}
	for _, in := range s.Report.Incidents {
		list = append(list, sheet{path: base + "/incidents/" + url.PathEscape(in.Root), title: "Incident"})
	}
	for _, f := range s.Report.Findings {
		list = append(list, sheet{path: base + "/findings/" + url.PathEscape(f.ID), title: f.Title})
	}
	if len(list) > maxSheets {
		list = list[:maxSheets]
	}
	for i := range list {
		u, err := url.Parse(list[i].path)
		if err != nil {
			return nil, err
		}
		r := (&http.Request{Method: http.MethodGet, URL: u, Header: http.Header{}}).WithContext(ctx)
		page := &rendered{header: http.Header{}, status: http.StatusOK}
		h.ServeHTTP(page, r)
		if page.status != http.StatusOK {
			return nil, fmt.Errorf("page %s: status %d", list[i].path, page.status)
		}
		doc, err := html.Parse(&page.body)
		if err != nil {
			return nil, err
		}
		if list[i].body = mainOf(doc); list[i].body == nil {
			return nil, fmt.Errorf("page %s: no <main>", list[i].path)
		}
	}
	return list, nil
}

// rendered takes a page in memory.
type rendered struct {
	header http.Header
	status int
	body   bytes.Buffer
}

// Header implements http.ResponseWriter.
func (p *rendered) Header() http.Header { return p.header }

// WriteHeader implements http.ResponseWriter.
func (p *rendered) WriteHeader(status int) { p.status = status }

// Write implements http.ResponseWriter.
func (p *rendered) Write(b []byte) (int, error) { return p.body.Write(b) }

// mainOf takes what is in the <main> of a document.
func mainOf(doc *html.Node) []*html.Node {
	for n := range doc.Descendants() {
		if n.DataAtom != atom.Main {
			continue
		}
		var out []*html.Node
		for c := n.FirstChild; c != nil; c = n.FirstChild {
			n.RemoveChild(c)
			out = append(out, c)
		}
		return out
	}
	return nil
}

// settle makes the ids of a page its own, points its links to the sheets of the
// file, and takes the links and buttons out that have nothing to lead to.
func settle(nodes []*html.Node, prefix, base string, places map[string]string) {
	for _, top := range nodes {
		settleOne(top, prefix, base, places)
		for n := range top.Descendants() {
			settleOne(n, prefix, base, places)
		}
	}
}

func settleOne(n *html.Node, prefix, base string, places map[string]string) {
	if n.Type != html.ElementNode {
		return
	}
	var kept []html.Attribute
	for _, a := range n.Attr {
		switch a.Key {
		case "id", "for", "aria-labelledby", "aria-describedby", "aria-controls":
			a.Val = prefix + strings.ReplaceAll(a.Val, " ", " "+prefix)
		case "href":
			if a.Val = place(a.Val, prefix, base, places); a.Val == "" {
				n.Data, n.DataAtom = "span", atom.Span
				continue
			}
		default:
			if strings.Contains(a.Val, "url(#") {
				a.Val = strings.ReplaceAll(a.Val, "url(#", "url(#"+prefix)
			}
		}
		kept = append(kept, a)
	}
	n.Attr = kept
}

// place is where a link leads in the file, empty for nowhere.
func place(href, prefix, base string, places map[string]string) string {
	if rest, ok := strings.CutPrefix(href, "#"); ok {
		return "#" + prefix + rest
	}
	if !strings.HasPrefix(href, base) {
		if strings.HasPrefix(href, "https://") {
			return href // a reference
		}
		return ""
	}
	path, _, _ := strings.Cut(href, "?")
	path, _, _ = strings.Cut(path, "#")
	if id, ok := places[path]; ok {
		return "#" + id
	}
	return ""
}

// ExportOf writes a snapshot of a folder as one file.
func ExportOf(ctx context.Context, w io.Writer, f *snapshot.Folder, id string) error {
	got, err := f.Get(id)
	if err != nil {
		return err
	}
	raw, err := f.Raw(id)
	if err != nil {
		return err
	}
	defer raw.Close()
	archive, err := io.ReadAll(raw)
	if err != nil {
		return err
	}
	return ExportHTML(ctx, w, got, archive)
}
