package host

import (
	"bytes"

	"stallmark/collectors"
	"stallmark/storage/model"
)

// cpuModes are the columns of a CPU's line in /proc/stat. The kernel counts the
// time of guests in user as well, and in guest_nice and nice: here each second
// is in one mode only, and guest has both.
var cpuModes = [...]string{"user", "nice", "system", "idle", "iowait", "irq", "softirq", "steal", "guest"}

// Columns of the line with a meaning for others.
const (
	columnUser      = 0
	columnNice      = 1
	columnGuest     = 8
	columnGuestNice = 9
	cpuColumns      = 10
)

// jitter is how far, in seconds, a CPU counter may step back without having
// restarted: iowait and idle do so (proc(5)). A rate would take the step for a
// restart and add the whole counter, so the highest value is held.
const jitter = 3

// stat reads /proc/stat.
type stat struct {
	file
	ticks   float64
	cpus    presence[cpu]
	online  *model.Series
	singles map[string]*model.Series
}

type cpu struct {
	series [len(cpuModes)]*model.Series
	last   [len(cpuModes)]float64 // seconds
}

func newStat(c Config) *stat {
	return &stat{
		file:   file{name: "proc/stat"},
		ticks:  float64(c.ClockTicks),
		cpus:   newPresence[cpu]("cpu"),
		online: model.NewSeries("stallmark_cpus_online"),
		singles: map[string]*model.Series{
			"ctxt":          model.NewSeries("node_context_switches_total"),
			"intr":          model.NewSeries("node_intr_total"),
			"processes":     model.NewSeries("node_forks_total"),
			"procs_running": model.NewSeries("node_procs_running"),
			"procs_blocked": model.NewSeries("node_procs_blocked"),
			"btime":         model.NewSeries("node_boot_time_seconds"),
		},
	}
}

// Name implements [collectors.Source].
func (*stat) Name() string { return "stat" }

// Provides implements [collectors.Source].
func (*stat) Provides() []string {
	return []string{
		"node_cpu_", "node_context_switches_total", "node_intr_total", "node_forks_total", "node_procs_",
		"node_boot_time_seconds", "stallmark_cpus_online",
	}
}

// Collect implements [collectors.Source].
func (s *stat) Collect(root collectors.Root, out *collectors.Out) error {
	data, err := s.read(root)
	if err != nil {
		return err
	}
	l := readLines(s.name, data)
	online := 0
	for line, ok := l.next(); ok; line, ok = l.next() {
		key, rest := cutField(line)
		if number, isCPU := bytes.CutPrefix(key, []byte("cpu")); isCPU {
			if len(number) > 0 && !s.addCPU(out, number, rest) {
				l.fault("cpu, its number and at least 4 numbers")
			} else if len(number) > 0 {
				online++
			}
			continue
		}
		series := s.singles[string(key)]
		if series == nil {
			continue
		}
		value, _, ok := cutUint(rest)
		if !ok {
			l.fault("a number after the key")
			continue
		}
		out.Add(series, float64(value))
	}
	if online > 0 {
		out.Add(s.online, float64(online))
	}
	if l.faults.count == 0 {
		s.cpus.sweep(out)
	}
	return l.err(len(out.Samples()) > 0)
}

// addCPU puts the modes that the line has: 4 of them at least, 8 from 2.6.11
// on. Guest time has a series once there is some.
func (s *stat) addCPU(out *collectors.Out, number, rest []byte) bool {
	if _, ok := parseUint(number); !ok {
		return false
	}
	var ticks [cpuColumns]uint64
	n := 0
	for ok := true; n < len(ticks); n++ {
		if ticks[n], rest, ok = cutUint(rest); !ok {
			break
		}
	}
	if n < 4 {
		return false
	}
	ticks[columnUser] -= min(ticks[columnUser], ticks[columnGuest])
	ticks[columnNice] -= min(ticks[columnNice], ticks[columnGuestNice])
	ticks[columnGuest] += ticks[columnGuestNice]
	if n = min(n, len(cpuModes)); ticks[columnGuest] == 0 {
		n = min(n, columnGuest)
	}
	c := s.cpus.see(number)
	if c == nil {
		c = s.cpus.add(string(number), newCPU(string(number)), out)
	}
	for i, t := range ticks[:n] {
		v := float64(t) / s.ticks
		if back := c.last[i] - v; back <= 0 || back > jitter {
			c.last[i] = v
		}
		out.Add(c.series[i], c.last[i])
	}
	return true
}

func newCPU(number string) cpu {
	var c cpu
	for i, mode := range cpuModes {
		c.series[i] = model.NewSeries("node_cpu_seconds_total", "cpu", number, "mode", mode)
	}
	return c
}
