package postmortem

import (
	"fmt"
	"slices"
	"time"

	"stallmark/storage/model"
)

// maxEvents is how many events the time line has at most, besides beginnings,
// ends and changed settings; the first are shown and the rest is counted.
const maxEvents = 100

// moment is a line of the time line.
type moment struct {
	at   time.Time
	text string
}

// timeline is what happened in the order in which it did.
func (d *document) timeline() {
	var all []moment
	for _, f := range d.all {
		all = append(all, moment{f.Started, fmt.Sprintf("**%s begins**: %s%s", f.Layer, text(f.Title), of(f))})
		if f.Ended != nil {
			all = append(all, moment{*f.Ended, fmt.Sprintf("%s ends: %s%s", f.Layer, text(f.Title), of(f))})
		}
	}
	for _, e := range d.in.Effects {
		all = append(all, moment{e.At, "setting changed: " + settings(e)})
	}
	events, more := d.events()
	all = append(all, events...)
	slices.SortStableFunc(all, func(a, b moment) int { return a.at.Compare(b.at) })
	d.section("Time line (UTC)")
	for _, m := range all {
		d.line("- %s %s", clock(m.at), m.text)
	}
	if more > 0 {
		d.line("- and %d more events", more)
	}
}

// events are those from a minute before the incident to its end.
func (d *document) events() (out []moment, more int) {
	from, to := d.in.Incident.Started.Add(-time.Minute), d.in.Now
	if d.in.Incident.Ended != nil {
		to = *d.in.Incident.Ended
	}
	for _, e := range d.in.Events {
		if e.Kind == model.EventSetting || e.Kind == model.EventBlocked || e.From.Before(from) || e.From.After(to) {
			continue
		}
		if len(out) == maxEvents {
			more++
			continue
		}
		what := text(e.Text)
		if e.Count > 1 {
			what += fmt.Sprintf(" (%d times)", e.Count)
		}
		out = append(out, moment{e.From, fmt.Sprintf("%s, %s: %s", text(string(e.Kind)), text(e.Source), what)})
	}
	return out, more
}
