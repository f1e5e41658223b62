package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"stallmark/collectors/jvm/gclog"
	"stallmark/storage/model"
)

// MarshalJSON implements json.Marshaler: the figures under their own names. One
// whose name has a remark in parentheses stands under the name without it too.
func (l gcLog) MarshalJSON() ([]byte, error) {
	f := l.figures
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false) // names have > in them
	field := func(key string, v any) {
		if b.Len() > 0 {
			b.WriteByte(',')
		}
		// Neither can fail: strings, numbers and maps of them.
		_ = enc.Encode(key)
		b.WriteByte(':')
		_ = enc.Encode(v)
	}
	field("file", oneLine(l.set.name))
	var files []string
	for _, file := range l.set.files {
		files = append(files, oneLine(file))
	}
	field("files", files)
	field("collector", textOrNil(f.Collector))
	field("version", textOrNil(oneLine(f.Version)))
	field("lines", f.Lines)
	field("jvms", f.JVMs)
	field("from", gcJSONTime(f.First))
	field("to", gcJSONTime(f.Last))
	field("dropped_messages", f.Dropped)
	field("damaged_pauses", f.Damaged)
	for _, m := range f.Metrics() {
		field(m.Name, m.Value)
		if short, _, ok := strings.Cut(m.Name, "("); ok {
			field(short, m.Value)
		}
	}
	field("kinds", gcKinds(f))
	return []byte("{" + b.String() + "}"), nil
}

func textOrNil(s string) *string {
	if s == "" {
		return nil
	}
	return &s
}

func gcJSONTime(m gclog.Moment) *string {
	if m.Wall.IsZero() {
		return nil
	}
	return textOrNil(m.Wall.UTC().Format(model.JSONTime))
}

// gcKinds are the pauses by kind, null if the log does not print pauses.
func gcKinds(f *gclog.Figures) map[string]any {
	if !f.PausesTold() {
		return nil
	}
	kinds := map[string]any{}
	for k, v := range f.Kinds {
		kinds[string(k)] = map[string]any{"count": v.Count, "total_ms": gcMillis(v.Total), "max_ms": gcMillis(v.Max)}
	}
	return kinds
}

func gcMillis(d time.Duration) float64 { return float64(d) / 1e6 }

// gcText writes the figures of a log for people.
type gcText struct {
	pen
	figures *gclog.Figures
}

func writeGC(w io.Writer, s screen, l gcLog) error {
	t := &gcText{pen{screen: s}, l.figures}
	f := l.figures
	t.line("%s", t.bold(oneLine(l.set.name)))
	t.wrap("  ", "  ", gcAbout(l))
	t.pauses()
	t.safepoints()
	t.processor()
	t.stalls()
	if f.Dropped > 0 {
		t.wrap("  ", "    ", fmt.Sprintf("%d messages were dropped by -Xlog:async: all counts are lower bounds.", f.Dropped))
	}
	if f.Damaged > 0 {
		t.wrap("  ", "    ", fmt.Sprintf("%d pauses begin and do not end: their lines are damaged.", f.Damaged))
	}
	t.worst(l.worst)
	t.stops(l.stops)
	_, err := io.WriteString(w, t.String())
	return err
}

// gcAbout says what was read.
func gcAbout(l gcLog) string {
	f := l.figures
	parts := []string{"collector not told"}
	if f.Collector != "" {
		parts[0] = f.Collector
	}
	if f.Version != "" {
		parts = append(parts, "JDK "+oneLine(f.Version))
	}
	if n := len(l.set.files); n > 1 {
		parts = append(parts, plural(n, "file"))
	}
	parts = append(parts, plural(int(f.Lines), "line"))
	if f.JVMs > 1 {
		parts = append(parts, plural(f.JVMs, "run")+" of a JVM")
	}
	if first, last := f.First, f.Last; first.Clock != gclog.ClockNone {
		parts = append(parts, gcMoment(first)+" to "+gcMoment(last))
	} else {
		parts = append(parts, "without times")
	}
	return strings.Join(parts, ", ")
}

func (t *gcText) pauses() {
	f := t.figures
	t.gap()
	if !f.PausesTold() {
		why := "Pauses: unknown, this log does not print them."
		if f.Collector == "ZGC" {
			why = "Pauses: unknown. ZGC prints them with -Xlog:gc+phases (or gc*) only; this log has " + plural(int(f.Cycles), "cycle") + "."
		}
		t.wrap("  ", "    ", why)
		return
	}
	t.wrap("  ", "    ", fmt.Sprintf("%s, %s ms in all, the longest %s ms", plural(int(f.Pauses), "pause"), gcNumber(f.PauseTotal), gcNumber(f.PauseMax)))
	for _, k := range slices.SortedFunc(maps.Keys(f.Kinds), func(a, b gclog.Kind) int {
		if d := f.Kinds[b].Total - f.Kinds[a].Total; d != 0 {
			return int(min(max(d, -1), 1))
		}
		return strings.Compare(string(a), string(b))
	}) {
		v := f.Kinds[k]
		t.line("    %-20s %7d  %12s ms  longest %10s ms", k, v.Count, gcNumber(v.Total), gcNumber(v.Max))
	}
	if f.Nested > 0 {
		t.wrap("    ", "    ", plural(int(f.Nested), "full collection")+" inside young ones: part of those.")
	}
}

func (t *gcText) safepoints() {
	f := t.figures.Stops()
	if f.Safepoints == 0 {
		t.wrap("  ", "    ", "Safepoints: unknown, this log does not print them (-Xlog:safepoint).")
		return
	}
	text := fmt.Sprintf("%s, %s ms in all, the longest %s ms; %d not for a collection (%s ms)", plural(int(f.Safepoints), "safepoint"),
		gcNumber(f.SafepointTotal), gcNumber(f.SafepointMax), f.OtherSafepoints, gcNumber(f.OtherSafepointTotal))
	if f.ReachingKnown > 0 {
		text += fmt.Sprintf("; %s ms to reach them, the longest %s ms; %d were slow to reach", gcNumber(f.ReachingTotal), gcNumber(f.ReachingMax), f.Dominated)
	}
	t.wrap("  ", "    ", text)
}

func (t *gcText) processor() {
	f := t.figures
	if f.CPULines == 0 {
		t.wrap("  ", "    ", "Processor times: unknown, this log does not print them.")
		return
	}
	t.wrap("  ", "    ", fmt.Sprintf("Processor times of %s: user %.2f s, sys %.2f s, on the clock %.2f s; %d blocked, %d sys-heavy",
		plural(int(f.CPULines), "pause"), f.User.Seconds(), f.Sys.Seconds(), f.Real.Seconds(), f.Blocked, f.SysHeavy))
}

func (t *gcText) stalls() {
	f := t.figures
	if f.Stalls+f.RelocationStalls > 0 {
		t.wrap("  ", "    ", fmt.Sprintf("%s of a thread, %s ms summed over threads, the longest %s ms (the others went on); %d while an object was moved",
			plural(int(f.Stalls), "allocation stall"), gcNumber(f.StallTotal), gcNumber(f.StallMax), f.RelocationStalls))
	}
	if f.FailedAllocations > 0 {
		t.wrap("  ", "    ", plural(int(f.FailedAllocations), "failed allocation")+" that had to wait for a collection")
	}
}

// gcNumber is milliseconds with one decimal, three below ten.
func gcNumber(d time.Duration) string {
	if d < 10*time.Millisecond {
		return strconv.FormatFloat(gcMillis(d), 'f', 3, 64)
	}
	return strconv.FormatFloat(gcMillis(d), 'f', 1, 64)
}

// gcMoment is a time in UTC, or the seconds since the JVM started.
func gcMoment(m gclog.Moment) string {
	switch {
	case !m.Wall.IsZero():
		return m.Wall.UTC().Format("2006-01-02 15:04:05.000") + " UTC"
	case m.Uptime >= 0:
		return fmt.Sprintf("%.3f s", m.Uptime.Seconds())
	}
	return "no time"
}

// worst lists the longest pauses.
func (t *gcText) worst(pauses []gclog.Pause) {
	if len(pauses) == 0 {
		return
	}
	t.section("The longest pauses")
	t.line("  %-27s %10s %6s %6s %6s  %-9s %s", "start", "ms", "user", "sys", "real", "class", "kind and cause")
	for _, p := range pauses {
		user, sys, real := "-", "-", "-"
		if p.CPU.Known {
			user, sys, real = gcSeconds(p.CPU.User), gcSeconds(p.CPU.Sys), gcSeconds(p.CPU.Real)
		}
		what := string(p.Label())
		if p.Cause != "" {
			what += ", " + p.Cause
		}
		if p.Detail != "" {
			what += " (" + p.Detail + ")"
		}
		t.line("  %-27s %10s %6s %6s %6s  %-9s %s", gcMoment(p.Start), gcNumber(p.Duration), user, sys, real, p.Class(), oneLine(what))
	}
}

func gcSeconds(d time.Duration) string { return strconv.FormatFloat(d.Seconds(), 'f', 2, 64) }

// stops lists the longest stops that no collection accounts for.
func (t *gcText) stops(list []gclog.Safepoint) {
	if len(list) == 0 {
		return
	}
	t.section("The longest safepoints that were not for a collection, or slow to reach")
	t.line("  %-27s %10s %12s  %s", "start", "ms", "to reach", "operation")
	for _, s := range list {
		reach := "-"
		if s.Reaching >= 0 {
			reach = gcNumber(s.Reaching)
		}
		name := s.Operation
		if name == "" {
			name = "not told"
		}
		t.line("  %-27s %10s %12s  %s", gcMoment(s.Start), gcNumber(s.Total), reach, oneLine(name))
	}
}
