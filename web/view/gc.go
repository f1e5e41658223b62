package view

import (
	"cmp"
	"slices"
	"strconv"
	"strings"

	"stallmark/storage/model"
	"stallmark/web/chart"
	"stallmark/web/format"
)

// JVMs is the page of the watched JVMs' pauses.
type JVMs struct {
	Page
	JVMs    []JVM
	Sources []Source // what is missing of GC logs and counters
}

// JVM is one watched JVM.
type JVM struct {
	Name   string
	Say    string // how many pauses there were, and the longest
	Charts []chart.Figure
	Rows   []PauseRow // the longest pauses
	More   int
}

// PauseRow is one pause.
type PauseRow struct {
	Event           model.Event
	What, Cause     string
	Seconds         string
	Class           string
	Glyph           Glyph
	About           string // of the class
	User, Sys, Real string
	Reaching        string
	Heap            string
	Sure            string // of a clock that is not certain
}

// JVMKey tells JVMs apart: by the process, or by the path of a log that no known
// process writes.
type JVMKey struct{ Process, Pid, Source string }

// Subject are the labels of its series.
func (k JVMKey) Subject() map[string]string {
	return map[string]string{"process": k.Process, "pid": k.Pid, "source": k.Source}
}

// JVMOf is the JVM that an event is of.
func JVMOf(e model.Event) JVMKey {
	k := JVMKey{Process: e.Attrs["process"], Pid: e.Attrs["pid"]}
	if k == (JVMKey{}) {
		k.Source = e.Attrs["log"]
	}
	return k
}

// name is what a JVM is called on the page.
func (k JVMKey) name() string {
	if k.Source != "" {
		return format.Clean(k.Source)
	}
	return format.Clean(k.Process) + " (pid " + format.Clean(k.Pid) + ")"
}

// pausesShown bounds the table of one JVM.
const pausesShown = 15

// NewJVM describes a JVM by its pauses, without its charts.
func NewJVM(k JVMKey, events []model.Event) JVM {
	j := JVM{Name: k.name()}
	pauses := LongestPauses(events, k)
	j.Say = "no pause of 10 ms or more is known"
	if len(pauses) > 0 {
		total := 0.0
		for _, e := range pauses {
			total += pauseSeconds(e)
		}
		j.Say = count(len(pauses), "pause", "pauses") + " of 10 ms or more, " + format.Value(total, "seconds") + " together, the longest " + format.Value(pauseSeconds(pauses[0]), "seconds")
	}
	n := min(len(pauses), pausesShown)
	j.More = len(pauses) - n
	for _, e := range pauses[:n] {
		j.Rows = append(j.Rows, pauseRow(e))
	}
	return j
}

// LongestPauses are the pauses of a JVM, the longest first.
func LongestPauses(events []model.Event, k JVMKey) []model.Event {
	out := slices.DeleteFunc(slices.Clone(events), func(e model.Event) bool { return e.Kind != model.EventPause || JVMOf(e) != k })
	slices.SortStableFunc(out, func(a, b model.Event) int { return cmp.Compare(pauseSeconds(b), pauseSeconds(a)) })
	return out
}

func pauseRow(e model.Event) PauseRow {
	a := e.Attrs
	r := PauseRow{
		Event: e, Seconds: format.Value(pauseSeconds(e), "seconds"), Class: format.Clean(cmp.Or(a["class"], "unknown")),
		User: millisText(a["user_ms"]), Sys: millisText(a["sys_ms"]), Real: millisText(a["real_ms"]), Reaching: millisText(a["reaching_ms"]),
	}
	r.What = format.Clean(cmp.Or(a["kind"], a["operation"], a["what"]))
	if a["what"] == "safepoint" {
		r.What = strings.TrimSuffix("safepoint: "+format.Clean(cmp.Or(a["operation"], a["kind"])), ": ")
	}
	r.Cause = format.Clean(strings.TrimSpace(a["cause"] + " " + a["detail"]))
	r.Glyph, r.About = classOf(a["class"])
	if before, after := sizeText(a["heap_before"]), sizeText(a["heap_after"]); before+after != "" {
		r.Heap = cmp.Or(before, "?") + " → " + cmp.Or(after, "?")
		if of := sizeText(a["heap_capacity"]); of != "" {
			r.Heap += " of " + of
		}
	}
	if a["clock"] != "" || a["slack_ms"] != "" {
		r.Sure = format.Clean(strings.TrimSpace("clock: " + a["clock"]))
		if ms := millisText(a["slack_ms"]); ms != "" {
			r.Sure += ", ± " + ms
		}
	}
	return r
}

// classOf says what a class of pauses is (collectors/SERIES.md).
func classOf(class string) (g Glyph, about string) {
	switch class {
	case "blocked":
		return GlyphFiring, "waited: over twice its processor time went by; a disk, memory or a CPU was not there"
	case "sys-heavy":
		return GlyphWarning, "most of its processor time was the kernel's: page faults, swap, huge pages"
	case "safepoint":
		return GlyphPartial, "most of it went by before the threads stood: not the collector's work"
	case "work":
		return GlyphOK, "the collector's own work"
	}
	return GlyphUnknown, "the log has no processor times"
}

func millisText(text string) string {
	v, err := strconv.ParseFloat(text, 64)
	if err != nil {
		return ""
	}
	return format.Value(v/1000, "seconds")
}

func sizeText(text string) string {
	v, err := strconv.ParseFloat(text, 64)
	if err != nil {
		return ""
	}
	return format.Value(v, "bytes")
}

// JVMCoverage is what is said of GC logs and the JVMs' own counters.
func JVMCoverage(all []model.Coverage) []model.Coverage {
	return slices.DeleteFunc(slices.Clone(all), func(c model.Coverage) bool {
		return !strings.HasPrefix(c.Source, "GC log") && c.Source != "hsperf"
	})
}
