package pasted

import (
	"strconv"
	"strings"

	"stallmark/storage/model"
)

// groupMemory is what the files of one cgroup say of its memory, in bytes; negative
// if they say nothing.
type groupMemory struct {
	line               int
	current, high, max float64
}

// takeMemory takes a file of one number in, for [reading.signGroups].
func (r *reading) takeMemory(p *Part, line int, id, base string, texts []string) {
	v, err := strconv.ParseFloat(texts[0], 64)
	if err != nil || v < 0 || v > 1<<62 {
		return // "max" is no limit
	}
	g := r.groups[id]
	if g == nil {
		g = &groupMemory{line, -1, -1, -1}
		if r.groups == nil {
			r.groups = map[string]*groupMemory{}
		}
		r.groups[id] = g
	}
	switch base {
	case "memory.current", "memory.usage_in_bytes":
		g.current = v
	case "memory.high":
		g.high = v
	case "memory.max", "memory.limit_in_bytes":
		g.max = v
	default:
		return
	}
	p.signGroup(id, *g)
}

// nearLimit is a share of a limit from which on a group reclaims: the kernel charges
// memory to a group in batches, so that it never stands at the limit itself.
const nearLimit = 0.95

// signGroup says that a group is at a limit.
func (p *Part) signGroup(id string, g groupMemory) {
	const mib = 1 << 20
	for _, limit := range []struct {
		name, then string
		v          float64
	}{
		{"memory.high", "threads that allocate are slowed down and reclaim", g.high},
		{"its limit", "threads that allocate reclaim; page cache is in it, so that this alone is usual", g.max},
	} {
		if g.current >= 0 && limit.v > 0 && g.current > nearLimit*limit.v {
			p.sign(g.line, "the cgroup %s uses %.0f of the %.0f MiB of %s: there %s", shorten(id), g.current/mib, limit.v/mib, limit.name, limit.then)
			return
		}
	}
}

// ioValues are the counters of io.stat, by cAdvisor's names: what the group read and
// wrote, by device (Documentation/admin-guide/cgroup-v2.rst: bytes).
func (p *Part) ioValues(id string, texts []string) []Value {
	var list []Value
	for _, text := range texts {
		device, rest, _ := strings.Cut(strings.TrimSpace(text), " ")
		for _, word := range strings.Fields(rest) {
			key, number, _ := strings.Cut(word, "=")
			name := map[string]string{"rbytes": "container_fs_reads_bytes_total", "wbytes": "container_fs_writes_bytes_total"}[key]
			v, err := strconv.ParseUint(number, 10, 62)
			if name == "" || err != nil {
				continue
			}
			list = append(list, Value{model.NewSeries(name, "device", device, "id", id), Total, float64(v)})
		}
	}
	if len(list) > 0 {
		p.say("bytes read and written since the cgroup was made; how fast takes two copies with their times")
	}
	return list
}
