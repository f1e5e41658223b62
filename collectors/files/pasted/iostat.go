package pasted

import (
	"slices"
	"strings"
	"time"

	"stallmark/storage/model"
)

// iostat is a run of iostat's reports.
type iostat struct {
	r        *reading
	part     *Part
	columns  []string // of the table being read, without the device
	devLast  bool     // -h: the device is the last column
	cpu      []string // of the line above the next CPU row
	reports  []Row
	first    map[string]bool // devices in the current report
	extended bool
	ended    bool               // the table may be over: only a row that fits goes on with it
	wait     map[string]float64 // worst await by device, milliseconds
	queue    map[string]float64
	dates    []started // lines that are a time, by the report that follows
	anew     []int     // headings of sysstat, by the report that follows
}

// readIostat reads reports of iostat, with or without the CPU lines and -x.
func readIostat(r *reading, list []line) (*Part, int) {
	t := &iostat{r: r, part: &Part{Format: "iostat"}, wait: map[string]float64{}, queue: map[string]float64{}}
	at, n, gaps := r.at, 0, 0
	if !at.IsZero() {
		t.dates = append(t.dates, started{0, at})
	}
	for i := 0; i < len(list); {
		used := t.take(list[i:], at)
		switch {
		case used > 0:
			i += used
			n, gaps = i, 0
			at = time.Time{}
		case n == 0 && i == 0:
			return nil, 0
		case list[i].blank() || elided(list[i]) || t.skip(list[i], &at):
			t.ended = true
			i++
			if gaps++; gaps > 4 {
				i = len(list)
			}
		default:
			i = len(list)
		}
	}
	if len(t.reports) == 0 {
		return nil, 0
	}
	t.finish()
	return t.part, n
}

// skip takes in what stands between reports.
func (t *iostat) skip(l line, at *time.Time) bool {
	if d, ok := t.r.dateLine(l.text); ok {
		*at = d
		t.dates = append(t.dates, started{len(t.reports), d})
		return true
	}
	if sysstat.MatchString(l.text) {
		t.anew = append(t.anew, len(t.reports))
		return t.r.heading(l.text)
	}
	return t.r.heading(l.text) && len(t.r.command) == 0
}

// starts are where iostat was started anew: below another heading of its own, or
// below a time that several reports follow. A time above each report is what -t
// prints.
func (t *iostat) starts() []started {
	if len(t.anew) > 0 {
		list := []started{{0, t.dated(0)}}
		for _, row := range t.anew {
			list = append(list, started{row, t.dated(row)})
		}
		return list
	}
	if len(t.dates) > 0 && t.dates[0].row == 0 && len(t.reports) > len(t.dates) {
		return t.dates
	}
	return nil
}

// dated is the time above a report, zero if there is none.
func (t *iostat) dated(row int) time.Time {
	for _, d := range t.dates {
		if d.row == row {
			return d.at
		}
	}
	return time.Time{}
}

// take reads a heading or a row; 0 if the line is neither.
func (t *iostat) take(list []line, at time.Time) int {
	words := list[0].fields()
	switch {
	case len(words) == 0:
		return 0
	case words[0] == "avg-cpu:":
		t.columns, t.cpu = nil, words[1:]
		t.begin(list[0].no, at)
		return 1
	case t.cpu != nil && len(words) == len(t.cpu) && numeric(words[0]):
		t.cpuRow(words)
		return 1
	case strings.TrimSuffix(words[0], ":") == "Device" || words[len(words)-1] == "Device":
		return t.heads(list, at)
	case t.columns != nil && len(t.reports) > 0:
		return t.device(list)
	}
	return 0
}

// begin starts a report.
func (t *iostat) begin(no int, at time.Time) {
	t.reports = append(t.reports, Row{Line: no, At: at})
	t.first = map[string]bool{}
}

// heads takes the heading of the devices. It begins a report unless the CPU
// lines have.
func (t *iostat) heads(list []line, at time.Time) int {
	words, used := list[0].fields(), 1
	for used < len(list) && used < 3 && !slices.Contains(words, "%util") && !slices.ContainsFunc(words, plainColumn) {
		more := list[used].fields()
		if len(more) == 0 || numeric(more[len(more)-1]) {
			break
		}
		words, used = append(words, more...), used+1
	}
	if !slices.ContainsFunc(words, func(w string) bool { return w == "tps" || w == "r/s" }) {
		return 0
	}
	t.devLast = words[len(words)-1] == "Device"
	if t.devLast {
		t.columns = words[:len(words)-1]
	} else {
		t.columns = words[1:]
	}
	t.extended = t.extended || slices.Contains(words, "%util")
	if t.cpu == nil || len(t.reports) == 0 || len(t.first) > 0 {
		t.begin(list[0].no, at)
	}
	t.cpu, t.ended = nil, false
	return used
}

// plainColumn names the last kind of columns of iostat without -x.
func plainColumn(s string) bool { return s == "kB_read" || s == "Blk_read" || s == "MB_read" }

func (t *iostat) cpuRow(words []string) {
	values, bad := numbers(words)
	if bad != "" || t.r.cpus == 0 {
		return
	}
	row := &t.reports[len(t.reports)-1]
	for i, name := range t.cpu {
		if mode, ok := cpuModes[name]; ok {
			row.Values = append(row.Values, cpuValue(mode, values[i], t.r.cpus))
		}
	}
}

// device takes the row of a device.
func (t *iostat) device(list []line) int {
	words, used := join(list, len(t.columns)+1)
	if len(words) != len(t.columns)+1 {
		if !t.ended && len(words) > 1 && 2*len(words) > len(t.columns) && numeric(words[1]) {
			t.part.note(list[0].no, "%d columns where the heading has %d; the row is left out", len(words), len(t.columns)+1)
			return used
		}
		return 0
	}
	name, rest := words[0], words[1:]
	if t.devLast {
		name, rest = words[len(words)-1], words[:len(words)-1]
	}
	values, bad := numbers(rest)
	for i := range values {
		if strings.ContainsAny(rest[i], "kMGT") {
			values[i] /= 1024 // -h: the columns are kB, and "1k" is one
		}
	}
	if bad != "" {
		if numeric(rest[0]) {
			t.part.note(list[0].no, "%q is no number; the row is left out", shorten(bad))
			return used
		}
		return 0
	}
	if name == "ALL" || name == "sum" || name == "avg" || name == "stddev" || strings.HasPrefix(list[0].text, " ") && !t.devLast && t.grouped(name) {
		return used // the sum of a group
	}
	if t.first[name] {
		t.begin(list[0].no, time.Time{}) // a heading was cut out
	}
	t.first[name], t.ended = true, false
	row := &t.reports[len(t.reports)-1]
	row.Values = append(row.Values, t.values(strings.ToValidUTF8(name, ""), byName(t.columns, values))...)
	return used
}

// grouped reports whether this report has devices already: then an indented row
// is the sum of a group.
func (t *iostat) grouped(string) bool { return len(t.first) > 1 }

// byName puts values under the headings of their columns.
func byName(columns []string, values []float64) map[string]float64 {
	m := make(map[string]float64, len(columns))
	for i, c := range columns {
		m[c] = values[i]
	}
	return m
}

// values are the counters of a device.
func (t *iostat) values(device string, m map[string]float64) []Value {
	d := diskRates(m)
	if await, ok := d.await(); ok {
		t.wait[device] = max(t.wait[device], await)
	}
	t.queue[device] = max(t.queue[device], d.queue)
	return d.values(device)
}

// finish leaves the first report out and says what is there.
func (t *iostat) finish() {
	p := t.part
	if t.extended {
		p.Format = "iostat -x"
	}
	p.Rows, p.starts = t.reports, t.starts()
	interval, noFirst := t.r.asked("iostat", "y")
	p.settleRows("iostat -x", t.r.ran("iostat"), interval, noFirst)
	devices := map[string]bool{}
	for _, row := range p.Rows {
		for _, v := range row.Values {
			if v.Series.Name == infoName {
				devices[v.Series.Labels[0].Value] = true
			}
		}
	}
	if len(p.Rows) == 0 {
		return
	}
	p.say("%d reports of %d devices", len(p.Rows), len(devices))
	if name, v := largest(t.wait); name != "" {
		p.say("longest mean wait of a request: %.1f ms on %s", v, name)
	}
	if name, v := largest(t.queue); name != "" && v > 0 {
		p.say("longest queue: %.1f on %s", v, name)
	}
	t.r.addCPUs(p)
}

// largest is the name with the largest value, the first of the alphabet among
// equals.
func largest(m map[string]float64) (string, float64) {
	var best string
	for name, v := range m {
		if best == "" || v > m[best] || v == m[best] && name < best {
			best = name
		}
	}
	return best, m[best]
}

// infoName is the series that says what kind of device one is.
const infoName = "stallmark_disk_info"

// info is the series by which rules know a physical device.
func info(device string) *model.Series {
	kind, backing := deviceKind(device)
	return model.NewSeries(infoName, "device", device, "kind", kind, "backing", backing)
}
