package view

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"stallmark/storage/model"
	"stallmark/web/chart"
	"stallmark/web/format"
)

// Chain is an incident on one time axis: a row a signature, the root first,
// each with an arrow from what accounts for it.
type Chain struct {
	Steps []Step
	Axis  chart.Lanes // its ticks and the changed settings; it has no tracks
}

// Step is one link of the chain cause, mechanism, symptom.
type Step struct {
	Layer  model.Layer
	Title  string
	Value  string // what was measured, against its threshold
	Of     string // what that value is
	Link   string
	Track  chart.Track
	Begun  time.Time
	Offset string // from the root's beginning, empty for the root
	Arrow  string // where it begins, percent; empty for the root
	Up     int    // how many rows above stands what accounts for it
	Here   bool   // the page is about this one
}

// chain lists the root and what follows from it, by layer, each signature once,
// over the time of the incident.
func chain(all []model.Finding, changes []Change, w Window) Chain {
	rows := chainRows(all)
	from, to := chainSpan(all, changes, w)
	c := Chain{Axis: chart.LayLanes(nil, chainMarks(changes, from, to), from, to)}
	for i, row := range rows {
		first := row[0]
		title := format.Clean(first.Title)
		if i == 0 { // the banner's heading is its title already
			title = format.Clean(first.Signature)
		}
		value, of := headline(first)
		layer := first.Layer
		if i > 0 && layer == model.LayerCause {
			layer = model.LayerMechanism // what a root explains is how it travels
		}
		lane := chart.Lane{Name: format.Clean(first.Signature), State: "fired"}
		for _, f := range row {
			lane.Bars = append(lane.Bars, barOf(f, w))
		}
		s := Step{
			Layer: layer, Title: title, Value: value, Of: of, Link: w.Link("findings", first.ID),
			Track: chart.LayTrack(lane, from, to), Begun: first.Started,
		}
		s.Track.Text = chainText(row, w)
		if i > 0 {
			s.Offset, s.Up = offsetText(first.Started.Sub(rows[0][0].Started)), i-explainer(rows, i)
			s.Arrow = chart.Place(first.Started, from, to)
		}
		c.Steps = append(c.Steps, s)
	}
	return c
}

// chainRows groups findings by signature, oldest first, in the order of the
// chain: the root, then what it travels by, then symptoms.
func chainRows(all []model.Finding) [][]model.Finding {
	order := []model.Layer{model.LayerCause, model.LayerMechanism, model.LayerSymptom}
	rest := slices.Clone(all[1:])
	slices.SortStableFunc(rest, func(a, b model.Finding) int {
		return cmp.Or(cmp.Compare(slices.Index(order, a.Layer), slices.Index(order, b.Layer)), a.Started.Compare(b.Started))
	})
	var rows [][]model.Finding
	place := map[string]int{}
	for _, f := range append([]model.Finding{all[0]}, rest...) {
		k, seen := place[f.Signature]
		if !seen {
			k = len(rows)
			place[f.Signature] = k
			rows = append(rows, nil)
		}
		rows[k] = append(rows[k], f)
	}
	return rows
}

// explainer is the nearest row above that names the signature of row i, the
// root's if none does.
func explainer(rows [][]model.Finding, i int) int {
	for k := i - 1; k > 0; k-- {
		if slices.ContainsFunc(rows[k], func(f model.Finding) bool { return slices.Contains(f.Explains, rows[i][0].Signature) }) {
			return k
		}
	}
	return 0
}

// chainSpan is the time of an incident with some room, and back to a changed
// setting shortly before it.
func chainSpan(all []model.Finding, changes []Change, w Window) (from, to time.Time) {
	from, to = all[0].Started, w.To
	last := time.Time{}
	open := false
	for _, f := range all {
		if f.Started.Before(from) {
			from = f.Started
		}
		if f.Ended == nil {
			open = true
		} else if f.Ended.After(last) {
			last = *f.Ended
		}
	}
	if !open {
		to = last
	}
	long := max(to.Sub(from), 10*time.Second)
	began := from
	for _, c := range changes {
		if lead := began.Sub(c.At); lead > 0 && lead <= causeBefore && lead <= 2*long && c.At.Before(from) {
			from = c.At
		}
	}
	from = from.Add(-max(long/12, time.Second))
	if !open {
		to = to.Add(max(long/12, time.Second))
	}
	return from, to
}

// chainMarks are the changed settings in a span of time.
func chainMarks(changes []Change, from, to time.Time) []chart.Mark {
	var out []chart.Mark
	for _, c := range changes {
		if !c.At.Before(from) && !c.At.After(to) {
			out = append(out, chart.Mark{At: c.At, Text: c.Text()})
		}
	}
	return out
}

func chainText(row []model.Finding, w Window) string {
	f := row[0]
	text := fmt.Sprintf("%s, from %s", format.Clean(f.Signature), format.Clock(f.Started))
	if end := row[len(row)-1].Ended; end != nil {
		text += " to " + format.Clock(*end)
	}
	text += ", " + lasted(f.Started, ended(row[len(row)-1].Ended), w)
	return text
}

// offsetText is how long after the root's beginning something began.
func offsetText(d time.Duration) string {
	switch {
	case d < 0:
		return "−" + format.Span(-d)
	case d == 0:
		return "at once"
	}
	return "+" + format.Span(d)
}

// headline is the measured value that says most: the first evidence that holds.
func headline(f model.Finding) (value, of string) {
	for _, e := range f.Evidence {
		if e.Value == nil || e.State != model.EvidenceHolds {
			continue
		}
		value = format.Value(*e.Value, e.Unit)
		if e.Threshold != nil && *e.Threshold != 0 {
			value += " (threshold " + format.Value(*e.Threshold, e.Unit) + ")"
		}
		return value, chart.ShortTitle(format.Clean(e.Title))
	}
	return "", ""
}

// because says what makes the confidence: the witness, or what is missing.
func because(f model.Finding) string {
	var measured, holding, against int
	for _, e := range f.Evidence {
		if e.Role == model.RoleWitness && e.State == model.EvidenceHolds && f.Confidence == model.Confirmed {
			return "Witness: " + format.Clean(firstLine(e.Detail, e.Title))
		}
		if e.Role == model.RoleConfirms && e.State != model.EvidenceUnmeasured {
			measured++
			if e.State == model.EvidenceHolds {
				holding++
			}
		}
		if e.Role == model.RoleContradicts && e.State == model.EvidenceHolds {
			against++
		}
	}
	hold := "hold"
	if measured == 1 {
		hold = "holds"
	}
	text := fmt.Sprintf("%d of %s %s, no direct witness seen", holding, count(measured, "measured confirmation", "measured confirmations"), hold)
	if measured == 0 {
		text = "the condition alone: no confirmation could be measured"
	}
	if against > 0 {
		text += ", " + count(against, "value speaks", "values speak") + " against it"
	}
	return text
}

func firstLine(texts ...string) string {
	for _, t := range texts {
		if line, _, _ := strings.Cut(strings.TrimSpace(t), "\n"); line != "" {
			return line
		}
	}
	return ""
}

// ChainOf is the chain of the incident that a finding belongs to; it has no
// steps if the finding stands alone.
func ChainOf(id string, r model.Report, changes []Change, w Window) Chain {
	for _, i := range r.Incidents {
		all := findingsOf(i, r)
		k := slices.IndexFunc(all, func(f model.Finding) bool { return f.ID == id })
		if len(all) < 2 || k < 0 {
			continue
		}
		c := chain(all, changes, w)
		for n, row := range chainRows(all) {
			c.Steps[n].Here = row[0].Signature == all[k].Signature
		}
		return c
	}
	return Chain{}
}
