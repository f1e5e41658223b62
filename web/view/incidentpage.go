package view

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"stallmark/storage/model"
	"stallmark/web/chart"
	"stallmark/web/format"
)

// Incidents is the history of incidents of a window.
type Incidents struct {
	Page
	Entries []IncidentEntry // those that last first, then the newest
	More    []Brief         // in a line each
	Lanes   chart.Lanes
	All     string // path of the list of all findings
}

// IncidentEntry is an incident in the history.
type IncidentEntry struct {
	Kind  VerdictKind
	Brief Brief // of the root, over the time of the incident
	Chain Chain
	Count string // of findings
}

// incidentsDrawn is how many incidents of a history are drawn; the others take
// a line each.
const incidentsDrawn = 12

// NewIncidents lists the incidents of a report.
func NewIncidents(p Page, r model.Report, changes []Change) Incidents {
	page := Incidents{Page: p, All: p.Window.Link("findings")}
	all := incidents(r)
	slices.SortStableFunc(all, func(a, b model.Incident) int {
		return cmp.Or(cmp.Compare(openRank(a), openRank(b)), b.Started.Compare(a.Started))
	})
	for _, i := range all {
		found := findingsOf(i, r)
		if len(found) == 0 {
			continue
		}
		b := incidentBrief(i, found, p.Window)
		if len(page.Entries) == incidentsDrawn {
			page.More = append(page.More, b)
			continue
		}
		page.Entries = append(page.Entries, IncidentEntry{kindOf(found), b, chain(found, changes, p.Window), count(len(found), "finding", "findings")})
	}
	return page
}

func openRank(i model.Incident) int {
	if i.Ended == nil {
		return 0
	}
	return 1
}

// incidentBrief is an incident in one line: its root, over its whole time.
func incidentBrief(i model.Incident, all []model.Finding, w Window) Brief {
	b := briefOf(all[0], w)
	b.Started, b.Ended = i.Started, ended(i.Ended)
	b.Lasted = lasted(b.Started, b.Ended, w)
	b.Link = w.Link("incidents", i.Root)
	if i.Ended == nil && !b.Undated && b.Word == "Ended" {
		b.Word, b.Glyph = "Firing", GlyphWarning
	}
	if k := kindOf(all); k == Stalling || k == Stalled {
		b.Word = word(k)
	}
	return b
}

// Incident is the page of one incident.
type Incident struct {
	Page
	Kind     VerdictKind
	Brief    Brief
	Because  string
	Caveat   string
	Chain    Chain
	Moments  []Moment
	Unlisted int // further moments
	Advice   []Advice
	Root     string // path of the root's page
	RuledOut []Checked
	Unknown  []Checked
	Charts   []chart.Figure
	Changes  []Change
	When     string // path of the overview around it
	Logs     Excerpt

	Markdown string // the post-mortem
	File     string // its path
}

// NewIncident fills the page of the incident that a finding belongs to, without
// its charts and its post-mortem; false if the report has none.
func NewIncident(p Page, id string, r model.Report, events []model.Event, changes []Change) (Incident, bool) {
	i, all := IncidentOf(id, r)
	if len(all) == 0 {
		return Incident{}, false
	}
	w := p.Window
	page := Incident{
		Page: p, Kind: kindOf(all), Brief: incidentBrief(i, all, w), Because: because(all[0]), Caveat: format.Clean(all[0].Caveat),
		Chain: chain(all, changes, w), Advice: adviceOf(all[0].Remedy), Root: w.Link("findings", all[0].ID),
		RuledOut: ruledOut(r.RuledOut, w), Unknown: unknown(r.Unknown, w),
	}
	if len(all[0].RuledOut) > 0 && all[0].Ended != nil {
		page.RuledOut, page.Unknown = ruledOut(all[0].RuledOut, w), nil
	}
	to := w.To
	if i.Ended != nil {
		to = *i.Ended
	}
	page.When = w.Around(i.Started, to)
	page.Moments, page.Unlisted = moments(i, all, events, changes, w)
	return page, true
}

// IncidentOf is the incident of a report that a finding belongs to, and its
// findings, root first; none if it is in none.
func IncidentOf(id string, r model.Report) (model.Incident, []model.Finding) {
	for _, i := range incidents(r) {
		all := findingsOf(i, r)
		if slices.ContainsFunc(all, func(f model.Finding) bool { return f.ID == id }) {
			return i, all
		}
	}
	return model.Incident{}, nil
}

// Moment is something that happened in an incident.
type Moment struct {
	At    time.Time
	Glyph Glyph
	Text  string
	About string
	Link  string
}

// momentsShown bounds the time line.
const momentsShown = 40

// moments is the time line of an incident, oldest first.
func moments(i model.Incident, all []model.Finding, events []model.Event, changes []Change, w Window) (out []Moment, more int) {
	for _, c := range changes {
		if c.At.After(i.Started.Add(-causeBefore)) && (i.Ended == nil || c.At.Before(*i.Ended)) {
			out = append(out, Moment{At: c.At, Glyph: GlyphChange, Text: c.Text(), About: "changed"})
		}
	}
	for _, f := range all {
		b := briefOf(f, w)
		value, of := headline(f)
		if value != "" {
			value += " " + of
		}
		glyph := GlyphWarning
		if f.Severity == model.SeverityCritical {
			glyph = GlyphFiring
		}
		out = append(out, Moment{f.Started, glyph, b.Title + " began", value, b.Link})
		if f.Ended != nil {
			out = append(out, Moment{*f.Ended, GlyphPast, b.Title + " ended", "after " + b.Lasted, b.Link})
		}
	}
	out = append(out, eventMoments(i, events, w)...)
	slices.SortStableFunc(out, func(a, b Moment) int { return a.At.Compare(b.At) })
	n := min(len(out), momentsShown)
	return out[:n], len(out) - n
}

// eventMoments gathers events of one kind about one thing into a moment, at the
// first of them.
func eventMoments(i model.Incident, events []model.Event, w Window) []Moment {
	until := w.To
	if i.Ended != nil {
		until = *i.Ended
	}
	var out []Moment
	type group struct {
		place, n int
		last     time.Time
	}
	groups := map[string]*group{}
	var order []string
	for _, e := range events {
		if e.Kind == model.EventSetting || e.From.Before(i.Started.Add(-slackBefore)) || e.From.After(until) {
			continue
		}
		key := string(e.Kind) + "\x00" + cmp.Or(e.Attrs["wait"], e.Attrs["pattern"], e.Text)
		g := groups[key]
		if g == nil {
			g = &group{place: len(out)}
			groups[key] = g
			order = append(order, key)
			out = append(out, Moment{At: e.From, Glyph: GlyphAbsent, Text: format.Clean(e.Text), About: string(e.Kind)})
		}
		g.n += max(e.Count, 1)
		g.last = e.To
	}
	for _, key := range order {
		g := groups[key]
		if g.n > 1 {
			out[g.place].About += fmt.Sprintf(", %s in %s", count(g.n, "time", "times"), format.Span(g.last.Sub(out[g.place].At)))
		}
	}
	return out
}

// slackBefore is how long before an incident its events may begin.
const slackBefore = 10 * time.Second
