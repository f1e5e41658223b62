package drill

import (
	"cmp"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"stallmark/cmd/stalldrill/work"
)

// mostWaits is how many places of sleep are printed.
const mostWaits = 5

// Print tells the result to people.
func (r Result) Print(w io.Writer) {
	fmt.Fprintf(w, "\n%s: %s\n", r.Mode, r.verdict())
	if !r.Began.IsZero() {
		fmt.Fprintf(w, "  from %s to %s, victim pid %d\n", r.Began.Format("15:04:05.000"), r.Ended.Format("15:04:05.000 UTC"), r.VictimPid)
		r.printVictim(w)
		r.printSigns(w)
		r.printWaits(w)
	}
	for _, s := range r.Settings {
		fmt.Fprintf(w, "  changed   %s\n", s)
	}
	for _, e := range r.Errors {
		fmt.Fprintf(w, "  problem   %s\n", e)
	}
	if len(r.Restored.Done) > 0 {
		fmt.Fprintf(w, "  restored  %s\n", strings.Join(r.Restored.Done, ", "))
	}
	for _, p := range r.Restored.Problems {
		fmt.Fprintf(w, "  NOT RESTORED  %s\n", p)
	}
}

func (r Result) verdict() string {
	switch {
	case r.Began.IsZero():
		return "did not begin"
	case r.Cut != "":
		return "ended early: " + r.Cut
	case !r.Provoked && r.Harmless:
		return "not as harmless as it should be, or not to be seen"
	case !r.Provoked:
		return "the kernel shows no sign of it"
	case r.Harmless:
		return "went on, harmless"
	}
	return "provoked"
}

// printVictim prints each operation before and during the drill. Waits count
// from the intended start.
func (r Result) printVictim(w io.Writer) {
	fmt.Fprintf(w, "  %-12s %-7s %8s %9s %9s %9s %9s   %s\n", "felt by", "", "n", "p50", "p99", "p99.9", "max", "the call alone: p99, max")
	rows := slices.Clone(r.Victim)
	slices.SortStableFunc(rows, func(a, b work.Row) int { return strings.Compare(a.Operation, b.Operation) })
	for _, row := range rows {
		f := row.Wait
		fmt.Fprintf(w, "  %-12s %-7s %8d %9s %9s %9s %9s   %9s %9s\n", row.Operation, row.Phase, row.Count,
			f.Text(f.P50), f.Text(f.P99), f.Text(f.P999), f.Text(f.Max), f.Text(row.Call.P99), f.Text(row.Call.Max))
	}
}

func (r Result) printSigns(w io.Writer) {
	for _, s := range r.Signs {
		seen, want, holds := "not counted here", fmt.Sprintf("at least %.6g", s.AtLeast), "no"
		if s.PerSecond != nil {
			seen = fmt.Sprintf("%.6g/s", *s.PerSecond)
		}
		if s.None {
			want = "none"
		}
		if s.Holds {
			holds = "yes"
		}
		fmt.Fprintf(w, "  sign      %s %s (wanted: %s): %s\n", s.Counter, seen, want, holds)
	}
}

func (r Result) printWaits(w io.Writer) {
	names := slices.SortedFunc(maps.Keys(r.Waits), func(a, b string) int {
		return cmp.Or(cmp.Compare(r.Waits[b], r.Waits[a]), strings.Compare(a, b))
	})
	names = slices.DeleteFunc(names, resting)
	var parts []string
	for _, n := range names[:min(len(names), mostWaits)] {
		parts = append(parts, fmt.Sprintf("%s %d", n, r.Waits[n]))
	}
	if len(parts) > 0 {
		fmt.Fprintf(w, "  asleep in %s (of %d looks at a thread)\n", strings.Join(parts, ", "), r.Samples)
	}
}

// resting are the functions in which a thread sleeps that has nothing to do.
func resting(name string) bool {
	for _, idle := range []string{"nanosleep", "futex", "ep_poll", "pipe_read", "epoll"} {
		if strings.Contains(name, idle) {
			return true
		}
	}
	return false
}
