package pasted

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
)

// growing are the counters of /proc/vmstat that tell of waiting, by the beginnings
// of their names, which the kernel has one for each zone.
var growing = []struct{ name, words string }{
	{"allocstall", "times that a thread had to free memory before it got any"},
	{"pgscan_direct", "pages that threads looked at to free some"},
	{"pgscan_kswapd", "pages that kswapd looked at to free some"},
	{"pgmajfault", "page faults that waited for a disk or for swap"},
	{"pswpin", "pages that came back from swap"},
	{"pswpout", "pages written to swap"},
	{"workingset_refault", "pages that had been evicted and were read again"},
	{"compact_stall", "times that a thread had to compact memory"},
	{"oom_kill", "processes killed for want of memory"},
}

// signGrowth compares copies of one file that have no times: how fast something
// grew is not known, that it did is.
func (t *Text) signGrowth() {
	before := map[string]map[string]float64{}
	for _, p := range t.Parts {
		for path, now := range counters(p) {
			if last := before[path]; last != nil {
				p.grow(path, last, now)
			}
			before[path] = now
		}
	}
}

// counters are those of a part that has no time, by the file or the cgroup.
func counters(p *Part) map[string]map[string]float64 {
	all := map[string]map[string]float64{}
	for _, f := range p.Files {
		if f.Path == "proc/vmstat" && f.At.IsZero() && f.After == 0 {
			all[f.Path] = vmstatCounters(string(f.Data))
		}
	}
	for _, row := range p.Rows {
		for _, v := range row.Values {
			if v.Kind != Total || !row.At.IsZero() || p.Format != "cgroup" && p.Format != "files" && p.Format != "process" {
				continue
			}
			id := v.Series.Get("id") + v.Series.Get("pid")
			if all[id] == nil {
				all[id] = map[string]float64{}
			}
			all[id][counterName(v)] = v.V
		}
	}
	return all
}

// counterName is what a counter is called in a sentence.
func counterName(v Value) string {
	name := v.Series.Name
	if words := map[string]string{
		"container_memory_events_total": "memory.events", "container_fs_reads_bytes_total": "bytes read from",
		"container_fs_writes_bytes_total": "bytes written to", "stallmark_process_major_faults_total": "majflt",
		"stallmark_process_io_delay_ticks_total": "delayacct_blkio_ticks", "container_memory_failcnt": "memory.failcnt",
		"container_cpu_cfs_throttled_periods_total": "nr_throttled", "container_cpu_cfs_periods_total": "nr_periods",
	}[name]; words != "" {
		name = words
	}
	return strings.TrimSpace(name + " " + v.Series.Get("event") + v.Series.Get("device"))
}

// vmstatCounters are the telling counters, their zones added up.
func vmstatCounters(data string) map[string]float64 {
	m := map[string]float64{}
	for line := range strings.Lines(data) {
		words := strings.Fields(line)
		if len(words) != 2 {
			continue
		}
		v, err := strconv.ParseFloat(words[1], 64)
		for _, g := range growing {
			if err == nil && v < 1e18 && strings.HasPrefix(words[0], g.name) && !strings.Contains(words[0], "throttle") {
				m[g.name] += v
			}
		}
	}
	return m
}

// grow says by how much counters grew since the copy before. A counter that went
// back is another host's, or of before a restart: then nothing is said.
func (p *Part) grow(what string, before, now map[string]float64) {
	line := p.From
	var told []string
	for _, name := range slices.Sorted(maps.Keys(now)) {
		old, known := before[name]
		switch by := now[name] - old; {
		case !known || by == 0:
		case by < 0:
			p.note(line, "%s went back from the copy before: they are of two hosts, or of before and after a restart", name)
			return
		default:
			p.grown(name, by)
			told = append(told, fmt.Sprintf("%s by %.0f%s", name, by, meaning(name)))
		}
	}
	if len(told) > 0 {
		p.sign(line, "since the copy before, of %s, grew %s. How fast is not known: put a line of date -u +%%FT%%TZ before each copy", shorten(what), strings.Join(told, ", "))
	}
}

// grown notes by how much something grew.
func (p *Part) grown(name string, by float64) {
	if p.Grown == nil {
		p.Grown = map[string]float64{}
	}
	p.Grown[name] += by
}

func meaning(name string) string {
	for _, g := range growing {
		if g.name == name {
			return " (" + g.words + ")"
		}
	}
	return ""
}

// SeenWaiting begins the names in [Grown] of how often a thread was seen waiting so.
const SeenWaiting = "seen "

// Grown is what may be said without knowing how long anything took: by how much
// counters grew between copies without times, and what was so at a moment.
func Grown(texts []Text) map[string]float64 {
	all := map[string]float64{}
	for _, t := range texts {
		for _, p := range t.Parts {
			for name, by := range p.Grown {
				all[name] += by
			}
			for _, e := range p.Events {
				all[SeenWaiting+e.Attrs["wait"]]++
			}
		}
	}
	return all
}
