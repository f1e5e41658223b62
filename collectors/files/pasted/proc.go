package pasted

import (
	"cmp"
	"regexp"
	"strings"
	"time"
)

// Files of /proc are taken whole: the sources that read them on a live host
// read them here.

var (
	meminfoLine = regexp.MustCompile(`^\s*[A-Z][A-Za-z0-9_()]*:\s+[0-9]+(?: kB)?\s*$`)
	vmstatLine  = regexp.MustCompile(`^\s*[a-z][a-z0-9_]* [0-9]+\s*$`)
	grepLine    = regexp.MustCompile(`^\s*/(proc/[\w./-]+|sys/(?:[\w./@\\,:-]+/)?[\w.@\\,-]+):(.*)$`)
	irqLine     = regexp.MustCompile(`^\s*[A-Z0-9]+:(?:\s+[0-9]+)+(?:\s+\S.*)?$`)
)

// once is how many of the first n lines are one copy of a file: its first key again
// begins another.
func once(list []line, n int) int {
	for i := 1; i < n; i++ {
		if list[i].fields()[0] == list[0].fields()[0] {
			return i
		}
	}
	return n
}

// run counts the leading lines that match.
func run(list []line, pattern *regexp.Regexp) int {
	n := 0
	for n < len(list) && pattern.MatchString(list[n].text) {
		n++
	}
	return n
}

// file makes a part of the first n lines, trimmed on the left.
func (r *reading) file(format, path string, list []line, n int) *Part {
	var b strings.Builder
	for _, l := range list[:n] {
		b.WriteString(strings.TrimSpace(l.text))
		b.WriteByte('\n')
	}
	return &Part{Format: format, Files: []File{{Line: list[0].no, At: r.at, After: r.after(), Path: path, Data: []byte(b.String())}}}
}

// readMeminfo reads /proc/meminfo, whole or in part.
func readMeminfo(r *reading, list []line) (*Part, int) {
	n := once(list, run(list, meminfoLine))
	if n < 3 || !hasKey(list[:n], "MemTotal:", "MemFree:", "MemAvailable:", "Dirty:", "Cached:") {
		return nil, 0
	}
	p := r.file("meminfo", "proc/meminfo", list, n)
	p.say("%d lines of /proc/meminfo", n)
	p.signShortage(list[0].no, meminfoShortage(p.Files[0].Data))
	r.meminfo = p
	if !hasKey(list[:n], "MemTotal:") {
		p.note(list[0].no, "a part of the file only: MemTotal is not in it")
	}
	return p, n
}

// hasKey reports whether one of the lines begins with one of the keys.
func hasKey(list []line, keys ...string) bool {
	for _, l := range list {
		words := l.fields()
		for _, k := range keys {
			if len(words) > 0 && words[0] == k {
				return true
			}
		}
	}
	return false
}

// readVmstatFile reads /proc/vmstat, whole or what grep left of it.
func readVmstatFile(r *reading, list []line) (*Part, int) {
	n := once(list, run(list, vmstatLine))
	if n == 0 || r.path != "proc/vmstat" && !(n >= 3 && hasPrefix(list[:n], "nr_", "pg", "allocstall", "compact_", "thp_", "workingset_", "numa_", "pswp")) {
		return nil, 0
	}
	p := r.file("vmstat file", "proc/vmstat", list, n)
	p.say("%d counters of /proc/vmstat", n)
	return p, n
}

// hasPrefix reports whether more than half of the lines begin with one of these.
func hasPrefix(list []line, prefixes ...string) bool {
	hits := 0
	for _, l := range list {
		text := strings.TrimSpace(l.text)
		for _, p := range prefixes {
			if strings.HasPrefix(text, p) {
				hits++
				break
			}
		}
	}
	return 2*hits > len(list)
}

// readInterrupts reads /proc/interrupts: a heading of CPUs, then a row a kind.
func readInterrupts(r *reading, list []line) (*Part, int) {
	words := list[0].fields()
	if len(words) == 0 || words[0] != "CPU0" {
		return nil, 0
	}
	n := 1 + run(list[1:], irqLine)
	if n == 1 {
		return nil, 0
	}
	p := &Part{Format: "interrupts"}
	var b strings.Builder
	for _, l := range list[:n] {
		b.WriteString(l.text)
		b.WriteByte('\n')
	}
	p.Files = []File{{Line: list[0].no, At: r.at, After: r.after(), Path: "proc/interrupts", Data: []byte(b.String())}}
	p.say("/proc/interrupts of %d CPUs", len(words))
	return p, n
}

// readGrepped reads the output of "grep -H . FILES" and "grep . FILES": each
// line under the name of its file.
func readGrepped(r *reading, list []line) (*Part, int) {
	p := &Part{Format: "files"}
	n := 0
	byPath := map[string]int{}
	for n < len(list) {
		m := grepLine.FindStringSubmatch(list[n].text)
		if m == nil {
			break
		}
		i, ok := byPath[m[1]]
		if !ok {
			i = len(p.Files)
			byPath[m[1]] = i
			p.Files = append(p.Files, File{Line: list[n].no, At: r.at, Path: m[1]})
		}
		p.Files[i].Data = append(append(p.Files[i].Data, m[2]...), '\n')
		n++
	}
	if n == 0 {
		return nil, 0
	}
	r.sortGrepped(p)
	return p, n
}

// sortGrepped turns files of cgroups and of threads into what they say, and names
// the others.
func (r *reading) sortGrepped(p *Part) {
	var kept []File
	row := Row{At: r.at}
	for _, f := range p.Files {
		rows := strings.Split(strings.TrimSuffix(string(f.Data), "\n"), "\n")
		if id, base, ok := cgroupFile(f.Path); ok {
			row.Line = cmp.Or(row.Line, f.Line)
			p.say("%s of %s", base, shorten(id))
			r.takeMemory(p, f.Line, id, base, rows)
			row.Values = append(row.Values, r.cgroupValues(p, id, base, rows)...)
			continue
		}
		if threadFile.MatchString(f.Path) {
			r.waitOf(p, f.Path, f.Data)
			continue
		}
		p.say("/%s", f.Path)
		kept = append(kept, f)
	}
	p.Files = kept
	if len(row.Values) > 0 {
		p.Rows = append(p.Rows, row)
	}
}

// wholeFile reads a text whose file name is a path below /proc or /sys as that
// file: a copy of /proc.
func wholeFile(name string, data []byte, o Options) *Part {
	path := procPath(name)
	if path == "" || len(data) > 1<<20 {
		return nil
	}
	n := strings.Count(string(data), "\n")
	if len(data) > 0 && data[len(data)-1] != '\n' {
		n++
	}
	return &Part{
		Format: "file", From: 1, To: max(n, 1), Says: []string{"/" + path}, Files: []File{{Line: 1, At: time.Time{}, Path: path, Data: data}},
	}
}

var procName = regexp.MustCompile(`(?:^|/)(proc/(?:vmstat|meminfo|diskstats|stat|loadavg|interrupts|softirqs|swaps|zoneinfo|buddyinfo|mounts|pressure/(?:cpu|io|memory)|sys/vm/\w+|self/mountinfo))$`)

// procPath is the path below the root that a file's name ends in, if it is one
// that a source reads.
func procPath(name string) string {
	if m := procName.FindStringSubmatch(strings.ReplaceAll(name, `\`, "/")); m != nil {
		return m[1]
	}
	return ""
}
