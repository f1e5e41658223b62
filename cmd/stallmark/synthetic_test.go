package main

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// TestHandWrittenTrees has what no machine at hand could provoke, written by
// hand into a quiet recording from its twentieth beat on: cgroup version 2,
// several memory nodes, stolen CPU time, one CPU full of interrupts.
func TestHandWrittenTrees(t *testing.T) {
	var store tapes
	for name, c := range map[string]struct {
		write func(tape) tape
		want  []ruling
	}{
		"a version 2 group that meets its limit": {groupAtLimit(600), []ruling{
			{sig: "memcg-reclaim", sure: likely, layer: cause, severity: critical, from: 20, to: still},
		}},
		"a version 2 group that meets it now and then": {groupAtLimit(2), nil},
		"one node reclaims while the other is free": {nodes(1, 200), []ruling{
			{sig: "numa-zone-reclaim", sure: likely, layer: cause, severity: warning, from: 20, to: still},
		}},
		"two nodes and the mode off": {nodes(0, 0), nil},
		"the hypervisor takes a quarter of the time": {movedTime(8, 50, "cpu"), []ruling{
			{sig: "cpu-steal", sure: likely, layer: cause, severity: warning, from: 20, to: still},
		}},
		"the hypervisor takes a hundredth": {movedTime(8, 1, "cpu"), nil},
		"one CPU full of softirqs": {movedTime(7, 96, "cpu1"), []ruling{
			{sig: "softirq-saturation", sure: possible, layer: cause, severity: warning, from: 20, to: still},
		}},
		"half a CPU of softirqs": {movedTime(7, 40, "cpu1"), nil},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r, _ := c.write(store.of(t, "m_idle")).diagnose(t)
			judge{tolerance: 4}.compare(t, r, c.want)
		})
	}
}

// written is the beat from which on something is written into a recording.
const written = 20

// groupAtLimit puts the victim into a version 2 group of 300 MiB that meets its
// limit so many times a second.
func groupAtLimit(rate int) func(tape) tape {
	return func(tp tape) tape {
		for i, f := range tp.frames {
			n := max(0, i-written) * rate
			dir := "sys/fs/cgroup/broker/memory."
			f.files[dir+"current"] = "314500000\n"
			f.files[dir+"max"] = "314572800\n"
			f.files[dir+"events"] = fmt.Sprintf("low 0\nhigh 0\nmax %d\noom 0\noom_kill 0\n", n)
			f.files[dir+"stat"] = fmt.Sprintf("anon 100000000\nfile 200000000\nworkingset_refault_file %d\n", n*50)
			f.files["sys/fs/cgroup/cgroup.controllers"] = "cpu io memory pids\n"
		}
		return tp.editAll(func(name string) bool { return strings.HasSuffix(name, "/cgroup") }, func(string, string) string { return "0::/broker\n" })
	}
}

// nodes adds a second memory node, whose memory is free, and so many attempts a
// second to reclaim the first one.
func nodes(mode, rate int) func(tape) tape {
	return func(tp tape) tape {
		for _, f := range tp.frames {
			f.files["proc/sys/vm/zone_reclaim_mode"] = strconv.Itoa(mode) + "\n"
		}
		tp.edit("proc/zoneinfo", func(_ int, text string) string {
			full := eachLine(text, func(line string) string {
				if f := strings.Fields(line); len(f) == 3 && f[0] == "pages" && f[1] == "free" {
					return "  pages free     20000"
				}
				return line
			})
			return full + strings.ReplaceAll(text, "Node 0,", "Node 1,")
		})
		return tp.edit("proc/vmstat", func(beat int, text string) string {
			return eachField(text, func(key, v string) string {
				if key == "zone_reclaim_failed" {
					return strconv.Itoa(max(0, beat-written) * rate)
				}
				return v
			})
		})
	}
}

// movedTime moves idle ticks to another column of /proc/stat (7 softirq, 8 steal),
// of all CPUs or of one.
func movedTime(column, ticks int, which string) func(tape) tape {
	return func(tp tape) tape {
		return tp.edit("proc/stat", func(beat int, text string) string {
			return eachLine(text, func(line string) string {
				f := strings.Fields(line)
				if !strings.HasPrefix(f[0], which) {
					return line
				}
				moved := int64(max(0, beat-written) * ticks)
				if f[0] == "cpu" {
					moved *= 2
				}
				f = slices.Clone(f)
				f[column] = strconv.FormatInt(number(f[column])+moved, 10)
				f[4] = strconv.FormatInt(number(f[4])-moved, 10)
				return strings.Join(f, " ")
			})
		})
	}
}
