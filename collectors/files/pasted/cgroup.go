package pasted

import (
	"regexp"
	"strconv"
	"strings"

	"stallmark/storage/model"
)

// cgroupKeys are the files of a cgroup that are known by their keys, which no
// other file has. Units as in Documentation/admin-guide/cgroup-v2.rst (us) and
// scheduler/sched-bwc.rst (version 1, ns).
var cgroupKeys = map[string]struct {
	series *model.Series
	scale  float64
}{
	"nr_periods":     {model.NewSeries("container_cpu_cfs_periods_total", "id", "pasted"), 1},
	"nr_throttled":   {model.NewSeries("container_cpu_cfs_throttled_periods_total", "id", "pasted"), 1},
	"throttled_usec": {model.NewSeries("container_cpu_cfs_throttled_seconds_total", "id", "pasted"), 1e-6},
	"throttled_time": {model.NewSeries("container_cpu_cfs_throttled_seconds_total", "id", "pasted"), 1e-9},
	"high":           {model.NewSeries("container_memory_events_total", "event", "high", "id", "pasted"), 1},
	"max":            {model.NewSeries("container_memory_events_total", "event", "max", "id", "pasted"), 1},
	"oom":            {model.NewSeries("container_memory_events_total", "event", "oom", "id", "pasted"), 1},
	"oom_kill":       {model.NewSeries("container_memory_events_total", "event", "oom_kill", "id", "pasted"), 1},
}

var keyValue = regexp.MustCompile(`^\s*([a-z][a-z0-9_.]*) ([0-9]+)\s*$`)

// readCgroup reads cpu.stat and memory.events of either version.
func readCgroup(r *reading, list []line) (*Part, int) {
	n := run(list, keyValue)
	if n < 2 || !hasKey(list[:n], "nr_throttled") && !(hasKey(list[:n], "oom_kill") && hasKey(list[:n], "high", "oom")) {
		return nil, 0
	}
	p := &Part{Format: "cgroup"}
	row := Row{Line: list[0].no, At: r.at}
	for _, l := range list[:n] {
		m := keyValue.FindStringSubmatch(l.text)
		known, ok := cgroupKeys[m[1]]
		if !ok {
			continue
		}
		v, err := strconv.ParseUint(m[2], 10, 64)
		if err != nil {
			p.note(l.no, "%q is too large a number", shorten(m[2]))
			continue
		}
		row.Values = append(row.Values, Value{known.series, Total, float64(v) * known.scale})
		if v > 0 && (strings.HasPrefix(m[1], "nr_thr") || strings.HasPrefix(m[1], "oom") || m[1] == "max" || m[1] == "high") {
			p.say("%s %s since the cgroup was made", m[1], m[2])
		}
	}
	p.Rows = []Row{row}
	return p, n
}
