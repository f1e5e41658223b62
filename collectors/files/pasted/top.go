package pasted

import (
	"regexp"
	"slices"
	"strings"

	"stallmark/storage/model"
)

var (
	topFirst  = regexp.MustCompile(`^top - ([0-9:]{8}) up .*load average: ([0-9.,]+), ([0-9.,]+), ([0-9.,]+)`)
	topCPU    = regexp.MustCompile(`^%?C[Pp][Uu]\(s\) ?: *(.*)$`)
	topOne    = regexp.MustCompile(`^%?C[Pp][Uu]([0-9]+) *: *(.*)$`)
	topShare  = regexp.MustCompile(`([0-9.,]+) ?%? ?(us|sy|ni|id|wa|hi|si|st)`)
	topMemory = regexp.MustCompile(`^(?:(KiB|MiB|GiB|TiB) (\pL{2,8})|(Mem|Swap)) ?: *(.*)$`)
	topSecond = regexp.MustCompile(`\s{2,}(%?C[Pp][Uu][0-9]+ *: |[KMGT]iB Swap ?: )`)
	topAmount = regexp.MustCompile(`([0-9.,]*[0-9.])([kKmMgG+]?)\.?\+? *(total|free|used|buff/cache|avail|buffers|cached)`)
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
	one, memory := topOnes{}, unknownShortage()
	var table taskTable
	var tasks []task
	n := 1
	for ; n < len(list) && n < 400 && !topFirst.MatchString(list[n].text); n++ {
		text := strings.TrimSpace(list[n].text)
		known := false
		for _, part := range topParts(text) {
			known = one.take(part) || r.topLine(p, &row, &memory, part) || known
		}
		if t, ok := newTaskTable(list[n].fields()); ok {
			table = t
		} else if k, ok := table.row(list[n]); ok {
			tasks = append(tasks, k)
		}
		if !known && text == "" && n > 6 && !slices.Contains(list[min(n+1, len(list)-1)].fields(), "PID") {
			break
		}
		if n > 8 && !taskRow(list[n]) && text != "" {
			break
		}
	}
	p.Rows = append(p.Rows, row)
	one.say(p)
	p.signShortage(list[0].no, memory)
	p.signTasks(tasks)
	p.note(list[0].no, "one reading: CPU shares are of a moment, or since boot in the first")
	return p, n
}

// taskRow reports whether a line can be of top's table of tasks.
func taskRow(l line) bool {
	words := l.fields()
	return len(words) >= 6 && (numeric(words[0]) || words[0] == "PID")
}

// topLine takes a line of the head.
func (r *reading) topLine(p *Part, row *Row, memory *shortage, text string) bool {
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
	swap := m[2] == "Swap" || m[3] == "Swap" || strings.Contains(m[4], "avail")
	names := map[string]string{"total": "MemTotal", "free": "MemFree", "buffers": "Buffers"}
	for _, a := range topAmount.FindAllStringSubmatch(m[4], -1) {
		v, ok := number(strings.TrimSuffix(a[1], "."))
		name := names[a[3]]
		if swap {
			name = map[string]string{"avail": "MemAvailable", "cached": "Cached"}[a[3]]
		}
		if ok {
			memory.take(a[3], swap, v*unit)
		}
		if ok && name != "" {
			row.Values = append(row.Values, Value{model.NewSeries("node_memory_" + name + "_bytes"), Gauge, v * unit})
		}
	}
	return true
}

// take takes an amount of top's in, in bytes. What is available stands on the line
// of swap.
func (s *shortage) take(what string, swap bool, v float64) {
	switch {
	case what == "avail":
		s.available = v
	case what == "total" && swap:
		s.swapTotal = v
	case what == "total":
		s.total = v
	case what == "free" && swap:
		s.swapFree = v
	}
}

// topParts are the two things that a wide window has on one line.
func topParts(text string) []string {
	var parts []string
	for {
		m := topSecond.FindStringSubmatchIndex(text)
		if m == nil {
			return append(parts, text)
		}
		parts, text = append(parts, text[:m[0]]), text[m[2]:]
	}
}

// topOnes are the CPUs one by one: the mean hides one that is full.
type topOnes struct {
	n, full int
	name    string
	idle    float64
}

func (t *topOnes) take(text string) bool {
	m := topOne.FindStringSubmatch(text)
	if m == nil {
		return false
	}
	for _, s := range topShare.FindAllStringSubmatch(m[2], -1) {
		if v, ok := number(strings.Trim(s[1], ",.")); ok && s[2] == "id" {
			if t.n++; v < 5 {
				t.full++
			}
			if t.name == "" || v < t.idle {
				t.name, t.idle = m[1], v
			}
		}
	}
	return true
}

func (t *topOnes) say(p *Part) {
	if t.n > 0 {
		p.say("%d CPUs one by one: %d of them under 5 %% idle; the fullest is CPU %s, %.0f %% idle", t.n, t.full, shorten(t.name), t.idle)
	}
}
