package pasted

import (
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"stallmark/storage/model"
)

var (
	atopHead = regexp.MustCompile(`^\s*ATOP - (\S+)\s+(\d{4}/\d{2}/\d{2})\s+(\d{2}:\d{2}:\d{2})\s.*?\s(\S+) elapsed`)
	atopCell = regexp.MustCompile(`^\s*(.*?)\s+(\S+)\s*$`)
)

// atop is a run of its reports. What it prints are sums over the interval, which
// the head of the report tells (atop.1).
type atop struct {
	r      *reading
	part   *Part
	row    *Row
	length float64 // seconds of the interval
	worst  map[string]float64
	busy   map[string]float64
	booted bool // the first report was the mean since boot
}

// readAtop reads reports of atop, without their tables of processes.
func readAtop(r *reading, list []line) (*Part, int) {
	if !strings.Contains(list[0].text, "ATOP - ") {
		return nil, 0
	}
	t := &atop{r: r, part: &Part{Format: "atop"}, worst: map[string]float64{}, busy: map[string]float64{}}
	n := 0
	for i, l := range list {
		switch {
		case t.head(l):
			n = i + 1
		case t.row == nil:
			return nil, 0
		case strings.Contains(l.text, "Activity since Boot"):
			t.booted = t.booted || len(t.part.Rows) == 1
			n = i + 1
		case t.cells(l.text), l.blank(), elided(l), strings.Contains(l.text, " PID ") || taskRow(l):
			if !l.blank() {
				n = i + 1
			}
		default:
			return t.finish(), n
		}
	}
	return t.finish(), n
}

// head begins a report.
func (t *atop) head(l line) bool {
	m := atopHead.FindStringSubmatch(l.text)
	if m == nil {
		return false
	}
	at, err := time.ParseInLocation("2006/01/02 15:04:05", m[2]+" "+m[3], t.r.o.Zone)
	length := atopLength(m[4])
	if err != nil || length == 0 {
		return false
	}
	t.part.Rows = append(t.part.Rows, Row{Line: l.no, At: at})
	t.row, t.length = &t.part.Rows[len(t.part.Rows)-1], length
	if len(t.part.Rows) == 1 {
		t.booted = length > 3600
	} else if len(t.part.Rows) == 2 {
		t.booted = t.booted || t.part.Rows[1].At.Sub(t.part.Rows[0].At).Seconds() < t.booter()/2
	}
	if t.part.Interval == 0 || len(t.part.Rows) == 2 {
		t.part.Interval = time.Duration(length * float64(time.Second))
	}
	return true
}

// booter is how long the first report was.
func (t *atop) booter() float64 { return t.part.Interval.Seconds() }

// atopLength reads "10s", "2m30s", "5h1m2s", "12d3h", in seconds.
func atopLength(s string) float64 {
	days, rest, ok := strings.Cut(s, "d")
	if !ok {
		days, rest = "0", s
	}
	n, err := strconv.Atoi(days)
	d, err2 := time.ParseDuration(rest)
	if rest == "" {
		d, err2 = 0, nil
	}
	if err != nil || err2 != nil || n < 0 || n > 1e5 || d < 0 {
		return 0
	}
	return float64(n)*86400 + d.Seconds()
}

// atopUnits are where the cells of each row go. Rates are the cell over the
// interval; shares are percent of one CPU.
func (t *atop) one(row, key string, v float64) {
	rate := func(name string, scale float64, labels ...string) {
		t.row.Values = append(t.row.Values, Value{model.NewSeries(name, labels...), Rate, v * scale})
	}
	gauge := func(name string, labels ...string) {
		t.row.Values = append(t.row.Values, Value{model.NewSeries(name, labels...), Gauge, v})
	}
	switch row + " " + key {
	case "CPU sys", "CPU user", "CPU irq", "CPU idle", "CPU wait", "CPU steal":
		mode := map[string]string{"sys": "system", "user": "user", "irq": "softirq", "idle": "idle", "wait": "iowait", "steal": "steal"}[key]
		rate("node_cpu_seconds_total", 0.01, "cpu", "all", "mode", mode)
	case "CPL avg1":
		gauge("node_load1")
	case "CPL avg5":
		gauge("node_load5")
	case "CPL avg15":
		gauge("node_load15")
	case "CPL numcpu":
		gauge("stallmark_cpus_online")
	case "CPL csw":
		rate("node_context_switches_total", 1/t.length)
	case "MEM tot":
		gauge("node_memory_MemTotal_bytes")
		gauge("stallmark_host_memory_bytes")
	case "MEM free":
		gauge("node_memory_MemFree_bytes")
	case "MEM cache":
		gauge("node_memory_Cached_bytes")
	case "MEM dirty":
		gauge("node_memory_Dirty_bytes")
	case "MEM avail":
		gauge("node_memory_MemAvailable_bytes")
	case "PAG stall":
		rate("stallmark_allocstall_total", 1/t.length)
	case "PAG swin":
		rate("node_vmstat_pswpin", 1/t.length)
	case "PAG swout":
		rate("node_vmstat_pswpout", 1/t.length)
	case "PSI cpusome":
		rate("node_pressure_cpu_waiting_seconds_total", 0.01)
	case "PSI memsome":
		rate("node_pressure_memory_waiting_seconds_total", 0.01)
	case "PSI memfull":
		rate("node_pressure_memory_stalled_seconds_total", 0.01)
	case "PSI iosome":
		rate("node_pressure_io_waiting_seconds_total", 0.01)
	case "PSI iofull":
		rate("node_pressure_io_stalled_seconds_total", 0.01)
	default:
		return
	}
	if !t.booted {
		t.worst[row+" "+key] = max(t.worst[row+" "+key], v)
	}
}

// cells takes a row of cells; false if it is none.
func (t *atop) cells(text string) bool {
	parts := strings.Split(text, "|")
	label := strings.TrimSpace(parts[0])
	if len(parts) < 3 || len(label) != 3 {
		return false
	}
	if label == "DSK" {
		t.disk(parts[1:])
		return true
	}
	for _, cell := range parts[1:] {
		if m := atopCell.FindStringSubmatch(cell); m != nil {
			if v, ok := atopNumber(m[2]); ok {
				t.one(label, strings.TrimSpace(m[1]), v)
			}
		}
	}
	return true
}

// disk takes the row of a device. "avio" is how long the device was busy for a
// request, and no wait: of waits atop says nothing.
func (t *atop) disk(cells []string) {
	name := strings.TrimSpace(cells[0])
	m := map[string]float64{}
	for _, cell := range cells[1:] {
		if c := atopCell.FindStringSubmatch(cell); c != nil {
			if v, ok := atopNumber(c[2]); ok {
				m[strings.TrimSpace(c[1])] = v
			}
		}
	}
	if name == "" || len(m) == 0 {
		return
	}
	d := disk{
		reads: m["read"] / t.length, writes: m["write"] / t.length, split: true, sized: true,
		readBytes: m["read"] / t.length * m["KiB/r"] * 1024, writtenBytes: m["write"] / t.length * m["KiB/w"] * 1024,
	}
	t.row.Values = append(t.row.Values, d.values(strings.ToValidUTF8(name, ""))...)
	t.row.Values = append(t.row.Values, Value{model.NewSeries("node_disk_io_time_seconds_total", "device", name), Rate, m["busy"] / 100})
	if !t.booted {
		t.busy[name] = max(t.busy[name], m["busy"])
	}
}

// atopNumber reads "45678e3", "118.0G", "12%", "0/s".
func atopNumber(s string) (float64, bool) {
	s = strings.TrimSuffix(s, "/s")
	if head, tail, ok := strings.Cut(s, "e"); ok && len(tail) == 1 && tail[0] >= '0' && tail[0] <= '9' {
		v, ok := number(head)
		for range tail[0] - '0' {
			v *= 10
		}
		return v, ok
	}
	return number(s)
}

// finish leaves out the report since boot.
func (t *atop) finish() *Part {
	p := t.part
	if t.booted {
		p.dropFirst("atop", true)
	}
	if len(p.Rows) == 0 {
		return p
	}
	if d := stampedInterval(p.Rows); d > 0 {
		p.Interval = d
	}
	p.say("%d reports, %v apart; allocations that stalled up to %.0f, swapped in up to %.0f pages a report", len(p.Rows), p.Interval, t.worst["PAG stall"], t.worst["PAG swin"])
	if name, v := largest(t.busy); name != "" {
		p.say("busiest disk: %s, %.0f %% of the time", name, v)
	}
	if slices.ContainsFunc(p.Rows, func(r Row) bool { return len(r.Values) > 0 }) && p.Interval >= time.Minute {
		p.note(0, "a stall of seconds disappears in means over %v", p.Interval)
	}
	return p
}
