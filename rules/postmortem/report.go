package postmortem

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"strings"
	"time"

	"stallmark/rules"
	"stallmark/storage/model"
)

// About is what a report does not say.
type About struct {
	Host     string
	Version  string // of Stallmark
	Now      time.Time
	Interval time.Duration // between beats
}

// Incident writes the incident of a report that a finding belongs to; false if
// none has it. Changed settings are compared by asking r. An error says what
// could not be compared; the rest is written.
func Incident(ctx context.Context, r rules.Ranger, about About, rep model.Report, finding string, events []model.Event) (string, bool, error) {
	i := slices.IndexFunc(rep.Incidents, func(in model.Incident) bool { return slices.Contains(in.Findings, finding) })
	if i < 0 {
		return "", false, nil
	}
	text, err := write(ctx, r, about, rep, rep.Incidents[i], events)
	return text, true, err
}

// All writes every incident of a report, the worst first, or that nothing was
// found and what was checked.
func All(ctx context.Context, r rules.Ranger, about About, rep model.Report, events []model.Event) (string, error) {
	var all []string
	var errs []error
	for _, in := range rep.Incidents {
		text, err := write(ctx, r, about, rep, in, events)
		all, errs = append(all, text), append(errs, err)
	}
	if len(all) == 0 {
		all = append(all, calm(about, rep))
	}
	return strings.Join(all, "\n"), errors.Join(errs...)
}

func write(ctx context.Context, r rules.Ranger, about About, rep model.Report, in model.Incident, events []model.Event) (string, error) {
	input := Input{
		Host: about.Host, Version: about.Version, Now: about.Now, Incident: in, Findings: rep.Findings,
		RuledOut: rep.RuledOut, Unknown: rep.Unknown, Events: events,
	}
	var err error
	if i := slices.IndexFunc(rep.Findings, func(f model.Finding) bool { return f.ID == in.Root }); i >= 0 {
		root := rep.Findings[i]
		root.Started, root.Ended = in.Started, in.Ended
		input.Effects, err = rules.Effects(ctx, r, root, events, about.Now, about.Interval)
	}
	return Markdown(input), err
}

// calm is a report without an incident.
func calm(about About, rep model.Report) string {
	d := &document{in: Input{RuledOut: rep.RuledOut, Unknown: rep.Unknown}}
	d.line("# %s: no known stall\n", text(cmp.Or(about.Host, "host")))
	d.line("From %s to %s UTC no signature fired.", stamp(rep.Window.From), stamp(rep.Window.To))
	d.checked()
	if len(rep.NotApplicable) > 0 {
		d.section("Not applicable")
		for _, n := range rep.NotApplicable {
			d.line("- %s: %s", text(cmp.Or(n.Title, n.Signature)), text(n.Why))
		}
	}
	return d.String()
}
