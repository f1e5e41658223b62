package pasted

import (
	"regexp"
	"strings"
)

var (
	sysctlLine = regexp.MustCompile(`^\s*((?:vm|kernel|fs)\.[a-z0-9_./-]+) ?= ?(.{0,200})$`)
	loadLine   = regexp.MustCompile(`^\s*(?:[0-9]{2}:[0-9]{2}:[0-9]{2}|[0-9]{1,2}:[0-9]{2}(?:am|pm)?) up .*load averages?: ([0-9.,]+), ([0-9.,]+), ([0-9.,]+)`)
)

// readSysctl reads the output of "sysctl -a" and the lines of a sysctl.conf: each
// is a file of /proc/sys.
func readSysctl(r *reading, list []line) (*Part, int) {
	n := run(list, sysctlLine)
	if n == 0 {
		return nil, 0
	}
	p := &Part{Format: "sysctl"}
	var names []string
	for _, l := range list[:n] {
		m := sysctlLine.FindStringSubmatch(l.text)
		path := "proc/sys/" + strings.ReplaceAll(m[1], ".", "/")
		p.Files = append(p.Files, File{Line: l.no, At: r.at, Path: path, Data: []byte(strings.TrimSpace(m[2]) + "\n")})
		if name, ok := strings.CutPrefix(m[1], "vm.dirty_"); ok {
			if v, ok := number(strings.TrimSpace(m[2])); ok {
				if r.limits == nil {
					r.limits = map[string]float64{}
				}
				r.limits[name] = v
			}
		}
		names = append(names, m[1]+" = "+strings.TrimSpace(m[2]))
	}
	if n <= 12 {
		p.say("%s", strings.Join(names, ", "))
	} else {
		p.say("%d settings of the kernel", n)
	}
	return p, n
}
