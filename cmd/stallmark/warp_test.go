package main

import (
	"fmt"
	"maps"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
)

// pageKeys are the fields of /proc/vmstat that count pages (pgpg*: KiB); the
// others count calls.
var pageKeys = regexp.MustCompile(`^(nr_|workingset_(refault|activate|restore)|pgalloc|pgfree|pgscan|pgsteal|pgactivate|pgdeactivate|pgrefill|pgskip|pglazyfree|pgmigrate|pswp|zswp|pgpg|pgrotated)`)

// scale makes a machine with as many times the memory and as fast a disk in
// bytes: what is counted in pages, sectors and bytes is multiplied everywhere,
// what counts calls, requests and time stays.
func scale(k float64) func(tape) tape {
	by := func(s string) string {
		v, err := strconv.ParseFloat(s, 64)
		if err != nil || v > 1<<60 { // "no limit" of a cgroup
			return s
		}
		return strconv.FormatInt(int64(math.Round(v*k)), 10)
	}
	return func(tp tape) tape {
		tp.edit("proc/vmstat", func(_ int, text string) string {
			return eachField(text, func(key, v string) string {
				if pageKeys.MatchString(key) {
					return by(v)
				}
				return v
			})
		})
		tp.edit("proc/diskstats", func(_ int, text string) string { return scaleColumns(text, by, 5, 9) })
		tp.edit("proc/meminfo", func(_ int, text string) string { return scaleKB(text, by) })
		tp.edit("proc/zoneinfo", func(_ int, text string) string { return scaleZones(text, by) })
		tp.editAll(isStatus, func(_, text string) string { return scaleKB(text, by) })
		tp.editAll(func(n string) bool {
			return strings.HasSuffix(n, "/io") && strings.HasPrefix(n, "proc/") && !strings.Contains(n, "pressure")
		},
			func(_, text string) string {
				return eachField(text, func(_, v string) string { return by(v) })
			})
		tp.editAll(func(n string) bool { return strings.Contains(n, "/memory.") }, func(name, text string) string {
			if strings.HasSuffix(name, "failcnt") {
				return text
			}
			if !strings.Contains(strings.TrimSpace(text), " ") {
				return by(strings.TrimSpace(text)) + "\n"
			}
			return eachField(text, func(_, v string) string { return by(v) })
		})
		return tp
	}
}

func isStatus(name string) bool {
	return strings.HasPrefix(name, "proc/") && strings.HasSuffix(name, "/status")
}

// eachField rewrites the values of "key value" and "key: value" lines.
func eachField(text string, change func(key, value string) string) string {
	return eachLine(text, func(line string) string {
		f := strings.Fields(line)
		if len(f) != 2 {
			return line
		}
		return f[0] + " " + change(strings.TrimSuffix(f[0], ":"), f[1])
	})
}

// scaleKB rewrites the values of lines that end in kB.
func scaleKB(text string, by func(string) string) string {
	return eachLine(text, func(line string) string {
		f := strings.Fields(line)
		if len(f) != 3 || f[2] != "kB" {
			return line
		}
		return fmt.Sprintf("%s %s kB", f[0], by(f[1]))
	})
}

// scaleColumns rewrites columns of a table.
func scaleColumns(text string, by func(string) string, columns ...int) string {
	return eachLine(text, func(line string) string {
		f := strings.Fields(line)
		for _, c := range columns {
			if c < len(f) {
				f[c] = by(f[c])
			}
		}
		return strings.Join(f, " ")
	})
}

// scaleZones rewrites the page counts of /proc/zoneinfo.
func scaleZones(text string, by func(string) string) string {
	return eachLine(text, func(line string) string {
		f := strings.Fields(line)
		switch {
		case len(f) == 2 && (pageKeys.MatchString(f[0]) || slices.Contains([]string{"min", "low", "high", "spanned", "present", "managed"}, f[0])):
			return "        " + f[0] + " " + by(f[1])
		case len(f) == 3 && f[0] == "pages" && f[1] == "free":
			return "  pages free     " + by(f[2])
		}
		return line
	})
}

// largePages is the same machine with pages of 64 KiB: page counts are a
// sixteenth, bytes as before.
func largePages(tp tape) tape {
	by := func(s string) string {
		v, err := strconv.ParseInt(s, 10, 64)
		if err != nil {
			return s
		}
		return strconv.FormatInt(v/16, 10)
	}
	tp.meta.PageSize = 65536
	tp.edit("proc/vmstat", func(_ int, text string) string {
		return eachField(text, func(key, v string) string {
			if pageKeys.MatchString(key) && !strings.HasPrefix(key, "pgpg") {
				return by(v)
			}
			return v
		})
	})
	return tp.edit("proc/zoneinfo", func(_ int, text string) string { return scaleZones(text, by) })
}

// restarted sets all counters of the machine back to 0 in the middle.
func restarted(tp tape) tape {
	middle := len(tp.frames) / 2
	zero := tp.frames[middle].files
	for name := range zero {
		counts := counterIn(name)
		if counts == nil {
			continue
		}
		base := numbersOf(zero[name])
		tp.edit(name, func(beat int, text string) string {
			if beat < middle {
				return text
			}
			return mapNumbers(text, func(row, column int, line []string, v int64) int64 {
				if counts(line, column) && row < len(base) && column < len(base[row]) {
					return max(0, v-base[row][column])
				}
				return v
			})
		})
	}
	return tp
}

// counterIn says which numbers of one of the machine's files are counters; nil
// if the file has none.
func counterIn(name string) func(line []string, column int) bool {
	switch {
	case name == "proc/vmstat":
		return func(line []string, _ int) bool { return !strings.HasPrefix(line[0], "nr_") || isFlow(line[0]) }
	case name == "proc/diskstats":
		return func(_ []string, c int) bool { return c >= 3 && c != 11 }
	case name == "proc/stat":
		return func(line []string, _ int) bool {
			return strings.HasPrefix(line[0], "cpu") || slices.Contains([]string{"ctxt", "processes", "intr", "softirq"}, line[0])
		}
	case name == "proc/interrupts" || name == "proc/softirqs":
		return func([]string, int) bool { return true }
	case strings.HasPrefix(name, "proc/pressure/"):
		return func(_ []string, c int) bool { return c == 4 }
	}
	return nil
}

// isFlow reports whether a field named nr_ counts on.
func isFlow(key string) bool { return key == "nr_dirtied" || key == "nr_written" }

// numbersOf are the whole numbers of a text by row and column, 0 for words.
func numbersOf(text string) [][]int64 {
	var out [][]int64
	for line := range strings.Lines(text) {
		var row []int64
		for _, f := range strings.Fields(line) {
			row = append(row, number(f))
		}
		out = append(out, row)
	}
	return out
}

// number is a field's value; "total=7" is 7.
func number(field string) int64 {
	v, _ := strconv.ParseInt(strings.TrimPrefix(field, "total="), 10, 64)
	return v
}

// mapNumbers rewrites the whole numbers of a text.
func mapNumbers(text string, change func(row, column int, line []string, v int64) int64) string {
	row := -1
	return eachLine(text, func(line string) string {
		row++
		f := strings.Fields(line)
		if len(f) == 0 {
			return line
		}
		out := slices.Clone(f)
		for c, s := range f {
			bare := strings.TrimPrefix(s, "total=")
			if v, err := strconv.ParseInt(bare, 10, 64); err == nil && c > 0 {
				out[c] = strings.TrimSuffix(s, bare) + strconv.FormatInt(change(row, c, f, v), 10)
			}
		}
		return strings.Join(out, " ")
	})
}

// moreCPUs adds CPUs that are idle.
func moreCPUs(n int) func(tape) tape {
	return func(tp tape) tape {
		tp.edit("proc/stat", func(beat int, text string) string {
			idle := int64(beat) * 100
			var lines []string
			for line := range strings.Lines(text) {
				line = strings.TrimSuffix(line, "\n")
				if f := strings.Fields(line); f[0] == "cpu" {
					f[4] = strconv.FormatInt(number(f[4])+idle*int64(n-2), 10)
					line = strings.Join(f, " ")
				}
				lines = append(lines, line)
				if strings.HasPrefix(line, "cpu1 ") {
					for c := 2; c < n; c++ {
						lines = append(lines, fmt.Sprintf("cpu%d 0 0 0 %d 0 0 0 0 0 0", c, idle))
					}
				}
			}
			return strings.Join(lines, "\n") + "\n"
		})
		for _, name := range []string{"proc/interrupts", "proc/softirqs"} {
			tp.edit(name, func(_ int, text string) string { return addColumns(text, n) })
		}
		return tp
	}
}

// addColumns gives a table by CPU columns up to n.
func addColumns(text string, n int) string {
	return eachLine(text, func(line string) string {
		f := strings.Fields(line)
		switch {
		case f[0] == "CPU0":
			for c := 2; c < n; c++ {
				f = append(f, fmt.Sprintf("CPU%d", c))
			}
			return "      " + strings.Join(f, " ")
		case len(f) < 3: // ERR and MIS have one for all
			return line
		}
		return strings.Join(slices.Concat(f[:3], slices.Repeat([]string{"0"}, n-2), f[3:]), " ")
	})
}

// renamed gives the disk another name and number.
func renamed(to string, major, minor int) func(tape) tape {
	return func(tp tape) tape {
		return tp.edit("proc/diskstats", func(_ int, text string) string {
			return eachLine(text, func(line string) string {
				f := strings.Fields(line)
				if f[2] != "vda" {
					return line
				}
				f[0], f[1], f[2] = strconv.Itoa(major), strconv.Itoa(minor), to
				return strings.Join(f, " ")
			})
		})
	}
}

// mapped puts a device mapper volume over the disk, through which all passes.
func mapped(tp tape) tape {
	for _, f := range tp.frames {
		f.files["sys/block/dm-0/slaves/vda/dev"] = "254:0\n"
		f.files["sys/block/dm-0/dev"] = "253:7\n"
		f.files["sys/block/vda/dev"] = "254:0\n"
	}
	return tp.edit("proc/diskstats", func(_ int, text string) string {
		return eachLine(text, func(line string) string {
			f := strings.Fields(line)
			if f[2] != "vda" {
				return line
			}
			f[0], f[1], f[2] = "253", "7", "dm-0"
			return line + "\n" + strings.Join(f, " ")
		})
	})
}

// withoutKeys drops fields of /proc/vmstat.
func withoutKeys(pattern string) func(tape) tape {
	drop := regexp.MustCompile(pattern)
	return func(tp tape) tape {
		return tp.edit("proc/vmstat", func(_ int, text string) string {
			return eachLine(text, func(line string) string {
				if drop.MatchString(strings.Fields(line)[0]) {
					return ""
				}
				return line
			})
		})
	}
}

// without drops the files below a prefix.
func without(prefix string) func(tape) tape {
	return func(tp tape) tape {
		return tp.keep(func(_ int, name string) bool { return !strings.HasPrefix(name, prefix) })
	}
}

// lost drops, of every ten beats, those that a recorder under pressure did not take.
func lost(beats ...int) func(tape) tape {
	return func(tp tape) tape {
		return tp.keep(func(beat int, _ string) bool { return !slices.Contains(beats, beat%10) })
	}
}

// everySecond is a recording with an interval of two seconds.
func everySecond(tp tape) tape {
	tp = lost(1, 3, 5, 7, 9)(tp)
	tp.meta.IntervalMS = 2000
	return tp
}

// then plays another recording after this one, a few seconds later, with
// counters that go on from the first one's: both were made since one start of the
// machine, and what happened between them is left out.
func (tp tape) then(next tape) tape {
	last := tp.frames[len(tp.frames)-1]
	move := last.at.Add(5 * time.Second).Sub(next.frames[0].at)
	first := maps.Clone(next.frames[0].files)
	for _, f := range next.frames {
		f.at = f.at.Add(move)
		for name, text := range f.files {
			if c := counterIn(name); c != nil && last.files[name] != "" {
				f.files[name] = carryOn(text, first[name], last.files[name], c)
			}
		}
		tp.frames = append(tp.frames, f)
	}
	return tp
}

// carryOn moves the counters of text so that the value at first becomes that at
// last. Rows are matched by their place: it is one kernel.
func carryOn(text, first, last string, counts func([]string, int) bool) string {
	from, to := numbersOf(first), numbersOf(last)
	return mapNumbers(text, func(row, column int, line []string, v int64) int64 {
		if counts(line, column) && row < min(len(from), len(to)) && column < min(len(from[row]), len(to[row])) {
			return v - from[row][column] + to[row][column]
		}
		return v
	})
}
