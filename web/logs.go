package web

import (
	"net/http"
	"net/url"
	"strconv"
	"time"

	"github.com/a-h/templ"

	"stallmark/storage/model"
	"stallmark/web/format"
	"stallmark/web/view"
)

// Logs knows what is recognised in logs, and what is not.
type Logs interface {
	// Patterns are the known kinds of lines. Nobody changes what it returns.
	Patterns() []model.LogPattern
	// Unknown lists the kinds of warnings that no pattern knows, the most frequent
	// first, since the process began. It may be called at any time.
	Unknown() []UnknownLine
}

// UnknownLine is a kind of warning that no pattern knows.
type UnknownLine = view.UnknownLine

// Bounds of a filter that a visitor asks for.
const (
	maxFilter  = 600 // characters of a value
	maxLogPage = 100_000
)

// logsRefresh is how often a live list of lines is looked at again: what is read
// must not move too often.
const logsRefresh = 5 * time.Second

// logFilter reads the filter of a request.
func logFilter(q url.Values) (view.LogFilter, error) {
	f := view.LogFilter{
		Pattern: q.Get("pattern"), Product: q.Get("product"), Source: q.Get("source"), Process: q.Get("process"), Proof: q.Get("proof"),
		Text: q.Get("q"), Page: 1,
	}
	for _, name := range []string{"pattern", "product", "source", "process", "proof", "q"} {
		if len([]rune(q.Get(name))) > maxFilter+1 {
			return f, badRequest("%s is too long: want at most %d characters", name, maxFilter)
		}
	}
	if text := q.Get("page"); text != "" {
		n, err := strconv.Atoi(text)
		if err != nil || n < 1 || n > maxLogPage {
			return f, badRequest("page=%s: want a number from 1", format.Clean(text))
		}
		f.Page = n
	}
	return f, nil
}

// patterns are the known kinds of lines, of a snapshot those that it has lines
// of.
func (s *server) patterns() []model.LogPattern {
	if s.cfg.Logs == nil {
		return nil
	}
	return s.cfg.Logs.Patterns()
}

func (s *server) logs(r *http.Request, w view.Window) (templ.Component, error) {
	ctx := r.Context()
	f, err := logFilter(r.URL.Query())
	if err != nil {
		return nil, err
	}
	events, err := s.cfg.Backend.EventsIn(ctx, w.From, w.To, model.EventLog)
	if err != nil {
		return nil, err
	}
	coverage, err := s.cfg.Backend.CoverageAt(ctx, w.To)
	if err != nil {
		return nil, err
	}
	w.Keep = f.Keep()
	p := s.live(s.frame(r, w, "Logs"))
	p.Timed, p.Twin = true, "/api/v1/logs"+queryOf(r)
	if p.Refresh > 0 {
		p.Refresh = max(p.Refresh, logsRefresh)
	}
	page := view.NewLogs(p, f, events, s.patterns())
	for name, values := range r.URL.Query() {
		if name == "range" || name == "from" || name == "to" || name == "tz" {
			page.Hidden = append(page.Hidden, view.Pair{Name: name, Value: values[0]})
		}
	}
	page.SortHidden()
	page.SetUnknown(s.unknownLines(w, events))
	page.Sources = view.LogSources(coverage)
	return view.LogsPage(page), nil
}

// queryOf is a request's query as it came, with its question mark.
func queryOf(r *http.Request) string {
	if r.URL.RawQuery == "" {
		return ""
	}
	return "?" + r.URL.Query().Encode()
}

// unknownLines are the warnings that no pattern knows: of a live window all since
// the process began, of a fixed one those that became events.
func (s *server) unknownLines(w view.Window, events []model.Event) (all []UnknownLine, since string) {
	if w.Live && s.cfg.Logs != nil {
		return s.cfg.Logs.Unknown(), "since this program was started"
	}
	return view.UnknownIn(events), "in this window, the 20 most frequent of each minute"
}
