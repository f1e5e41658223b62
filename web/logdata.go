package web

import (
	"net/http"
	"slices"
	"strconv"
	"strings"

	"stallmark/storage/model"
	"stallmark/web/format"
	"stallmark/web/view"
)

// maxLogData bounds the lines of one answer.
const maxLogData = 1000

// logsData is the log page in the JSON.
type logsData struct {
	Matched  int              `json:"matched"` // lines that pass, those included of which the text was not kept
	Kept     int              `json:"kept"`    // lines with their text
	Page     int              `json:"page"`
	Pages    int              `json:"pages"`
	Lines    []lineData       `json:"lines"` // the newest first
	Patterns []kindData       `json:"patterns"`
	Unknown  []UnknownLine    `json:"unknown"` // warnings that no pattern knows
	Logs     []model.Coverage `json:"logs"`
}

// lineData is a matched line in the JSON. Times are UTC.
type lineData struct {
	From        string            `json:"from"`
	To          string            `json:"to"`
	Uncertainty *int64            `json:"uncertainty_ms"` // null if it is not known
	Zone        string            `json:"zone,omitempty"`
	ZoneWhy     string            `json:"zone_why,omitempty"`
	TimeNote    string            `json:"time_note,omitempty"`
	Pattern     string            `json:"pattern"`
	Product     string            `json:"product"`
	Proof       string            `json:"proof"`
	Source      string            `json:"source"`
	Process     string            `json:"process,omitempty"`
	Count       int               `json:"count"` // lines that it stands for
	Text        string            `json:"text"`
	Before      []string          `json:"before"`
	After       []string          `json:"after"`
	Attrs       map[string]string `json:"attrs"` // the others: fields, offset, pid ...
}

// kindData is a pattern with what of it is in the window.
type kindData struct {
	ID      string `json:"id"`
	Title   string `json:"title"`
	Product string `json:"product"`
	Proof   string `json:"proof"`
	Meaning string `json:"meaning"`
	Not     string `json:"not"`
	Lines   int    `json:"lines"`
	First   string `json:"first"`
	Last    string `json:"last"`
}

func (s *server) logsJSON(r *http.Request, w view.Window) (any, error) {
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
	wanted := slices.DeleteFunc(slices.Clone(events), func(e model.Event) bool { return e.Attrs["pattern"] == "" || !f.Passes(e) })
	slices.SortStableFunc(wanted, func(a, b model.Event) int { return b.From.Compare(a.From) })
	d := logsData{
		Kept: len(wanted), Pages: max((len(wanted)+maxLogData-1)/maxLogData, 1), Lines: []lineData{}, Patterns: []kindData{},
		Logs: append([]model.Coverage{}, view.LogCoverage(coverage)...),
	}
	d.Page = min(f.Page, d.Pages)
	for _, e := range wanted {
		d.Matched += max(e.Count, 1)
	}
	first := min((d.Page-1)*maxLogData, len(wanted))
	for _, e := range wanted[first:min(first+maxLogData, len(wanted))] {
		d.Lines = append(d.Lines, lineJSON(e))
	}
	for _, k := range view.LogKindsOf(wanted, view.PatternsByID(s.patterns()), w) {
		d.Patterns = append(d.Patterns, kindData{
			ID: k.ID, Title: k.Title, Product: k.Product, Proof: k.Proof.Name, Meaning: k.Meaning, Not: k.Not,
			Lines: k.Lines, First: format.ISO(k.First), Last: format.ISO(k.Last),
		})
	}
	unknown, _ := s.unknownLines(w, events)
	d.Unknown = append([]UnknownLine{}, unknown...)
	return d, nil
}

func lineJSON(e model.Event) lineData {
	d := lineData{
		From: format.ISO(e.From), To: format.ISO(e.To), Count: max(e.Count, 1), Text: e.Text, Before: splitLines(e.Attrs["before"]), After: splitLines(e.Attrs["after"]),
		Attrs: map[string]string{},
	}
	own := map[string]*string{
		"zone": &d.Zone, "zone_why": &d.ZoneWhy, "time_note": &d.TimeNote, "pattern": &d.Pattern, "product": &d.Product, "proof": &d.Proof,
		"source": &d.Source, "process": &d.Process,
	}
	for name, value := range e.Attrs {
		switch into := own[name]; {
		case into != nil:
			*into = value
		case name == "uncertainty_ms":
			if ms, err := strconv.ParseInt(value, 10, 64); err == nil {
				d.Uncertainty = &ms
			}
		case name != "before" && name != "after":
			d.Attrs[name] = value
		}
	}
	return d
}

func splitLines(text string) []string {
	if text == "" {
		return []string{}
	}
	return strings.Split(text, "\n")
}
