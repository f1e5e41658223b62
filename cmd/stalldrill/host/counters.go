package host

import (
	"path"
	"path/filepath"
	"strconv"
	"strings"
)

// Counters are numbers of the kernel under one name each. What a kernel does
// not have is not in the map.
type Counters map[string]float64

// Scope says whose numbers are read beside the machine's.
type Scope struct {
	Pid    int    // the victim; 0 for none
	Device string // major:minor of the disk
	Group  string // folder of a control group; empty for none
}

// ReadCounters reads vmstat under its own names; psi.io.some and others in
// seconds; interrupts.TLB; disk.* of one device; victim.* of one process;
// group.* of one control group.
func (h Host) ReadCounters(s Scope) Counters {
	c := Counters{}
	c.pairs("", filepath.Join(h.Proc, "vmstat"))
	for _, kind := range []string{"cpu", "io", "memory"} {
		c.pressure("psi."+kind, filepath.Join(h.Proc, "pressure", kind))
	}
	c.interrupts(filepath.Join(h.Proc, "interrupts"))
	c.disk(filepath.Join(h.Proc, "diskstats"), s.Device)
	if s.Pid > 0 {
		c.victim(h, s.Pid)
	}
	if s.Group != "" {
		c.group(s.Group)
	}
	return c
}

// group reads a control group of either version: group.nr_throttled, and
// group.limit_hits, how often the memory limit was met.
func (c Counters) group(dir string) {
	c.pairs("group.", filepath.Join(dir, "cpu.stat"))
	c.pairs("group.event_", filepath.Join(dir, "memory.events"))
	if v, ok := c["group.event_max"]; ok {
		c["group.limit_hits"] = v
	}
	if v, err := Read(filepath.Join(dir, "memory.failcnt")); err == nil {
		c.number("group.limit_hits", v, 1)
	}
}

func (c Counters) number(name, text string, unit float64) {
	if v, err := strconv.ParseFloat(text, 64); err == nil {
		c[name] = v * unit
	}
}

// pairs reads rows of a name and a number; a colon after the name is dropped.
func (c Counters) pairs(prefix, file string) {
	text, _ := Read(file)
	for line := range strings.Lines(text) {
		if w := strings.Fields(line); len(w) >= 2 {
			c.number(prefix+strings.TrimSuffix(w[0], ":"), w[1], 1)
		}
	}
}

// pressure reads the total of "some", microseconds in the file.
func (c Counters) pressure(name, file string) {
	text, _ := Read(file)
	for line := range strings.Lines(text) {
		kind, rest, _ := strings.Cut(strings.TrimSpace(line), " ")
		if _, total, ok := strings.Cut(rest, "total="); ok && kind == "some" {
			c.number(name+".some", total, 1e-6)
		}
	}
}

// interrupts sums the row of shootdowns over the CPUs.
func (c Counters) interrupts(file string) {
	text, _ := Read(file)
	for line := range strings.Lines(text) {
		w := strings.Fields(line)
		if len(w) < 2 || w[0] != "TLB:" {
			continue
		}
		for _, n := range w[1:] {
			if v, err := strconv.ParseFloat(n, 64); err == nil {
				c["interrupts.TLB"] += v
			}
		}
	}
}

// disk reads the row of one device: requests, sectors, the weighted time, and
// flushes where the kernel counts them (5.5).
func (c Counters) disk(file, device string) {
	text, _ := Read(file)
	for line := range strings.Lines(text) {
		w := strings.Fields(line)
		if len(w) < 14 || w[0]+":"+w[1] != device {
			continue
		}
		c.number("disk.reads", w[3], 1)
		c.number("disk.read_bytes", w[5], 512)
		c.number("disk.writes", w[7], 1)
		c.number("disk.written_bytes", w[9], 512)
		c.number("disk.queue_seconds", w[13], 1e-3)
		if len(w) >= 20 {
			c.number("disk.flushes", w[18], 1)
		}
	}
}

func (c Counters) victim(h Host, pid int) {
	c.pairs("victim.", h.Process(pid, "io"))
	if st, err := h.ReadStat(pid); err == nil {
		c["victim.major_faults"] = float64(st.Major)
	}
	text, _ := Read(h.Process(pid, "status"))
	for line := range strings.Lines(text) {
		if w := strings.Fields(line); len(w) == 3 && w[0] == "RssFile:" {
			c.number("victim.rss_file_bytes", w[1], 1024)
		}
	}
}

// Growth is how much a counter grew from one reading to another. A pattern as
// "allocstall*" stands for the sum of all counters that it fits: kernels split
// some by zone. The second result is false where either reading has none.
func Growth(from, to Counters, pattern string) (float64, bool) {
	sum, found := 0.0, false
	for key, b := range to {
		if fits, _ := path.Match(pattern, key); !fits {
			continue
		}
		if a, ok := from[key]; ok {
			sum, found = sum+b-a, true
		}
	}
	return sum, found
}
