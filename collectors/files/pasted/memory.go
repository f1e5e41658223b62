package pasted

import (
	"strings"

	"stallmark/storage/model"
)

// freeHeads are the headings of free in the languages that procps has.
var freeHeads = map[string]string{
	"total": "total", "used": "used", "free": "free", "shared": "shared", "buffers": "buffers", "cached": "cached",
	"buff/cache": "buff/cache", "cache": "cache", "available": "available",
	"gesamt": "total", "benutzt": "used", "frei": "free", "gemns.": "shared", "Puffer/Cache": "buff/cache", "verfügbar": "available",
	"utilisé": "used", "libre": "free", "partagé": "shared", "tamp/cache": "buff/cache", "disponible": "available", "Puffer": "buffers",
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
	p.say("readings of memory: %d; what is used, not what waits for it", len(p.Rows))
	return p, n
}

// freeOnce reads one reading.
func (r *reading) freeOnce(p *Part, list []line) (Row, int) {
	heads := list[0].fields()
	if len(heads) < 3 || freeHeads[heads[0]] != "total" || freeHeads[heads[1]] != "used" {
		return Row{}, 0
	}
	row, memory := Row{Line: list[0].no, At: r.at}, unknownShortage()
	scale := r.freeScale()
	used := 1
	for used < len(list) && used < 5 {
		words := strings.Fields(strings.Replace(list[used].text, "：", ": ", 1))
		if len(words) < 3 {
			break
		}
		kind := strings.TrimSuffix(words[0], ":")
		switch kind {
		case "Mem", "内存", "Speicher", "Spch", "Mém":
			row.Values = append(row.Values, memoryRow(p, list[used].no, heads, words[1:], scale)...)
			memory.available, memory.total = valueOf(row, "node_memory_MemAvailable_bytes"), valueOf(row, "node_memory_MemTotal_bytes")
		case "Swap", "交换", "Partition", "Échange":
			memory.swapTotal, memory.swapFree = sizeAt(words, 1, scale), sizeAt(words, 3, scale)
			if v, ok := humanSize(words[2], scale); ok {
				row.Values = append(row.Values, Value{model.NewSeries("stallmark_swap_used_bytes", "device", "all"), Gauge, v})
			}
		case "-/+", "Total", "Low", "High", "总量":
		default:
			return r.freeDone(p, row, memory), used
		}
		used++
	}
	if used == 1 {
		return Row{}, 0
	}
	return r.freeDone(p, row, memory), used
}

// freeDone says what stands out in a reading.
func (r *reading) freeDone(p *Part, row Row, memory shortage) Row {
	p.signShortage(row.Line, memory)
	return row
}

// sizeAt is the size in a column, -1 if there is none.
func sizeAt(words []string, i int, scale float64) float64 {
	if i < len(words) {
		if v, ok := humanSize(words[i], scale); ok {
			return v
		}
	}
	return -1
}

// valueOf is the value of a series in a row, -1 if there is none.
func valueOf(row Row, name string) float64 {
	for _, v := range row.Values {
		if v.Series.Name == name {
			return v.V
		}
	}
	return -1
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
