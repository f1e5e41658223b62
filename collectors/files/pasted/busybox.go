package pasted

import (
	"regexp"
	"strings"

	"stallmark/storage/model"
)

// busybox's top (procps/top.c): memory in KiB first, then the CPUs, then the load.
var (
	busyMemory = regexp.MustCompile(`^Mem: *([0-9]+)K used, *([0-9]+)K free, *[0-9]+K shrd, *([0-9]+)K buff, *([0-9]+)K cached`)
	busyCPU    = regexp.MustCompile(`([0-9.]+)% (usr|sys|nic|idle|io|irq|sirq)`)
	busyLoad   = regexp.MustCompile(`^Load average: ([0-9.]+) ([0-9.]+) ([0-9.]+)`)
)

// maxTop bounds how far the table of tasks below may reach, in lines.
const maxTop = 400

// readBusyTop reads the head of busybox's top.
func readBusyTop(r *reading, list []line) (*Part, int) {
	m := busyMemory.FindStringSubmatch(list[0].text)
	if m == nil {
		return nil, 0
	}
	p := &Part{Format: "top (busybox)"}
	row := Row{Line: list[0].no, At: r.at}
	gauge := func(name string, v float64) {
		row.Values = append(row.Values, Value{model.NewSeries(name), Gauge, v})
	}
	used, free := kb(m[1]), kb(m[2])
	gauge("node_memory_MemTotal_bytes", (used+free)*1024)
	gauge("node_memory_MemFree_bytes", free*1024)
	gauge("node_memory_Buffers_bytes", kb(m[3])*1024)
	gauge("node_memory_Cached_bytes", kb(m[4])*1024)
	n := 1
	if n < len(list) && strings.HasPrefix(list[n].text, "CPU:") {
		var busy []string
		for _, s := range busyCPU.FindAllStringSubmatch(list[n].text, -1) {
			if v, ok := number(s[1]); ok && v >= 1 {
				busy = append(busy, s[1]+" % "+s[2])
			}
		}
		p.say("CPU: %s", strings.Join(busy, ", "))
		n++
	}
	if n < len(list) {
		if m := busyLoad.FindStringSubmatch(list[n].text); m != nil {
			n++
			for i, name := range []string{"node_load1", "node_load5", "node_load15"} {
				if v, ok := number(m[1+i]); ok {
					gauge(name, v)
				}
			}
		}
	}
	for n < len(list) && n < maxTop && (taskRow(list[n]) || strings.Contains(list[n].text, " PID ")) {
		n++
	}
	p.Rows = []Row{row}
	p.note(list[0].no, "one reading: CPU shares are of a moment")
	return p, n
}

// readUptime reads the line of uptime and w.
func readUptime(r *reading, list []line) (*Part, int) {
	if !strings.Contains(list[0].text, "load average") {
		return nil, 0
	}
	m := loadLine.FindStringSubmatch(list[0].text)
	if m == nil {
		return nil, 0
	}
	p := &Part{Format: "uptime"}
	row := Row{Line: list[0].no, At: r.at}
	for i, name := range []string{"node_load1", "node_load5", "node_load15"} {
		if v, ok := number(strings.TrimSuffix(m[1+i], ",")); ok {
			row.Values = append(row.Values, Value{model.NewSeries(name), Gauge, v})
		}
	}
	p.Rows = []Row{row}
	p.say("load %s, %s, %s: tasks that run or wait without a break, for CPU or disk; it does not tell which", m[1], m[2], m[3])
	return p, 1
}
