package main

import (
	"fmt"
	"io"
	"strings"

	"stallmark/rules/audit"
)

// auditText writes an audit by area: what to change first and in full, the rest
// in a line each. All text may be hostile.
type auditText struct{ pen }

func writeAudit(w io.Writer, s screen, a audited) error {
	t := &auditText{pen{screen: s}}
	t.line("%s", oneLine(a.What))
	t.line("settings at %s UTC", clock(a.At, true))
	t.gap()
	t.line("%s", t.bold(auditSummary(a.Results)))
	for _, area := range audit.Areas() {
		var in []audit.Result
		for _, r := range a.Results {
			if r.Area == area {
				in = append(in, r)
			}
		}
		t.area(area, in)
	}
	_, err := io.WriteString(w, t.String())
	return err
}

// auditSummary counts the states.
func auditSummary(results []audit.Result) string {
	count := map[audit.State]int{}
	for _, r := range results {
		count[r.State]++
	}
	return fmt.Sprintf("%s, %d to improve, %d could not be read, %d ok, %d not on this host.", plural(count[audit.Warn], "warning"),
		count[audit.Advise], count[audit.Unknown], count[audit.OK], count[audit.Absent])
}

func plural(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}

func (t *auditText) area(area audit.Area, results []audit.Result) {
	if len(results) == 0 {
		return
	}
	t.section(area.Title())
	for _, r := range results {
		if r.State == audit.Warn || r.State == audit.Advise {
			t.full(r)
		}
	}
	t.gap()
	for _, r := range results {
		if r.State == audit.Unknown || r.State == audit.OK {
			t.short(r)
		}
	}
	t.absent(results)
}

// full writes a result with its advice.
func (t *auditText) full(r audit.Result) {
	t.gap()
	t.wrap("  ", "      ", t.bold(strings.ToUpper(string(r.State))+": "+oneLine(r.Title))+auditSubject(r))
	t.field("now", r.Current)
	t.field("says", r.Says)
	if a := r.Advice; a != nil {
		t.field("do", a.Change)
		t.command("apply", a.Command)
		t.command("keep", a.Persist)
		t.command("undo", a.Rollback)
		t.field("risk", a.Risk)
	}
	t.field("why", r.Why)
	t.field("source", r.Source)
}

// short writes a result that asks for nothing.
func (t *auditText) short(r audit.Result) {
	text := oneLine(r.Title) + auditSubject(r) + ": "
	if r.Current != "" {
		text += r.Current + ". "
	}
	text += r.Says
	if r.Mend != "" {
		text += ". To mend it: " + r.Mend
	}
	t.wrap(fmt.Sprintf("  %-8s ", r.State), "           ", oneLine(strings.Join(strings.Fields(text), " ")))
}

// absent names the checks that do not apply, together by reason.
func (t *auditText) absent(results []audit.Result) {
	titles := map[string][]string{}
	var reasons []string
	for _, r := range results {
		if r.State != audit.Absent {
			continue
		}
		if titles[r.Says] == nil {
			reasons = append(reasons, r.Says)
		}
		titles[r.Says] = append(titles[r.Says], r.ID+auditSubject(r))
	}
	for _, reason := range reasons {
		t.wrap("  not here ", "           ", oneLine(reason+" ("+strings.Join(titles[reason], ", ")+")"))
	}
}

// auditSubject names what a result is about, empty for the host.
func auditSubject(r audit.Result) string {
	s := r.Subject
	switch {
	case s["process"] != "":
		return oneLine(fmt.Sprintf(" (%s, pid %s)", s["process"], s["pid"]))
	case s["mount"] != "":
		return oneLine(fmt.Sprintf(" (%s on %s)", s["device"], s["mount"]))
	case s["device"] != "":
		return oneLine(" (" + s["device"] + ")")
	}
	return ""
}
