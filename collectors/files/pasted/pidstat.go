package pasted

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"stallmark/storage/model"
)

// pidstatColumn is what a column says of a process: units of pidstat.1.
type pidstatColumn struct {
	name  string
	words string // for a person; empty if not worth saying
	unit  string
	scale float64
	label string // the mode of CPU time
}

var pidstatColumns = map[string]pidstatColumn{
	"%usr":      {"stallmark_process_cpu_seconds_total", "", "", 0.01, "user"},
	"%system":   {"stallmark_process_cpu_seconds_total", "", "", 0.01, "system"},
	"%CPU":      {"", "CPU", "%", 1, ""},
	"minflt/s":  {"stallmark_process_minor_faults_total", "", "", 1, ""},
	"majflt/s":  {"stallmark_process_major_faults_total", "major faults", "/s", 1, ""},
	"kB_rd/s":   {"stallmark_process_read_bytes_total", "reads", " kB/s", 1024, ""},
	"kB_wr/s":   {"stallmark_process_write_bytes_total", "writes", " kB/s", 1024, ""},
	"kB_ccwr/s": {"stallmark_process_cancelled_write_bytes_total", "", "", 1024, ""},
	"iodelay":   {"", "ticks of waiting for I/O", "", 1, ""},
	"%wait":     {"", "waiting for a CPU", "%", 1, ""},
}

// pidstat is a run of its tables.
type pidstat struct {
	r       *reading
	part    *Part
	columns []string // from the first known one on
	skip    int      // words between the time and the first known column
	epoch   bool     // -h: seconds since 1970 stand first
	clock   dayClock
	dated   bool
	worst   map[string]pidstatWorst // by column
	last    time.Time
}

type pidstatWorst struct {
	v   float64
	who string
}

// readPidstat reads the tables of pidstat, one kind after the other, or with -h
// all in one. Series are given of JVMs only: a rule takes who has some for a broker.
func readPidstat(r *reading, list []line) (*Part, int) {
	t := &pidstat{r: r, part: &Part{Format: "pidstat"}, worst: map[string]pidstatWorst{}}
	t.clock.day, t.dated = r.day, !r.day.IsZero()
	if !t.dated {
		t.clock.day = time.Unix(0, 0).UTC()
	}
	if !t.heading(list[0].fields()) {
		return nil, 0
	}
	n := 1
	for i := 1; i < len(list); i++ {
		words := list[i].fields()
		switch {
		case len(words) == 0:
		case t.heading(words), average(words):
			n = i + 1
		case t.row(list[i].no, words):
			n = i + 1
		default:
			i = len(list)
		}
	}
	t.finish()
	return t.part, n
}

// heading takes the names of the columns.
func (t *pidstat) heading(words []string) bool {
	at := slices.IndexFunc(words, func(w string) bool { _, ok := pidstatColumns[w]; return ok })
	pid := max(slices.Index(words, "PID"), slices.Index(words, "TID"))
	if pid < 0 || at < 0 || pid > at || words[len(words)-1] != "Command" {
		return false
	}
	_, used := clockTime(words)
	t.epoch = words[0] == "#"
	if t.epoch {
		used = 2
	}
	if used == 0 && !t.epoch {
		return false
	}
	t.skip, t.columns = at-used, words[at:]
	return true
}

// row takes a row; false if it is none.
func (t *pidstat) row(no int, words []string) bool {
	at, used := t.time(words)
	if used == 0 || len(words) < used+t.skip+len(t.columns) {
		return false
	}
	rest := words[used+t.skip:]
	values, bad := numbersOf(rest[:len(t.columns)-1])
	if bad != "" {
		return false
	}
	command := strings.Join(rest[len(t.columns)-1:], " ")
	pid := words[used+t.skip-1]
	m := byName(t.columns[:len(t.columns)-1], values)
	for name, v := range m {
		if c, ok := pidstatColumns[name]; ok && c.words != "" && v > t.worst[name].v {
			t.worst[name] = pidstatWorst{v, fmt.Sprintf("%s (%s)", shorten(command), shorten(pid))}
		}
	}
	if strings.TrimPrefix(command, "|__") != "java" || pid == "-" {
		t.note(no, at)
		return true
	}
	t.note(no, at)
	row := &t.part.Rows[len(t.part.Rows)-1]
	row.Values = append(row.Values, pidstatValues(m, pid)...)
	return true
}

// numbersOf is [numbers] for columns that may be "-1.00": not permitted.
func numbersOf(words []string) ([]float64, string) {
	values, bad := numbers(words)
	for i := range values {
		values[i] = max(values[i], 0)
	}
	return values, bad
}

// note makes a row of a time unless there is one.
func (t *pidstat) note(no int, at time.Time) {
	if len(t.part.Rows) == 0 || !at.Equal(t.last) {
		t.part.Rows = append(t.part.Rows, Row{Line: no, At: at})
		t.last = at
	}
}

func pidstatValues(m map[string]float64, pid string) []Value {
	var list []Value
	for _, name := range slices.Sorted(maps.Keys(m)) {
		c, ok := pidstatColumns[name]
		if !ok || c.name == "" {
			continue
		}
		labels := []string{"pid", pid, "process", "java"}
		if c.label != "" {
			labels = append([]string{"mode", c.label}, labels...)
		}
		list = append(list, Value{model.NewSeries(c.name, labels...), Rate, m[name] * c.scale})
	}
	return list
}

// time reads the time at the start of a row.
func (t *pidstat) time(words []string) (time.Time, int) {
	if tod, used := clockTime(words); used > 0 {
		return t.clock.at(tod), used
	}
	if v, ok := number(words[0]); t.epoch && ok && v > 8e8 && v < 7e9 {
		t.dated = true
		return time.Unix(int64(v), 0).UTC(), 1
	}
	return time.Time{}, 0
}

// finish says who does most of what.
func (t *pidstat) finish() {
	p := t.part
	slices.SortStableFunc(p.Rows, func(a, b Row) int { return a.At.Compare(b.At) })
	p.Rows = joinRows(p.Rows)
	p.Interval = stampedInterval(p.Rows)
	if !t.dated {
		for i := range p.Rows {
			p.Rows[i].At = time.Time{}
		}
	}
	for _, name := range slices.SortedFunc(maps.Keys(t.worst), cmp.Compare) {
		w, c := t.worst[name], pidstatColumns[name]
		p.say("most %s: %s, %.4g%s", c.words, w.who, w.v, c.unit)
	}
	if len(t.worst) == 0 {
		p.say("tables without a process that did anything")
	}
	p.Rows = slices.DeleteFunc(p.Rows, func(r Row) bool { return len(r.Values) == 0 })
}

// joinRows makes one row of those of one time.
func joinRows(rows []Row) []Row {
	var out []Row
	for _, row := range rows {
		if n := len(out); n > 0 && out[n-1].At.Equal(row.At) {
			out[n-1].Values = append(out[n-1].Values, row.Values...)
			continue
		}
		out = append(out, row)
	}
	return out
}
