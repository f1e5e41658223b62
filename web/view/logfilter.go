package view

import (
	"net/url"
	"strconv"
	"strings"

	"stallmark/storage/model"
	"stallmark/web/format"
)

// LogFilter says which lines are shown. An empty field lets all pass.
type LogFilter struct {
	Pattern, Product, Source, Process, Proof string
	Text                                     string // that the line or one around it holds, in any case
	Page                                     int    // from 1
}

// Passes reports whether an event is wanted.
func (f LogFilter) Passes(e model.Event) bool {
	for _, one := range f.fields() {
		if one.key != "q" && one.value != "" && e.Attrs[one.key] != one.value && format.Clean(e.Attrs[one.key]) != one.value {
			return false
		}
	}
	if f.Text == "" {
		return true
	}
	want := strings.ToLower(f.Text)
	for _, text := range []string{e.Text, e.Attrs["before"], e.Attrs["after"]} {
		if strings.Contains(strings.ToLower(text), want) {
			return true
		}
	}
	return false
}

// clean is the filter as it is shown; it lets the same lines pass.
func (f LogFilter) clean() LogFilter {
	for _, field := range []*string{&f.Pattern, &f.Product, &f.Source, &f.Process, &f.Proof} {
		*field = format.Clean(*field)
	}
	return f
}

type filterField struct{ key, value string }

func (f LogFilter) fields() []filterField {
	return []filterField{
		{"pattern", f.Pattern}, {"product", f.Product}, {"source", f.Source}, {"process", f.Process}, {"proof", f.Proof}, {"q", f.Text},
	}
}

// Any reports whether anything is filtered.
func (f LogFilter) Any() bool { f.Page = 0; return f != LogFilter{} }

// query is the filter as part of a URL's query.
func (f LogFilter) query() string {
	q := url.Values{}
	for _, one := range f.fields() {
		if one.value != "" {
			q.Set(one.key, one.value)
		}
	}
	if f.Page > 1 {
		q.Set("page", strconv.Itoa(f.Page))
	}
	return q.Encode()
}

// Link is the path of the log page with this filter, in a window.
func (f LogFilter) Link(w Window) string {
	w.Keep = ""
	return joinQuery(w.Link("logs"), f.query())
}

// Keep is what the links through time keep of the filter: not the page.
func (f LogFilter) Keep() string { f.Page = 0; return f.query() }

// joinQuery adds to a path that may have a query.
func joinQuery(path, query string) string {
	switch {
	case query == "":
		return path
	case strings.Contains(path, "?"):
		return path + "&" + query
	}
	return path + "?" + query
}
