package pasted

import (
	"encoding/json"
	"io"
	"strings"
	"time"
)

// sysstatJSON is what "sadf -j" and "iostat -o JSON" have in common.
type sysstatJSON struct {
	Sysstat struct {
		Hosts []struct {
			CPUs       float64                      `json:"number-of-cpus"`
			Statistics []map[string]json.RawMessage `json:"statistics"`
		} `json:"hosts"`
	} `json:"sysstat"`
}

// sadfStamp is the time of a report. UTC is 1, or true, where the time is UTC.
type sadfStamp struct {
	Date     string          `json:"date"`
	Time     string          `json:"time"`
	UTC      json.RawMessage `json:"utc"`
	Interval float64         `json:"interval"` // seconds
}

// sadfTables says where the columns of sadf's groups go: they are those of sar
// by other names.
func sadfTables() map[string]map[string]string {
	return map[string]map[string]string{
		"paging": {
			"pgpgin": "pgpgin/s", "pgpgout": "pgpgout/s", "fault": "fault/s", "majflt": "majflt/s",
			"pgfree": "pgfree/s", "pgscank": "pgscank/s", "pgscand": "pgscand/s",
		},
		"swap-pages": {"pswpin": "pswpin/s", "pswpout": "pswpout/s"},
		"memory": {
			"memfree": "kbmemfree", "avail": "kbavail", "buffers": "kbbuffers", "cached": "kbcached", "active": "kbactive",
			"inactive": "kbinact", "dirty": "kbdirty", "anonpg": "kbanonpg", "shmem": "kbshmem",
		},
		"queue": {
			"runq-sz": "runq-sz", "blocked": "blocked", "ldavg-1": "ldavg-1", "ldavg-5": "ldavg-5", "ldavg-15": "ldavg-15",
		},
		"process-and-context-switch": {"proc": "proc/s", "cswch": "cswch/s"},
	}
}

// sadfKeys are the groups of sadf by a column of the table of sar with the same.
var sadfKeys = map[string]string{
	"paging": "pgpgin/s", "swap-pages": "pswpin/s", "memory": "kbmemfree", "queue": "runq-sz", "process-and-context-switch": "cswch/s",
}

// readJSON reads the JSON of sysstat that begins on the first line.
func readJSON(r *reading, list []line) (*Part, int) {
	if !strings.HasPrefix(strings.TrimSpace(list[0].text), "{") {
		return nil, 0
	}
	head := list[0].text
	if len(list) > 1 {
		head += list[1].text
	}
	if !strings.Contains(head, `"sysstat"`) {
		return nil, 0
	}
	p := &Part{Format: "sysstat JSON", From: list[0].no}
	src := &lineReader{list: list}
	dec := json.NewDecoder(src)
	var doc sysstatJSON
	if err := dec.Decode(&doc); err != nil {
		p.note(list[0].no, "damaged or cut off: %v", err)
		return p, len(list)
	}
	n := src.lineOf(dec.InputOffset())
	for _, h := range doc.Sysstat.Hosts {
		if h.CPUs > 0 {
			r.cpus = h.CPUs
		}
		for i, s := range h.Statistics {
			r.statistics(p, i, s)
		}
	}
	p.finishJSON(r)
	return p, n
}

// statistics takes one report.
func (r *reading) statistics(p *Part, i int, s map[string]json.RawMessage) {
	row := Row{Line: p.From}
	var stamp sadfStamp
	if raw, ok := s["timestamp"]; ok && json.Unmarshal(raw, &stamp) == nil {
		row.At = r.sadfTime(stamp)
		if stamp.Interval > 0 && p.Interval == 0 {
			p.Interval = time.Duration(stamp.Interval * float64(time.Second))
		}
	}
	for group, names := range sadfTables() {
		var m map[string]float64
		if raw, ok := s[group]; ok && json.Unmarshal(numbersOnly(raw), &m) == nil {
			row.Values = append(row.Values, renamed(group, m, names)...)
		}
	}
	row.Values = append(row.Values, sadfPressure(s["psi"])...)
	for _, key := range []string{"cpu-load", "avg-cpu"} {
		row.Values = append(row.Values, r.sadfCPU(s[key])...)
	}
	row.Values = append(row.Values, sadfDisks(s["disk"])...)
	if len(row.Values) == 0 {
		p.note(0, "report %d has nothing in it that is known", i+1)
		return
	}
	p.Rows = append(p.Rows, row)
}

// sadfTime reads the time of a report.
func (r *reading) sadfTime(s sadfStamp) time.Time {
	zone := r.o.Zone
	if u := string(s.UTC); u == "1" || u == "true" {
		zone = time.UTC
	}
	t, err := time.ParseInLocation("2006-01-02 15:04:05", s.Date+" "+s.Time, zone)
	if err != nil {
		return time.Time{}
	}
	return t
}

// renamed gives the columns of a group under the names of sar's.
func renamed(group string, m map[string]float64, names map[string]string) []Value {
	as := map[string]float64{}
	for from, to := range names {
		if v, ok := m[from]; ok {
			as[to] = v
		}
	}
	for _, table := range sarTables() {
		if table.key == sadfKeys[group] {
			return (&sar{table: table}).values("", as)
		}
	}
	return nil
}

// sadfPressure reads the PSI of an interval.
func sadfPressure(raw json.RawMessage) []Value {
	var psi map[string]map[string]float64
	if json.Unmarshal(raw, &psi) != nil {
		return nil
	}
	as := map[string]float64{}
	for resource, column := range map[string]string{"psi-cpu": "cpu", "psi-io": "io", "psi-mem": "mem"} {
		if v, ok := psi[resource]["some_avg"]; ok {
			as["%s"+column] = v
		}
		if v, ok := psi[resource]["full_avg"]; ok {
			as["%f"+column] = v
		}
	}
	var list []Value
	for _, table := range sarTables() {
		if strings.HasPrefix(table.key, "%s") {
			list = append(list, (&sar{table: table}).values("", as)...)
		}
	}
	return list
}

// sadfCPU reads the row of all CPUs of sadf, or the only one of iostat.
func (r *reading) sadfCPU(raw json.RawMessage) []Value {
	if r.cpus == 0 || len(raw) == 0 {
		return nil
	}
	var rows []json.RawMessage
	if json.Unmarshal(raw, &rows) != nil {
		rows = []json.RawMessage{raw}
	}
	var list []Value
	for _, row := range rows {
		var cpu struct {
			CPU string `json:"cpu"`
		}
		_ = json.Unmarshal(row, &cpu) // its absence is no mistake: iostat has no such key
		var m map[string]float64
		if cpu.CPU != "" && cpu.CPU != "all" || json.Unmarshal(numbersOnly(row), &m) != nil {
			continue
		}
		for name, v := range m {
			if mode, ok := cpuModes["%"+name]; ok {
				list = append(list, cpuValue(mode, v, r.cpus))
			}
		}
	}
	return list
}

// sadfDisks reads the devices.
func sadfDisks(raw json.RawMessage) []Value {
	var rows []json.RawMessage
	if json.Unmarshal(raw, &rows) != nil {
		return nil
	}
	var list []Value
	for _, row := range rows {
		var name struct {
			Sadf   string `json:"disk-device"`
			Iostat string `json:"disk_device"`
		}
		var m map[string]float64
		if json.Unmarshal(row, &name) != nil || json.Unmarshal(numbersOnly(row), &m) != nil || name.Sadf+name.Iostat == "" {
			continue
		}
		for from, to := range map[string]string{"rkB": "rkB/s", "wkB": "wkB/s", "dkB": "dkB/s", "rd_sec": "rd_sec/s", "wr_sec": "wr_sec/s", "util-percent": "%util", "util": "%util"} {
			if v, ok := m[from]; ok {
				m[to] = v
			}
		}
		list = append(list, diskRates(m).values(name.Sadf+name.Iostat)...)
	}
	return list
}

// numbersOnly leaves the texts of an object out.
func numbersOnly(raw json.RawMessage) json.RawMessage {
	var all map[string]any
	if json.Unmarshal(raw, &all) != nil {
		return raw
	}
	for k, v := range all {
		if _, ok := v.(float64); !ok {
			delete(all, k)
		}
	}
	out, err := json.Marshal(all)
	if err != nil {
		return raw
	}
	return out
}

// finishJSON says what is there.
func (p *Part) finishJSON(r *reading) {
	if p.Interval == 0 {
		p.Interval = stampedInterval(p.Rows)
	}
	if len(p.Rows) > 0 && p.Rows[0].At.IsZero() {
		if _, noFirst := r.asked("iostat", "y"); !noFirst {
			p.dropFirst("iostat -x", r.ran("iostat"))
		}
	}
	p.say("%d reports, %v apart", len(p.Rows), p.Interval)
	if p.Interval >= time.Minute {
		p.note(0, "a stall of seconds disappears in means over %v", p.Interval)
	}
	r.addCPUs(p)
}

// lineReader reads lines as the text that they were.
type lineReader struct {
	list []line
	i    int
	rest string
	ends []int64 // offset of the end of each line
	sum  int64
}

// Read implements io.Reader.
func (l *lineReader) Read(p []byte) (int, error) {
	for l.rest == "" {
		if l.i == len(l.list) {
			return 0, io.EOF
		}
		l.rest = l.list[l.i].text + "\n"
		l.sum += int64(len(l.rest))
		l.ends = append(l.ends, l.sum)
		l.i++
	}
	n := copy(p, l.rest)
	l.rest = l.rest[n:]
	return n, nil
}

// lineOf is how many lines reach up to an offset.
func (l *lineReader) lineOf(offset int64) int {
	for i, end := range l.ends {
		if offset <= end {
			return i + 1
		}
	}
	return len(l.ends)
}
