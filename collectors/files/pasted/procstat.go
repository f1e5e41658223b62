package pasted

import (
	"regexp"
	"strconv"
	"strings"

	"stallmark/storage/model"
)

// processStat is /proc/PID/stat: pid, name in brackets, state, and numbers
// (Documentation/filesystems/proc.rst, table 1-4).
var processStat = regexp.MustCompile(`^\s*([0-9]{1,10}) \((.{1,64})\) ([RSDZTtXxKWPI]) ((?:-?[0-9]+ ){20,60}-?[0-9]+)\s*$`)

// Fields of it behind the state, counted from 0.
const (
	statMajorFaults = 8  // majflt
	statIODelay     = 38 // delayacct_blkio_ticks, 0 where delays are not accounted
)

// readProcessStat reads copies of /proc/PID/stat.
func readProcessStat(r *reading, list []line) (*Part, int) {
	m := processStat.FindStringSubmatch(list[0].text)
	if m == nil {
		return nil, 0
	}
	pid, name, values := m[1], shorten(m[2]), strings.Fields(m[4])
	p := &Part{Format: "process"}
	row := Row{Line: list[0].no, At: r.at}
	put := func(i int, series, words string) {
		if i >= len(values) {
			return
		}
		if v, err := strconv.ParseUint(values[i], 10, 62); err == nil {
			row.Values = append(row.Values, Value{model.NewSeries(series, "pid", pid, "process", name), Total, float64(v)})
			if v > 0 {
				p.say("%d %s since it began", v, words)
			}
		}
	}
	p.say("%s (pid %s), state %s", name, pid, m[3])
	put(statMajorFaults, "stallmark_process_major_faults_total", "page faults that waited for a disk or for swap")
	put(statIODelay, "stallmark_process_io_delay_ticks_total", "clock ticks of waiting for a disk")
	p.Rows = []Row{row}
	if m[3] == "D" {
		p.signTasks([]task{{line: row.Line, pid: pid, name: name, state: 'D'}})
	}
	return p, 1
}
