package pasted

import (
	"slices"
	"strings"
	"time"

	"stallmark/storage/model"
)

// sarTable is what one kind of table of sar says.
type sarTable struct {
	option string // by which sar prints it
	key    string // a column that no other table has
	device bool   // a row a device
	column map[string]sarColumn
}

// sarColumn is where a column goes. The units are those of sar.1: pgpg* in KiB
// a second, the other paging columns in pages or faults a second, memory in KiB.
type sarColumn struct {
	name   string
	labels []string
	kind   Kind
	scale  float64
}

// sarTables lists the tables that are read. PSI is the share of the interval
// (%scpu and the like, without -10, -60, -300), in percent.
func sarTables() []sarTable {
	rate := func(name string, scale float64) sarColumn { return sarColumn{name, nil, Rate, scale} }
	kib := func(name string) sarColumn { return sarColumn{name, nil, Gauge, 1024} }
	gauge := func(name string) sarColumn { return sarColumn{name, nil, Gauge, 1} }
	return []sarTable{
		{option: "-B", key: "pgpgin/s", column: map[string]sarColumn{
			"pgpgin/s": rate("node_vmstat_pgpgin", 1), "pgpgout/s": rate("node_vmstat_pgpgout", 1),
			"fault/s": rate("node_vmstat_pgfault", 1), "majflt/s": rate("node_vmstat_pgmajfault", 1),
			"pgfree/s": rate("node_vmstat_pgfree", 1), "pgscank/s": rate("stallmark_pgscan_kswapd_total", 1),
			"pgscand/s": rate("stallmark_pgscan_direct_total", 1),
		}},
		{option: "-W", key: "pswpin/s", column: map[string]sarColumn{
			"pswpin/s": rate("node_vmstat_pswpin", 1), "pswpout/s": rate("node_vmstat_pswpout", 1),
		}},
		{option: "-r", key: "kbmemfree", column: map[string]sarColumn{
			"kbmemfree": kib("node_memory_MemFree_bytes"), "kbavail": kib("node_memory_MemAvailable_bytes"),
			"kbbuffers": kib("node_memory_Buffers_bytes"), "kbcached": kib("node_memory_Cached_bytes"),
			"kbactive": kib("node_memory_Active_bytes"), "kbinact": kib("node_memory_Inactive_bytes"),
			"kbdirty": kib("node_memory_Dirty_bytes"), "kbanonpg": kib("node_memory_AnonPages_bytes"),
			"kbshmem": kib("node_memory_Shmem_bytes"),
		}},
		{option: "-S", key: "kbswpused", column: map[string]sarColumn{
			"kbswpused": {"stallmark_swap_used_bytes", []string{"device", "all"}, Gauge, 1024},
		}},
		{option: "-q", key: "runq-sz", column: map[string]sarColumn{
			"runq-sz": gauge("node_procs_running"), "blocked": gauge("node_procs_blocked"),
			"ldavg-1": gauge("node_load1"), "ldavg-5": gauge("node_load5"), "ldavg-15": gauge("node_load15"),
		}},
		{option: "-q CPU", key: "%scpu", column: map[string]sarColumn{"%scpu": rate("node_pressure_cpu_waiting_seconds_total", 0.01)}},
		{option: "-q IO", key: "%sio", column: map[string]sarColumn{
			"%sio": rate("node_pressure_io_waiting_seconds_total", 0.01), "%fio": rate("node_pressure_io_stalled_seconds_total", 0.01),
		}},
		{option: "-q MEM", key: "%smem", column: map[string]sarColumn{
			"%smem": rate("node_pressure_memory_waiting_seconds_total", 0.01), "%fmem": rate("node_pressure_memory_stalled_seconds_total", 0.01),
		}},
		{option: "-w", key: "cswch/s", column: map[string]sarColumn{
			"cswch/s": rate("node_context_switches_total", 1), "proc/s": rate("node_forks_total", 1),
		}},
		{option: "-d", key: "DEV", device: true},
		{option: "-u", key: "CPU"},
	}
}

// sar is one table of sar or of the tools that print like it.
type sar struct {
	r       *reading
	part    *Part
	table   sarTable
	columns []string
	clock   dayClock
	dated   bool
	began   time.Time // by the heading
	last    time.Time
	wait    map[string]float64
	idlest  float64            // of all CPUs, percent; over 100 if none was seen
	ones    map[string]float64 // how busy each CPU was at most, percent
}

// readSar reads a table of sar, headings repeated in it, up to the next other
// table.
func readSar(r *reading, list []line) (*Part, int) {
	t := &sar{r: r, part: &Part{}, wait: map[string]float64{}, idlest: 101}
	t.clock.day, t.dated = r.day, !r.day.IsZero()
	if !t.dated {
		t.clock.day = time.Unix(0, 0).UTC()
	}
	n := 0
	for i := 0; i < len(list); i++ {
		words := list[i].fields()
		switch {
		case len(words) == 0:
		case t.heading(words):
			n = i + 1
		case t.columns == nil:
			return nil, 0
		case slices.Contains(words, "RESTART"):
			t.part.note(list[i].no, "the host was started again here")
			n = i + 1
		case average(words):
			n = i + 1
		default:
			if !t.row(list[i], words) {
				i = len(list)
				continue
			}
			n = i + 1
		}
	}
	if len(t.part.Rows) == 0 {
		return nil, 0
	}
	t.finish()
	return t.part, n
}

// average reports whether a row begins with the word for it, in whatever
// language: anything that ends in a colon.
func average(words []string) bool {
	if strings.HasSuffix(words[0], ":") || strings.HasSuffix(words[0], "：") {
		return true
	}
	return len(words) > 1 && words[1] == ":"
}

// heading takes the names of the columns.
func (t *sar) heading(words []string) bool {
	tod, used := clockTime(words)
	if used > 0 && used < len(words) && len(words[used]) == 3 && strings.ToUpper(words[used]) == words[used] && words[used] != "CPU" && words[used] != "DEV" {
		used++ // a zone
	}
	rest := words[used:]
	for _, table := range sarTables() {
		at := slices.Index(rest, table.key)
		if at < 0 || slices.ContainsFunc(rest, numeric) {
			continue
		}
		// "-p" puts the name of the device last, from sysstat 12.3 on.
		if (table.key == "CPU" || table.key == "DEV") && (at != 0 && (table.key == "CPU" || at != len(rest)-1) || used == 0 || !slices.Contains(rest, cpuOrTps(table.key))) {
			continue
		}
		if t.columns != nil && t.table.option != table.option {
			return false
		}
		t.table, t.columns = table, rest
		if used > 0 {
			t.began = t.clock.at(tod) // of the interval that the first row covers
		}
		return true
	}
	return false
}

// cpuOrTps is a column by which a table of CPUs or devices is known for sar's.
func cpuOrTps(key string) string {
	if key == "CPU" {
		return "%idle"
	}
	return "tps"
}

// row takes a row; false if the table has ended.
func (t *sar) row(l line, words []string) bool {
	tod, used := clockTime(words)
	if used == 0 {
		return false
	}
	rest := words[used:]
	if len(rest) == len(t.columns)+1 && len(rest[0]) == 3 && !numeric(rest[0]) {
		rest = rest[1:] // a zone
	}
	if len(rest) != len(t.columns) {
		if len(rest) > 1 && numeric(rest[len(rest)-1]) {
			t.part.note(l.no, "%d columns where the heading has %d; the row is left out", len(rest), len(t.columns))
			return true
		}
		return false
	}
	name := ""
	columns := t.columns
	switch last := len(columns) - 1; {
	case columns[last] == "DEV":
		name, rest, columns = rest[last], rest[:last], columns[:last]
	case t.table.device || t.table.key == "CPU":
		name, rest, columns = rest[0], rest[1:], columns[1:]
	}
	values, bad := numbers(rest)
	if bad != "" && slices.Contains(rest, "%idle") || bad != "" && strings.HasPrefix(bad, "%") {
		return false // the heading of another table
	}
	if bad != "" {
		t.part.note(l.no, "%q is no number; the row is left out", shorten(bad))
		return numeric(rest[0])
	}
	at := t.clock.at(tod)
	if len(t.part.Rows) == 0 || !at.Equal(t.last) {
		t.part.Rows = append(t.part.Rows, Row{Line: l.no, At: at})
		t.last = at
	}
	row := &t.part.Rows[len(t.part.Rows)-1]
	row.Values = append(row.Values, t.values(name, byName(columns, values))...)
	return true
}

// values are the series of one row.
func (t *sar) values(name string, m map[string]float64) []Value {
	switch {
	case t.table.device:
		d := diskRates(m)
		if await, ok := d.await(); ok {
			t.wait[name] = max(t.wait[name], await)
		}
		return d.values(strings.ToValidUTF8(name, ""))
	case t.table.key == "CPU":
		return t.cpu(name, m)
	}
	var list []Value
	for column, c := range t.table.column {
		if v, ok := m[column]; ok {
			list = append(list, Value{model.NewSeries(c.name, c.labels...), c.kind, v * c.scale})
		}
	}
	return list
}

// finish names the table and says what is in it.
func (t *sar) finish() {
	p := t.part
	p.Format = "sar " + t.table.option
	p.Interval = stampedInterval(p.Rows)
	if d := p.Rows[0].At.Sub(t.began); p.Interval == 0 && !t.began.IsZero() && d > 0 && d < 24*time.Hour {
		p.Interval = d
	}
	if !t.dated {
		for i := range p.Rows {
			p.Rows[i].At = time.Time{}
		}
		p.note(p.Rows[0].Line, "the day is unknown: the first line of sar (Linux ... date) is missing")
	}
	p.say("%d rows, %v apart", len(p.Rows), p.Interval)
	if p.Interval >= time.Minute {
		p.note(0, "a stall of seconds disappears in means over %v", p.Interval)
	}
	switch t.table.option {
	case "-B":
		p.say("direct reclaim up to %.0f pages/s, kswapd up to %.0f pages/s, major faults up to %.0f/s",
			worst(p, "stallmark_pgscan_direct_total"), worst(p, "stallmark_pgscan_kswapd_total"), worst(p, "node_vmstat_pgmajfault"))
	case "-d":
		if name, v := largest(t.wait); name != "" {
			p.say("longest mean wait of a request: %.1f ms on %s", v, name)
		}
	case "-u":
		t.finishCPUs()
	case "-W":
		p.say("swap-in up to %.0f pages/s", worst(p, "node_vmstat_pswpin"))
	}
	t.r.addCPUs(p)
}
