package pasted

import (
	"slices"
	"strconv"
	"strings"
	"time"

	"stallmark/storage/model"
)

// jstatCounters are the columns of "jstat -gc", "-gcutil" and "-gccause" that
// count: collections, and seconds in them since the JVM began. CGC are the pauses
// of concurrent collections, from JDK 11 on (jdk.jcmd, jstat_options).
func jstatCounters() map[string]*model.Series {
	count := func(gc string) *model.Series {
		return model.NewSeries("jvm_gc_collection_seconds_count", "gc", gc, "pid", noPath, "process", "java")
	}
	sum := func(gc string) *model.Series {
		return model.NewSeries("jvm_gc_collection_seconds_sum", "gc", gc, "pid", noPath, "process", "java")
	}
	return map[string]*model.Series{
		"YGC": count("young"), "YGCT": sum("young"), "FGC": count("full"), "FGCT": sum("full"), "CGC": count("concurrent"), "CGCT": sum("concurrent"),
	}
}

// readJstat reads a table of jstat's, the heading repeated in it (-h) or not.
func readJstat(r *reading, list []line) (*Part, int) {
	columns := jstatHeading(list[0].fields())
	if columns == nil {
		return nil, 0
	}
	p := &Part{Format: "jstat", Interval: r.jstatInterval()}
	known, n := jstatCounters(), 1
	var last map[string]float64
	most := map[string]float64{}
	for ; n < len(list); n++ {
		words := list[n].fields()
		if next := jstatHeading(words); next != nil {
			columns = next
			continue
		}
		m, ok := jstatRow(p, list[n].no, columns, words)
		if !ok {
			break
		}
		row := Row{Line: list[n].no}
		if n == 1 {
			row.At = r.at
		}
		for _, name := range columns {
			if s := known[name]; s != nil {
				if v, ok := m[name]; ok {
					row.Values = append(row.Values, Value{s, Total, v})
				}
			}
		}
		for _, name := range []string{"YGCT", "FGCT", "CGCT"} {
			if last != nil {
				most[name] = max(most[name], m[name]-last[name])
			}
		}
		last = m
		p.Rows = append(p.Rows, row)
	}
	p.sayJstat(last, most)
	return p, n
}

// sayJstat says what the columns tell together.
func (p *Part) sayJstat(last, most map[string]float64) {
	switch len(p.Rows) {
	case 0:
		p.note(0, "a heading without rows")
		return
	case 1:
		p.note(p.Rows[0].Line, "one reading of what has been counted since the JVM began gives no rate. Run: jstat -gcutil PID 1000 60")
	default:
		p.say("%d rows; at most between two of them: %.2f s of young, %.2f s of full collections", len(p.Rows), most["YGCT"], most["FGCT"])
	}
	if old, ok := last["O"]; ok {
		p.say("old generation %.0f %% full in the last row", old)
	}
	if n := last["FGC"]; n > 0 {
		p.say("%.0f full collections since the JVM began, %.1f s in them", n, last["FGCT"])
	}
}

// jstatHeading gives the names of the columns if a line is a heading. Of the
// causes (-gccause), which are words with blanks, nothing is read.
func jstatHeading(words []string) []string {
	if !slices.Contains(words, "YGC") || !slices.Contains(words, "YGCT") || !slices.Contains(words, "GCT") {
		return nil
	}
	if i := slices.Index(words, "LGCC"); i >= 0 {
		words = words[:i]
	}
	return words
}

// jstatRow reads a row. A space that this collector does not have is "-".
func jstatRow(p *Part, no int, columns, words []string) (map[string]float64, bool) {
	if len(words) < len(columns) {
		if len(words) > 3 && numeric(words[0]) {
			p.note(no, "%d columns where the heading has %d; the row is left out", len(words), len(columns))
		}
		return nil, false
	}
	m := map[string]float64{}
	for i, name := range columns {
		v, ok := number(words[i])
		if !ok && words[i] != "-" {
			return nil, false
		}
		if ok {
			m[name] = v
		}
	}
	return m, len(m) > 0
}

// jstatInterval is the interval of the command, in milliseconds unless it says
// "1s". 0 if there was none.
func (r *reading) jstatInterval() time.Duration {
	if len(r.command) < 2 || !strings.HasSuffix(r.command[0], "jstat") {
		return 0
	}
	plain := slices.DeleteFunc(slices.Clone(r.command[1:]), func(s string) bool { return strings.HasPrefix(s, "-") })
	if len(plain) < 2 {
		return 0
	}
	word, unit := strings.TrimSuffix(plain[1], "ms"), time.Millisecond
	if rest, ok := strings.CutSuffix(word, "s"); ok {
		word, unit = rest, time.Second
	}
	if n, err := strconv.Atoi(word); err == nil && n > 0 && n < 1e8 {
		return time.Duration(n) * unit
	}
	return 0
}
