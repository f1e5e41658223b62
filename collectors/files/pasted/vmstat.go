package pasted

import (
	"slices"
	"strings"
	"time"

	"stallmark/storage/model"
)

// vmstatColumn says what a column of vmstat is. Memory and swapping are in KiB
// unless -S says otherwise, bi and bo in blocks of 1 KiB (vmstat.8).
type vmstatColumn struct {
	series *model.Series
	kind   Kind
	scale  float64
}

// vmstatColumns by their headings.
func vmstatColumns(page float64) map[string]vmstatColumn {
	s := model.NewSeries
	return map[string]vmstatColumn{
		"r":      {s("node_procs_running"), Gauge, 1},
		"b":      {s("node_procs_blocked"), Gauge, 1},
		"swpd":   {s("stallmark_swap_used_bytes", "device", "all"), Gauge, 1024},
		"free":   {s("node_memory_MemFree_bytes"), Gauge, 1024},
		"buff":   {s("node_memory_Buffers_bytes"), Gauge, 1024},
		"cache":  {s("node_memory_Cached_bytes"), Gauge, 1024},
		"inact":  {s("node_memory_Inactive_bytes"), Gauge, 1024},
		"active": {s("node_memory_Active_bytes"), Gauge, 1024},
		"si":     {s("node_vmstat_pswpin"), Rate, 1024 / page},
		"so":     {s("node_vmstat_pswpout"), Rate, 1024 / page},
		"bi":     {s("node_vmstat_pgpgin"), Rate, 1},
		"bo":     {s("node_vmstat_pgpgout"), Rate, 1},
		"in":     {s("node_intr_total"), Rate, 1},
		"cs":     {s("node_context_switches_total"), Rate, 1},
	}
}

// cpuModes are the modes of node_cpu_seconds_total by the headings of vmstat,
// sysstat and top. What they call user contains no guest from procps 4.
var cpuModes = map[string]string{
	"us": "user", "sy": "system", "id": "idle", "wa": "iowait", "st": "steal", "ni": "nice", "hi": "irq", "si": "softirq", "gu": "guest",
	"%user": "user", "%usr": "user", "%nice": "nice", "%system": "system", "%sys": "system", "%iowait": "iowait", "%steal": "steal",
	"%idle": "idle", "%irq": "irq", "%soft": "softirq", "%guest": "guest", "%gnice": "guest_nice",
}

// vmstatTable is a run of vmstat's output.
type vmstatTable struct {
	r       *reading
	part    *Part
	columns []string
	known   map[string]vmstatColumn
	zone    *time.Location
	scale   float64 // what -S changes
	clock   dayClock
	idle    float64
}

// readVmstat reads the rows of vmstat, with headings in between.
func readVmstat(r *reading, list []line) (*Part, int) {
	t := &vmstatTable{
		r: r, part: &Part{Format: "vmstat"}, known: vmstatColumns(r.page), zone: r.o.Zone, scale: r.vmstatScale(), idle: 101,
	}
	at, n, dated := r.at, 0, !r.at.IsZero() // dated: vmstat was started below a time
	i := 0
	for i < len(list) {
		if used := t.header(list[i:]); used > 0 {
			if dated {
				t.part.startAnew(at)
			}
			dated = false
			i += used
			n = i
			continue
		}
		if t.columns == nil {
			return nil, 0
		}
		if d, ok := r.dateLine(list[i].text); ok {
			at, dated = d, true
			i++
			continue
		}
		if list[i].blank() || elided(list[i]) {
			i++
			continue
		}
		used := t.row(list[i:], at)
		if used == 0 {
			break
		}
		at = time.Time{}
		i += used
		n = i
	}
	if n == 0 {
		return nil, 0
	}
	t.finish()
	return t.part, n
}

// vmstatScale is what the memory columns are multiplied by because of -S, which
// the output itself does not tell.
func (r *reading) vmstatScale() float64 {
	if _, given := r.asked("vmstat", "S"); !given {
		return 1
	}
	for i, arg := range r.command {
		unit := strings.TrimPrefix(arg, "-S")
		if arg == "-S" && i+1 < len(r.command) {
			unit = r.command[i+1]
		}
		switch unit {
		case "m":
			return 1e6 / 1024
		case "M":
			return 1024
		case "k":
			return 1000.0 / 1024
		case "K":
			return 1
		}
	}
	return 1
}

// header takes the two lines above the columns; the second may be wrapped.
func (t *vmstatTable) header(list []line) int {
	used := 0
	if f := list[0].fields(); len(f) > 0 && (strings.HasPrefix(f[0], "procs") || strings.HasPrefix(f[0], "--procs") || f[0] == "--time--") && len(list) > 1 && strings.Contains(list[0].text, "memory") {
		used = 1
		if strings.HasPrefix(strings.TrimSpace(list[1].text), "---") && len(list) > 2 {
			used = 2 // wrapped
		}
	}
	words := list[used].fields()
	if len(words) < 8 || words[0] != "r" || words[1] != "b" || words[2] != "swpd" {
		return 0
	}
	used++
	if !slices.Contains(words, "id") && used < len(list) {
		if more := list[used].fields(); slices.Contains(more, "id") {
			words, used = append(words, more...), used+1
		}
	}
	if !slices.Contains(words, "id") {
		return 0
	}
	t.columns = words
	if z := slices.Index(words, "id"); z < len(words)-1 {
		t.trimZone()
	}
	return used
}

// trimZone cuts the heading of -t off, which is the name of the zone.
func (t *vmstatTable) trimZone() {
	last := len(t.columns) - 1
	for last > 0 && cpuModes[t.columns[last]] == "" {
		last--
	}
	if last < len(t.columns)-1 && (t.columns[last+1] == "UTC" || t.columns[last+1] == "GMT") {
		t.zone = time.UTC
	}
	t.columns = t.columns[:last+1]
}

// row takes one row, 0 if it is none.
func (t *vmstatTable) row(list []line, at time.Time) int {
	want := len(t.columns)
	lead := list[0].fields()
	tod, clocked := clockTime(lead)
	words, used := join(list, want+clocked)
	if clocked > 0 {
		words = words[clocked:]
	}
	if len(words) < want || !numeric(words[0]) {
		return 0
	}
	values, bad := numbers(words[:want])
	if bad != "" {
		t.part.note(list[0].no, "%q is no number; the row is left out", shorten(bad))
		return used
	}
	switch {
	case len(words) == want+2:
		if stamp, err := time.ParseInLocation("2006-01-02 15:04:05", words[want]+" "+words[want+1], t.zone); err == nil {
			at = stamp
		}
	case clocked > 0 && !at.IsZero():
		t.clock = dayClock{day: at.Truncate(24 * time.Hour)}
		at = t.clock.at(tod)
	case clocked > 0 && t.clock.set:
		at = t.clock.at(tod)
	}
	t.take(Row{Line: list[0].no, At: at}, values)
	return used
}

// take puts the values of a row under their names.
func (t *vmstatTable) take(row Row, values []float64) {
	seenIdle := false
	for i, name := range t.columns {
		v := values[i]
		if name == "id" {
			seenIdle = true
			t.idle = min(t.idle, v)
		}
		// "si" is swapping before the idle column would be reached and no CPU mode here.
		if c, ok := t.known[name]; ok {
			scale := c.scale
			if c.scale == 1024 || name == "si" || name == "so" {
				scale *= t.scale
			}
			row.Values = append(row.Values, Value{c.series, c.kind, v * scale})
		} else if mode, ok := cpuModes[name]; ok && t.r.cpus > 0 {
			row.Values = append(row.Values, cpuValue(mode, v, t.r.cpus))
		}
	}
	if !seenIdle {
		t.part.note(row.Line, "no idle column")
	}
	t.part.Rows = append(t.part.Rows, row)
}

// cpuValue is a share of all CPUs as seconds a second. The label cpu says that
// they are not told apart.
func cpuValue(mode string, percent, cpus float64) Value {
	return Value{model.NewSeries("node_cpu_seconds_total", "cpu", "all", "mode", mode), Rate, percent / 100 * cpus}
}

// finish drops what is the mean since boot and says what is there.
func (t *vmstatTable) finish() {
	p := t.part
	interval, noFirst := t.r.asked("vmstat", "y")
	p.settleRows("vmstat", t.r.ran("vmstat"), interval, noFirst)
	if len(p.Rows) == 0 {
		return
	}
	p.say("%d rows; runnable up to %.0f, blocked up to %.0f, swap-in up to %.0f and swap-out up to %.0f KiB/s, read up to %.0f and written up to %.0f KiB/s, idle down to %.0f %%",
		len(p.Rows), worst(p, "node_procs_running"), worst(p, "node_procs_blocked"),
		worst(p, "node_vmstat_pswpin")*t.r.page/1024, worst(p, "node_vmstat_pswpout")*t.r.page/1024,
		worst(p, "node_vmstat_pgpgin"), worst(p, "node_vmstat_pgpgout"), t.idle)
	if b := mean(p, "node_procs_blocked"); b >= 2 {
		p.sign(p.Rows[0].Line, "%.1f tasks wait at a time for a disk or for a lock whose holder does; which, vmstat does not tell. Run: iostat -x 1 60", b)
	}
	t.r.addCPUs(p)
}

// mean is the mean of a series over the rows of a part.
func mean(p *Part, name string) float64 {
	var sum float64
	for _, row := range p.Rows {
		for _, v := range row.Values {
			if v.Series.Name == name {
				sum += v.V
			}
		}
	}
	return sum / float64(len(p.Rows))
}

// worst is the largest value of a series in a part.
func worst(p *Part, name string) float64 {
	var top float64
	for _, row := range p.Rows {
		for _, v := range row.Values {
			if v.Series.Name == name {
				top = max(top, v.V)
			}
		}
	}
	return top
}

// addCPUs adds the number of CPUs to each row where a heading told it.
func (r *reading) addCPUs(p *Part) {
	if r.cpus == 0 {
		return
	}
	s := model.NewSeries("stallmark_cpus_online")
	for i := range p.Rows {
		p.Rows[i].Values = append(p.Rows[i].Values, Value{s, Gauge, r.cpus})
	}
}

// settleRows leaves out what is the mean since boot and finds how far apart the
// others are: by their times, else by the command, if that was seen.
func (p *Part) settleRows(tool string, asked bool, interval time.Duration, noFirst bool) {
	if len(p.starts) > 0 && !p.starts[0].at.IsZero() || len(p.starts) > 1 {
		p.placeRows(tool, interval, noFirst)
	} else {
		p.Interval = stampedInterval(p.Rows)
		if !noFirst {
			p.dropFirst(tool, asked)
		}
	}
	if p.Interval == 0 {
		p.Interval = interval
	}
}

// dropFirst leaves out the first report, which is the mean since boot. With -y there
// is none, which only the command line tells.
func (p *Part) dropFirst(tool string, asked bool) {
	unless := ""
	if !asked {
		unless = " (unless -y was given: then put the command line above it)"
	}
	switch len(p.Rows) {
	case 0:
	case 1:
		p.note(p.Rows[0].Line, "the only report of %s is the mean since boot%s: it says nothing about a stall. Run: %s 1 60", tool, unless, tool)
		p.Rows = nil
	default:
		p.note(p.Rows[0].Line, "the first report is the mean since boot%s and is left out", unless)
		p.Rows = p.Rows[1:]
	}
}

// stampedInterval is the usual distance between rows that have a time.
func stampedInterval(rows []Row) time.Duration {
	var steps []time.Duration
	var last time.Time
	for _, row := range rows {
		if row.At.IsZero() {
			return 0
		}
		if d := row.At.Sub(last); !last.IsZero() && d > 0 {
			steps = append(steps, d)
		}
		last = row.At
	}
	if len(steps) == 0 {
		return 0
	}
	slices.Sort(steps)
	return steps[len(steps)/2]
}

// shorten bounds a word of the text that is repeated in a remark.
func shorten(s string) string {
	if len(s) > 40 {
		return strings.ToValidUTF8(s[:40], "") + "..."
	}
	return s
}
