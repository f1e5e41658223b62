package process

import (
	"bytes"

	"stallmark/collectors"
	"stallmark/storage/model"
)

// counters reads what the kernel counts for each watched process:
// /proc/PID/stat, io and status.
type counters struct {
	table *table
	ticks float64 // clock ticks per second
	procs perProcess[counterSeries]
	buf   []byte
}

func newCounters(c Config, t *table) *counters {
	return &counters{table: t, ticks: float64(max(c.ClockTicks, 1))}
}

// Name implements [collectors.Source].
func (c *counters) Name() string { return "process" }

// Provides implements [collectors.Source].
func (c *counters) Provides() []string {
	return []string{
		"stallmark_process_minor_faults_total", "stallmark_process_major_faults_total", "stallmark_process_cpu_seconds_total",
		"stallmark_process_read_", "stallmark_process_write_", "stallmark_process_cancelled_write_bytes_total",
		"stallmark_process_resident_bytes", "stallmark_process_swap_bytes",
	}
}

// counterSeries are the series of one process.
type counterSeries struct {
	minor, major, user, system *model.Series
	io                         map[string]*model.Series // by the key of /proc/PID/io
	status                     map[string]*model.Series // by the key of /proc/PID/status
	statName, ioName, rssName  string
}

func newCounterSeries(w *watched) *counterSeries {
	return &counterSeries{
		minor:  w.series("stallmark_process_minor_faults_total"),
		major:  w.series("stallmark_process_major_faults_total"),
		user:   w.series("stallmark_process_cpu_seconds_total", "mode", "user"),
		system: w.series("stallmark_process_cpu_seconds_total", "mode", "system"),
		io: map[string]*model.Series{
			"rchar":                 w.series("stallmark_process_read_chars_total"),
			"wchar":                 w.series("stallmark_process_write_chars_total"),
			"read_bytes":            w.series("stallmark_process_read_bytes_total"),
			"write_bytes":           w.series("stallmark_process_write_bytes_total"),
			"cancelled_write_bytes": w.series("stallmark_process_cancelled_write_bytes_total"),
		},
		status: map[string]*model.Series{ // the split by kind came with 4.5
			"RssAnon":  w.series("stallmark_process_resident_bytes", "kind", "anon"),
			"RssFile":  w.series("stallmark_process_resident_bytes", "kind", "file"),
			"RssShmem": w.series("stallmark_process_resident_bytes", "kind", "shmem"),
			"VmSwap":   w.series("stallmark_process_swap_bytes"),
		},
		statName: w.dir + "stat",
		ioName:   w.dir + "io",
		rssName:  w.dir + "status",
	}
}

// Collect implements [collectors.Source].
func (c *counters) Collect(root collectors.Root, out *collectors.Out) error {
	procs := c.table.snapshot()
	c.procs.sync(procs, newCounterSeries, nil)
	if len(procs) == 0 {
		return errNothingWatched()
	}
	var missing gaps
	for _, w := range procs {
		s := c.procs.states[w]
		if !c.stat(root, out, w, s, &missing) {
			continue
		}
		c.io(root, out, w, s, &missing)
		c.status(root, out, w, s, &missing)
	}
	return missing.err()
}

// stat puts faults and CPU time. False means that the process is gone, or that
// its pid is another process now.
func (c *counters) stat(root collectors.Root, out *collectors.Out, w *watched, s *counterSeries, missing *gaps) bool {
	var err error
	if c.buf, err = root.Read(s.statName, c.buf); err != nil {
		missing.read("/proc/PID/stat", err, mendPtrace)
		return false
	}
	st, ok := parseStat(c.buf)
	if !ok || st.start != w.Start {
		return false
	}
	missing.got = true
	out.Add(s.minor, float64(st.minflt))
	out.Add(s.major, float64(st.majflt))
	out.Add(s.user, float64(st.utime)/c.ticks)
	out.Add(s.system, float64(st.stime)/c.ticks)
	return true
}

// io puts the bytes that the process read and wrote.
func (c *counters) io(root collectors.Root, out *collectors.Out, w *watched, s *counterSeries, missing *gaps) {
	var err error
	if c.buf, err = root.Read(s.ioName, c.buf); err != nil {
		missing.readOf(root, w, "io", err, mendPtrace)
		return
	}
	eachLine(c.buf, func(key, rest []byte) {
		if series := s.io[string(key)]; series != nil {
			if v, ok := parseNumber(rest); ok {
				out.Add(series, float64(v))
			}
		}
	})
}

// status puts resident and swapped memory, which the kernel gives in KiB.
func (c *counters) status(root collectors.Root, out *collectors.Out, w *watched, s *counterSeries, missing *gaps) {
	var err error
	if c.buf, err = root.Read(s.rssName, c.buf); err != nil {
		missing.readOf(root, w, "status", err, mendPtrace)
		return
	}
	eachLine(c.buf, func(key, rest []byte) {
		if series := s.status[string(key)]; series != nil {
			if v, ok := parseNumber(bytes.TrimSuffix(bytes.TrimSpace(rest), []byte("kB"))); ok {
				out.Add(series, float64(v)*1024)
			}
		}
	})
}
