package pasted

import (
	"regexp"
	"slices"
	"strings"

	"stallmark/storage/model"
)

// freeHeads are the headings of free in the languages that procps has.
var freeHeads = map[string]string{
	"total": "total", "used": "used", "free": "free", "shared": "shared", "buffers": "buffers", "cached": "cached",
	"buff/cache": "buff/cache", "cache": "cache", "available": "available",
	"总计": "total", "已用": "used", "空闲": "free", "共享": "shared", "缓冲/缓存": "buff/cache", "可用": "available",
}

// readFree reads the output of free, one reading or several (-s).
func readFree(r *reading, list []line) (*Part, int) {
	p := &Part{Format: "free"}
	n := 0
	for n < len(list) {
		row, used := r.freeOnce(p, list[n:])
		if used == 0 {
			break
		}
		p.Rows = append(p.Rows, row)
		n += used
		for n < len(list) && list[n].blank() {
			n++
		}
	}
	if len(p.Rows) == 0 {
		return nil, 0
	}
	p.say("%d reading(s) of memory: what is used, not what waits for it", len(p.Rows))
	return p, n
}

// freeOnce reads one reading.
func (r *reading) freeOnce(p *Part, list []line) (Row, int) {
	heads := list[0].fields()
	if len(heads) < 3 || freeHeads[heads[0]] != "total" || freeHeads[heads[1]] != "used" {
		return Row{}, 0
	}
	row := Row{Line: list[0].no, At: r.at}
	scale := r.freeScale()
	used := 1
	for used < len(list) && used < 5 {
		words := strings.Fields(strings.Replace(list[used].text, "：", ": ", 1))
		if len(words) < 3 {
			break
		}
		kind := strings.TrimSuffix(words[0], ":")
		switch kind {
		case "Mem", "内存":
			row.Values = append(row.Values, memoryRow(p, list[used].no, heads, words[1:], scale)...)
		case "Swap", "交换":
			if v, ok := humanSize(words[2], scale); ok {
				row.Values = append(row.Values, Value{model.NewSeries("stallmark_swap_used_bytes", "device", "all"), Gauge, v})
			}
		case "-/+", "Total", "Low", "High", "总量":
		default:
			return row, used
		}
		used++
	}
	if used == 1 {
		return Row{}, 0
	}
	return row, used
}

// memoryRow reads the row of physical memory.
func memoryRow(p *Part, no int, heads, words []string, scale float64) []Value {
	names := map[string]string{
		"total": "MemTotal", "free": "MemFree", "buffers": "Buffers", "cached": "Cached", "cache": "Cached", "available": "MemAvailable",
	}
	var list []Value
	for i, w := range words {
		if i >= len(heads) {
			break
		}
		name, ok := names[freeHeads[heads[i]]]
		if !ok {
			continue
		}
		v, ok := humanSize(w, scale)
		if !ok {
			p.note(no, "%q is no size", shorten(w))
			continue
		}
		list = append(list, Value{model.NewSeries("node_memory_" + name + "_bytes"), Gauge, v})
		if name == "MemTotal" {
			list = append(list, Value{model.NewSeries("stallmark_host_memory_bytes"), Gauge, v})
		}
	}
	return list
}

// freeScale is the unit of free's numbers by its flags: KiB without one. The
// output does not tell.
func (r *reading) freeScale() float64 {
	scale := 1024.0
	if len(r.command) > 0 && strings.HasSuffix(r.command[0], "free") {
		for _, arg := range r.command[1:] {
			switch {
			case arg == "-m" || arg == "--mebi":
				scale = 1 << 20
			case arg == "-g" || arg == "--gibi":
				scale = 1 << 30
			case arg == "-b":
				scale = 1
			}
		}
	}
	return scale
}

// humanSize reads "62G", "8,0G", "27Gi" or a bare number in the given unit.
func humanSize(s string, scale float64) (float64, bool) {
	s = strings.TrimSuffix(strings.TrimSuffix(s, "B"), "i")
	v, ok := number(strings.Replace(s, "K", "k", 1))
	if !ok {
		return 0, false
	}
	if last := s[len(s)-1]; last >= '0' && last <= '9' {
		v *= scale
	}
	return v, true
}

var (
	topFirst  = regexp.MustCompile(`^top - ([0-9:]{8}) up .*load average: ([0-9.,]+), ([0-9.,]+), ([0-9.,]+)`)
	topCPU    = regexp.MustCompile(`^%?Cpu\(s\): *(.*)$`)
	topShare  = regexp.MustCompile(`([0-9.,]+) ?%? ?(us|sy|ni|id|wa|hi|si|st)`)
	topMemory = regexp.MustCompile(`^(KiB|MiB|GiB|TiB)? ?(Mem|Swap) ?: *(.*)$`)
	topAmount = regexp.MustCompile(`([0-9.]+)([kKmMgG+]?)\.?\+? *(total|free|used|buff/cache|avail Mem|buffers|cached)`)
)

// readTop reads the head of top and passes over its table of tasks.
func readTop(r *reading, list []line) (*Part, int) {
	m := topFirst.FindStringSubmatch(list[0].text)
	if m == nil {
		return nil, 0
	}
	p := &Part{Format: "top"}
	row := Row{Line: list[0].no, At: r.at}
	for i, name := range []string{"node_load1", "node_load5", "node_load15"} {
		if v, ok := number(strings.TrimSuffix(m[2+i], ",")); ok {
			row.Values = append(row.Values, Value{model.NewSeries(name), Gauge, v})
		}
	}
	n := 1
	for ; n < len(list) && n < 400 && !topFirst.MatchString(list[n].text); n++ {
		text := strings.TrimSpace(list[n].text)
		if !r.topLine(p, &row, text) && text == "" && n > 6 && !slices.Contains(list[min(n+1, len(list)-1)].fields(), "PID") {
			break
		}
		if n > 8 && !taskRow(list[n]) && text != "" {
			break
		}
	}
	p.Rows = append(p.Rows, row)
	p.note(list[0].no, "one reading: CPU shares are of a moment, or since boot in the first")
	return p, n
}

// taskRow reports whether a line can be of top's table of tasks.
func taskRow(l line) bool {
	words := l.fields()
	return len(words) >= 6 && (numeric(words[0]) || words[0] == "PID")
}

// topLine takes a line of the head.
func (r *reading) topLine(p *Part, row *Row, text string) bool {
	if m := topCPU.FindStringSubmatch(text); m != nil {
		var busy []string
		for _, s := range topShare.FindAllStringSubmatch(m[1], -1) {
			if v, ok := number(strings.Trim(s[1], ",.")); ok && v >= 1 {
				busy = append(busy, strings.Trim(s[1], ",.")+" % "+cpuModes[s[2]])
			}
		}
		p.say("CPU: %s", strings.Join(busy, ", "))
		return true
	}
	m := topMemory.FindStringSubmatch(text)
	if m == nil {
		return false
	}
	unit := map[string]float64{"": 1024, "KiB": 1024, "MiB": 1 << 20, "GiB": 1 << 30, "TiB": 1 << 40}[m[1]]
	names := map[string]string{"total": "MemTotal", "free": "MemFree", "buffers": "Buffers"}
	for _, a := range topAmount.FindAllStringSubmatch(m[3], -1) {
		v, ok := number(strings.TrimSuffix(a[1], "."))
		name := names[a[3]]
		if m[2] == "Swap" {
			name = ""
		}
		switch a[3] {
		case "avail Mem":
			name = "MemAvailable"
		case "cached":
			name = "Cached"
		}
		if ok && name != "" {
			row.Values = append(row.Values, Value{model.NewSeries("node_memory_" + name + "_bytes"), Gauge, v * unit})
		}
	}
	return true
}
