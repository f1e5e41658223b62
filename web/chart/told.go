package chart

import (
	"strconv"
	"strings"
)

// Told is a row of marks that logs or JVMs tell, as one path: a chart of a storm
// is not larger for it.
type Told struct{ Class, Path, Title string }

// told lays out a chart's log lines and pauses, one mark a column.
func told(c Chart, f frame) []Told {
	var out []Told
	if ticks, n := tickPath(c.Logs, f); n > 0 {
		out = append(out, Told{"logs", ticks, count(n, "log line points at a fault", "log lines point at a fault") + ", at the foot"})
	}
	if spans, n := spanPath(c.Pauses, f); n > 0 {
		out = append(out, Told{"pauses", spans, count(n, "time", "times") + " in which a JVM stood, at the top"})
	}
	return out
}

func count(n int, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return strconv.Itoa(n) + " " + many
}

// tickLength is how high the mark of a line is, in CSS pixels.
const tickLength = 6

func tickPath(all []Tick, f frame) (path string, n int) {
	var b strings.Builder
	seen := map[int]bool{}
	for _, t := range all {
		rel := f.raw(t.At.UnixMilli())
		if rel < 0 || rel > 1 {
			continue
		}
		n += max(t.Count, 1)
		if k := int(rel * Columns); !seen[k] {
			seen[k] = true
			b.WriteString("M" + coordinate((float64(k)+0.5)/Columns*xMax) + " " + strconv.Itoa(plotHeight*ySteps) + "v-" + strconv.Itoa(tickLength*ySteps))
		}
	}
	return b.String(), n
}

func spanPath(all []Span, f frame) (path string, n int) {
	const least = xMax / Columns // what can be seen
	var b strings.Builder
	for _, s := range all {
		from, to := f.raw(s.From.UnixMilli()), f.raw(s.To.UnixMilli())
		if to < 0 || from > 1 {
			continue
		}
		n++
		a, z := max(from, 0)*xMax, min(to, 1)*xMax
		b.WriteString("M" + coordinate(a) + " " + strconv.Itoa((padTop+2)*ySteps) + "h" + coordinate(max(z-a, least)))
	}
	return b.String(), n
}

func coordinate(v float64) string { return strconv.FormatFloat(v, 'f', 1, 64) }
