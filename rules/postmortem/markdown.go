package postmortem

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"stallmark/rules"
	"stallmark/storage/model"
)

// Input is what a post-mortem is written from.
type Input struct {
	Host     string
	Version  string    // of Stallmark
	Now      time.Time // when it is written
	Incident model.Incident
	Findings []model.Finding  // of the incident at least; others are left out
	RuledOut []model.RuledOut // used if the root itself has none
	Unknown  []model.Unknown  // what could not be judged
	Effects  []rules.Effect   // changed settings and what came of them
	Events   []model.Event    // for the time line; changed settings are left out, [Input.Effects] has them
}

// document is a text on its way.
type document struct {
	strings.Builder
	in   Input
	root *model.Finding
	all  []model.Finding // of the incident: causes, mechanisms, symptoms, each in the order of their beginning
}

// Markdown writes the post-mortem of an incident. Times are UTC.
func Markdown(in Input) string {
	d := &document{in: in}
	for _, id := range in.Incident.Findings {
		i := slices.IndexFunc(in.Findings, func(f model.Finding) bool { return f.ID == id })
		if i >= 0 {
			d.all = append(d.all, in.Findings[i])
		}
	}
	slices.SortStableFunc(d.all, func(a, b model.Finding) int {
		return cmp.Or(cmp.Compare(layerRank(a.Layer), layerRank(b.Layer)), a.Started.Compare(b.Started))
	})
	for i := range d.all {
		if d.all[i].ID == in.Incident.Root {
			d.root = &d.all[i]
		}
	}
	d.head()
	d.story()
	d.timeline()
	d.evidence()
	d.checked()
	d.actions()
	d.advice()
	d.line("---")
	d.line("")
	d.line("Written by Stallmark %s at %s UTC from what it measured. Impact, detection and follow-up are for people to add.",
		text(in.Version), stamp(in.Now))
	return d.String()
}

func (d *document) line(format string, args ...any) {
	fmt.Fprintf(d, format, args...)
	d.WriteByte('\n')
}

func (d *document) section(title string) { d.line("\n## %s\n", title) }

func layerRank(l model.Layer) int {
	return slices.Index([]model.Layer{model.LayerCause, model.LayerMechanism, model.LayerSymptom}, l)
}

func stamp(t time.Time) string { return t.UTC().Format(time.DateTime) }

func clock(t time.Time) string { return t.UTC().Format("15:04:05") }

// subject is a finding's labels in words.
func subject(labels map[string]string) string {
	var parts []string
	for _, name := range slices.Sorted(maps.Keys(labels)) {
		parts = append(parts, text(name)+" "+text(labels[name]))
	}
	return strings.Join(parts, ", ")
}

// of adds a subject in parentheses, if there is one.
func of(f model.Finding) string {
	if s := subject(f.Subject); s != "" {
		return " (" + s + ")"
	}
	return ""
}

// head is the title and the facts.
func (d *document) head() {
	in := d.in.Incident
	title := "Incident"
	if d.root != nil {
		title = text(d.root.Title)
	}
	d.line("# Post-mortem: %s\n", title)
	d.line("| | |\n|---|---|")
	d.line("| Host | %s |", text(cmp.Or(d.in.Host, "unknown")))
	d.line("| Began | %s UTC |", stamp(in.Started))
	if in.Ended != nil {
		d.line("| Ended | %s UTC, after %s |", stamp(*in.Ended), in.Ended.Sub(in.Started).Round(time.Second))
	} else {
		d.line("| Ended | not yet: it goes on since %s |", d.in.Now.Sub(in.Started).Round(time.Second))
	}
	if d.root == nil {
		return
	}
	d.line("| Root | `%s` (%s, %s)%s |", strings.Trim(plain(d.root.Signature), "`"), d.root.Layer, d.root.Severity, of(*d.root))
	sure := string(d.root.Confidence)
	if d.root.Caveat != "" {
		sure += ": " + text(d.root.Caveat)
	}
	d.line("| Confidence | %s |", sure)
}

// story is the mechanism and the chain.
func (d *document) story() {
	d.section("What happened")
	if d.root != nil && d.root.What != "" {
		d.line("%s", paragraph(d.root.What))
	}
	if len(d.all) < 2 {
		return
	}
	d.line("")
	for _, f := range d.all {
		d.line("- %s: %s%s, %s", f.Layer, text(f.Title), of(f), d.span(f))
	}
}

func (d *document) span(f model.Finding) string {
	if f.Ended == nil {
		return clock(f.Started) + " on"
	}
	return clock(f.Started) + " to " + clock(*f.Ended)
}

// evidence is a table for each finding.
func (d *document) evidence() {
	d.section("Evidence")
	for _, f := range d.all {
		d.line("%s%s, %s:\n", paragraph(f.Title), of(f), f.Confidence)
		if len(f.Evidence) == 0 {
			d.line("nothing beside its condition\n")
			continue
		}
		d.line("| evidence | value | threshold | says |\n|---|---|---|---|")
		for _, e := range f.Evidence {
			d.line("| %s | %s | %s | %s |", text(e.Title), value(e.Value, e.Unit), value(e.Threshold, e.Unit), says(e))
		}
		d.line("")
	}
}

func value(v *float64, unit string) string {
	if v == nil {
		return "-"
	}
	return text(rules.Format(*v, unit))
}

// says is what a piece of evidence does, with its detail.
func says(e model.Evidence) string {
	s := string(e.Role)
	switch e.State {
	case model.EvidenceFails:
		s += ", does not hold"
	case model.EvidenceHolds:
		s += ", holds"
	case model.EvidenceUnmeasured:
		s += ", not measured"
	}
	if e.Detail != "" {
		s += ": " + text(e.Detail)
	}
	return s
}

// checked is what was ruled out and what could not be judged.
func (d *document) checked() {
	ruled := d.in.RuledOut
	if d.root != nil && len(d.root.RuledOut) > 0 {
		ruled = d.root.RuledOut // as it stood
	}
	if len(ruled) > 0 {
		d.section("Ruled out")
		for _, r := range ruled {
			d.line("- %s: %s", text(cmp.Or(r.Title, r.Signature)), text(r.Why))
		}
	}
	if len(d.in.Unknown) > 0 {
		d.section("Could not be judged")
		for _, u := range d.in.Unknown {
			mend := ""
			if u.Mend != "" {
				mend = ". To mend it: " + text(u.Mend)
			}
			d.line("- %s: %s%s", text(cmp.Or(u.Title, u.Signature)), text(u.Why), mend)
		}
	}
}

// actions is what was changed, with what came of it.
func (d *document) actions() {
	d.section("Actions taken")
	if len(d.in.Effects) == 0 {
		d.line("No setting that Stallmark reads was changed.")
		return
	}
	for _, e := range d.in.Effects {
		d.line("- %s UTC: %s", clock(e.At), settings(e))
		for _, m := range e.Measures {
			d.line("  - %s: %s before, %s after (%s)", text(m.Title), value(&m.Before, m.Unit), value(&m.After, m.Unit), text(m.Change))
		}
		if len(e.Measures) == 0 {
			d.line("  - too few samples on either side to compare")
		}
	}
}

func settings(e rules.Effect) string {
	var parts []string
	for _, s := range e.Settings {
		part := text(s.Key)
		if s.Old != "" || s.New != "" {
			part += " " + text(cmp.Or(s.Old, "empty")) + " -> " + text(cmp.Or(s.New, "empty"))
		}
		parts = append(parts, part)
	}
	return strings.Join(parts, ", ")
}

// advice is what is proposed: that of the root, then the rest's.
func (d *document) advice() {
	d.section("Proposed")
	n := 0
	seen := map[string]bool{}
	for _, kind := range []model.RemedyKind{model.RemedyNow, model.RemedyLater, model.RemedyAccept} {
		for _, f := range d.rootFirst() {
			for _, r := range f.Remedy {
				if r.Kind == kind && !seen[r.Title+r.Apply] {
					seen[r.Title+r.Apply] = true
					n++
					d.remedy(n, r)
				}
			}
		}
	}
	if n == 0 {
		d.line("Nothing that fits this host.")
	}
}

func (d *document) rootFirst() []model.Finding {
	var out []model.Finding
	if d.root != nil {
		out = append(out, *d.root)
	}
	for _, f := range d.all {
		if f.ID != d.in.Incident.Root {
			out = append(out, f)
		}
	}
	return out
}

func (d *document) remedy(n int, r model.Remedy) {
	d.line("### %d. %s (%s)\n", n, text(r.Title), r.Kind)
	if r.Why != "" {
		d.line("%s\n", paragraph(r.Why))
	}
	if r.Current != "" {
		d.line("Was: %s\n", text(r.Current))
	}
	for _, part := range []struct{ name, commands string }{
		{"Apply:", r.Apply}, {"To survive a reboot:", r.Persist}, {"Roll back:", r.Rollback},
	} {
		if part.commands != "" {
			d.line("%s\n\n%s", part.name, code(part.commands))
		}
	}
	if r.Verify != "" {
		d.line("Verify: %s\n", text(r.Verify))
	}
	if r.Risk != "" {
		d.line("Risk: %s\n", text(r.Risk))
	}
}
