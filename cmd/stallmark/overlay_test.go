package main

import (
	"slices"
	"strconv"
	"strings"
)

// beside lets what another recording has happen at the same time, from a beat
// on: its traffic, its waiting, its CPU time and its processes are added. Levels
// (memory, dirty pages, settings) stay those of the first recording, since two
// machines' levels do not add up.
func (tp tape) beside(other tape, from int) tape {
	zero := other.frames[0].files
	for i := range other.frames {
		at := from + i
		if at >= len(tp.frames) {
			break
		}
		f, noise := tp.frames[at].files, other.frames[i].files
		for name, text := range noise {
			_, mine := f[name]
			switch {
			case strings.HasPrefix(name, "proc/pressure/"), name == "proc/stat", name == "proc/meminfo", name == "proc/zoneinfo":
			case mine && counterIn(name) != nil:
				f[name] = carryOn(f[name], zeros(zero[name]), carryOn(text, zero[name], zeros(text), counterIn(name)), counterIn(name))
			case !mine && !strings.HasPrefix(name, "proc/sys/"):
				f[name] = text
			}
		}
	}
	for _, what := range []string{"cpu", "io", "memory"} {
		tp.waitTogether("proc/pressure/"+what, other, from)
	}
	tp.workTogether(other, from)
	return tp
}

// zeros is the text with all its numbers 0.
func zeros(text string) string {
	return mapNumbers(text, func(int, int, []string, int64) int64 { return 0 })
}

// waitTogether adds up two shares of time in which somebody waited, as if they
// were independent: a + b - ab.
func (tp tape) waitTogether(name string, other tape, from int) {
	before := make([]string, len(tp.frames))
	for i, f := range tp.frames {
		before[i] = f.files[name]
	}
	more := []int64{0, 0} // by row
	tp.edit(name, func(beat int, text string) string {
		i := beat - from
		return mapNumbers(text, func(row, column int, _ []string, v int64) int64 {
			if column != 4 || row >= len(more) {
				return v
			}
			if i > 0 && i < len(other.frames) {
				us := float64(tp.frames[beat].at.Sub(tp.frames[beat-1].at).Microseconds())
				a := float64(v-numbersOf(before[beat-1])[row][4]) / us
				b := float64(numbersOf(other.frames[i].files[name])[row][4]-numbersOf(other.frames[i-1].files[name])[row][4]) / us
				more[row] += int64(max(0, b-a*b) * us)
			}
			return v + more[row]
		})
	})
}

// workTogether adds up CPU time, as far as there is any, and tasks.
func (tp tape) workTogether(other tape, from int) {
	const name, idle, iowait = "proc/stat", 4, 5
	zero := numbersOf(other.frames[0].files[name])
	tp.edit(name, func(beat int, text string) string {
		i := min(beat-from, len(other.frames)-1)
		if i < 1 {
			return text
		}
		now := numbersOf(other.frames[i].files[name])
		busy := func(row int) (sum int64) {
			for c := 1; c < len(now[row]); c++ {
				if c != idle && c != iowait {
					sum += now[row][c] - zero[row][c]
				}
			}
			return sum
		}
		return mapNumbers(text, func(row, column int, line []string, v int64) int64 {
			switch {
			case !strings.HasPrefix(line[0], "cpu"):
				if beat-from == i && slices.Contains([]string{"procs_running", "procs_blocked"}, line[0]) {
					return v + now[row][column]
				}
				return v
			case column == idle:
				first := numbersOf(tp.frames[from].files[name])[row][idle]
				return max(first, v-busy(row))
			case column == iowait:
				return v
			}
			return v + now[row][column] - zero[row][column]
		})
	})
}

// renumbered gives the recorded process another number, so that two recordings
// of one victim are two processes.
func (tp tape) renumbered(from, to int) tape {
	old, next := strconv.Itoa(from), strconv.Itoa(to)
	for _, f := range tp.frames {
		for name, text := range f.files {
			if rest, ok := strings.CutPrefix(name, "proc/"+old+"/"); ok {
				delete(f.files, name)
				f.files["proc/"+next+"/"+rest] = text
			}
		}
	}
	return tp
}

// regrouped moves a cgroup, so that two recordings can have one each.
func (tp tape) regrouped(from, to string) tape {
	for _, f := range tp.frames {
		for name, text := range f.files {
			switch {
			case strings.HasPrefix(name, "sys/fs/cgroup/") && strings.Contains(name, from+"/"):
				delete(f.files, name)
				f.files[strings.Replace(name, from+"/", to+"/", 1)] = text
			case strings.HasSuffix(name, "/cgroup"):
				f.files[name] = strings.ReplaceAll(text, from+"\n", to+"\n")
			}
		}
	}
	return tp
}
