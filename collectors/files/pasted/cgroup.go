package pasted

import (
	"regexp"
	"strconv"
	"strings"
)

var (
	keyValue    = regexp.MustCompile(`^\s*([a-z][a-z0-9_.]*) ([0-9]+)\s*$`)
	ioStat      = regexp.MustCompile(`^\s*[0-9]+:[0-9]+(?: [a-z.]+=[0-9]+)+\s*$`)
	groupDir    = regexp.MustCompile(`^sys/fs/cgroup((?:/[^/]+)*)/([^/]+)$`)
	wholeEvents = regexp.MustCompile(`memory\.events(?:[^.\w]|$)`)
	soloLine    = regexp.MustCompile(`^\s*(?:max|-?[0-9]+)(?: [0-9]+)?\s*$`)
)

// noPath is the id of a cgroup whose path the text does not tell.
const noPath = "pasted"

// cgroupFile takes "sys/fs/cgroup/memory/docker/abc/memory.stat" apart: the
// group, without the controller of version 1, and the file. The text may give
// the file's name only.
func cgroupFile(path string) (id, base string, ok bool) {
	m := groupDir.FindStringSubmatch(path)
	if m == nil {
		_, known := cgroupFiles[path]
		return noPath, path, known
	}
	if _, known := cgroupFiles[m[2]]; !known {
		return "", "", false
	}
	id = m[1]
	for _, top := range []string{"/memory", "/cpu,cpuacct", "/cpuacct,cpu", "/cpuacct", "/cpu", "/unified", "/blkio"} {
		if rest, cut := strings.CutPrefix(id, top); cut && (rest == "" || rest[0] == '/') {
			id = rest
			break
		}
	}
	if id == "" {
		id = "/"
	}
	return id, m[2], true
}

// readCgroup reads files of a cgroup of either version: under a heading with the
// file's name any of them, otherwise those that their keys tell.
func readCgroup(r *reading, list []line) (*Part, int) {
	if id, base, ok := cgroupFile(r.path); ok {
		return r.cgroupNamed(id, base, list)
	}
	n := run(list, keyValue)
	base := ""
	switch {
	case n >= 2 && (hasKey(list[:n], "nr_throttled") || hasKey(list[:n], "usage_usec") && hasKey(list[:n], "user_usec")):
		base = "cpu.stat"
	case n >= 2 && hasKey(list[:n], "oom_kill") && hasKey(list[:n], "high", "oom"):
		base = "memory.events"
	case n >= 3 && hasKey(list[:n], "anon", "file_mapped", "inactive_file", "total_cache", "total_rss") && hasKey(list[:n], "file", "cache", "inactive_file", "total_cache"):
		base = "memory.stat"
	default:
		if n = run(list, ioStat); n == 0 {
			return nil, 0
		}
		base = "io.stat"
	}
	return r.cgroupPart(noPath, base, list[:n]), n
}

// cgroupNamed reads a file whose name is known.
func (r *reading) cgroupNamed(id, base string, list []line) (*Part, int) {
	n := 0
	for _, pattern := range []*regexp.Regexp{keyValue, psiLine, ioStat, soloLine} {
		if n = run(list, pattern); n > 0 {
			break
		}
	}
	if n == 0 {
		return nil, 0
	}
	return r.cgroupPart(id, base, list[:n]), n
}

func (r *reading) cgroupPart(id, base string, list []line) *Part {
	p := &Part{Format: "cgroup"}
	row := Row{Line: list[0].no, At: r.at}
	texts := make([]string, len(list))
	for i, l := range list {
		texts[i] = strings.TrimSpace(l.text)
	}
	where := base
	if id != noPath {
		where += " of " + shorten(id)
	}
	p.say("%s", where)
	r.takeMemory(p, list[0].no, id, base, texts)
	row.Values = r.cgroupValues(p, id, base, texts)
	if len(row.Values) > 0 {
		p.Rows = []Row{row}
	}
	return p
}

// cgroupValues are the series of a file's lines.
func (r *reading) cgroupValues(p *Part, id, base string, texts []string) []Value {
	f := cgroupFiles[base]
	switch {
	case base == "memory.events.local" && r.events:
		p.say("not used: memory.events beside it has the same and what is below the group")
		return nil
	case base == "io.stat":
		return p.ioValues(id, texts)
	case base == "memory.high":
		p.say("%s", texts[0])
		return nil
	case f.pressure != "":
		return p.cgroupPressure(id, f.pressure, texts)
	case f.one.name != "":
		return p.cgroupNumber(id, f.one, texts)
	case base == "cpu.max":
		return cgroupQuota(id, texts)
	case f.keys == nil:
		p.say("not used")
		return nil
	}
	var list []Value
	refaults, seen := 0.0, false
	for _, text := range texts {
		key, word, _ := strings.Cut(text, " ")
		k, known := f.keys[key]
		v, err := strconv.ParseUint(word, 10, 64)
		switch {
		case !known:
		case err != nil:
			p.note(0, "%s: %q is no number", key, shorten(word))
		case k.name == refaulted.name:
			refaults, seen = refaults+float64(v), true
		default:
			list = append(list, k.value(id, float64(v)))
			if v > 0 && k.telling {
				p.say("%s %d since the cgroup was made", key, v)
			}
		}
	}
	if seen {
		list = append(list, refaulted.value(id, refaults))
	}
	return list
}

// cgroupNumber reads a file of one number. "max" and what is as good as no limit
// say nothing.
func (p *Part) cgroupNumber(id string, k cgroupKey, texts []string) []Value {
	v, err := strconv.ParseUint(texts[0], 10, 64)
	if err != nil || v > 1<<62 {
		p.say("%s: no limit", texts[0])
		return nil
	}
	p.say("%d", v)
	return []Value{k.value(id, float64(v))}
}

// cgroupQuota reads "200000 100000" or "max 100000", in microseconds.
func cgroupQuota(id string, texts []string) []Value {
	words := strings.Fields(texts[0])
	if len(words) != 2 {
		return nil
	}
	quota, err := strconv.ParseUint(words[0], 10, 32)
	period, err2 := strconv.ParseUint(words[1], 10, 32)
	if err != nil || err2 != nil {
		return nil
	}
	return []Value{
		cgroupKey{name: "container_spec_cpu_quota", kind: Gauge, scale: 1}.value(id, float64(quota)),
		cgroupKey{name: "container_spec_cpu_period", kind: Gauge, scale: 1}.value(id, float64(period)),
	}
}

// cgroupPressure reads a group's own PSI.
func (p *Part) cgroupPressure(id, what string, texts []string) []Value {
	var list []Value
	for _, text := range texts {
		name := "container_pressure_" + what + "_waiting_seconds_total"
		if strings.HasPrefix(text, "full ") {
			name = "container_pressure_" + what + "_stalled_seconds_total"
		}
		p.say("%s", psiWords(text))
		if total, ok := psiTotal(text); ok && id != "/" {
			list = append(list, cgroupKey{name: name, kind: Total, scale: 1e-6}.value(id, total))
		}
	}
	return list
}
