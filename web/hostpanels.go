package web

import (
	"context"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"stallmark/web/chart"
	"stallmark/web/view"
)

// Expressions that more than one place reads. The kernel starts to pause
// writers at the middle between the two thresholds (mm/page-writeback.c,
// dirty_freerun_ceiling).
const (
	dirtyBytes   = `(node_vmstat_nr_dirty + node_vmstat_nr_writeback) * scalar(stallmark_page_size_bytes)`
	freerunBytes = `(stallmark_dirty_threshold_pages + stallmark_dirty_background_threshold_pages) / 2 * scalar(stallmark_page_size_bytes)`
	freeBytes    = `sum(node_zoneinfo_nr_free_pages) * scalar(stallmark_page_size_bytes)`
	minBytes     = `sum(node_zoneinfo_min_pages) * scalar(stallmark_page_size_bytes)`
	cpuBusy      = `100 * sum(rate(node_cpu_seconds_total{mode=~"user|nice|system|irq|softirq|steal"}[3s])) / scalar(stallmark_cpus_online)`
)

// hostPanels are the charts that are always there: what kinds of stalls look
// like from the outside. Devices is a PromQL matcher of the disks to show.
func hostPanels(devices string) []panel {
	return []panel{
		{
			title: "Dirty + writeback", unit: "bytes", signature: "dirty-throttling",
			lines:  []line{{expr: dirtyBytes}},
			limits: []line{{name: "writers are paused from", expr: freerunBytes}},
		},
		{
			title: "Pressure, some", unit: "percent", note: "Share of time in which at least one task waited.",
			lines: []line{
				{name: "I/O", expr: `100 * rate(node_pressure_io_waiting_seconds_total[3s])`},
				{name: "memory", expr: `100 * rate(node_pressure_memory_waiting_seconds_total[3s])`},
				{name: "CPU", expr: `100 * rate(node_pressure_cpu_waiting_seconds_total[3s])`},
			},
		},
		{
			title: "Blocked tasks", unit: "count",
			lines: []line{
				{name: "on the host", expr: `node_procs_blocked`},
				{name: "of brokers", expr: `sum by (wait) (stallmark_blocked_threads) > 0`, label: "wait"},
			},
		},
		{
			title: "Disk traffic", unit: "bytes/s",
			lines: []line{
				{name: "written", label: "device", expr: `rate(node_disk_written_bytes_total{` + devices + `}[3s])`},
				{name: "read", label: "device", expr: `rate(node_disk_read_bytes_total{` + devices + `}[3s])`},
			},
		},
		{
			title: "Disk await", unit: "seconds", note: "Time of a request, its wait in the queue included.",
			lines: []line{
				{name: "write", label: "device", expr: `rate(node_disk_write_time_seconds_total{` + devices + `}[3s]) / rate(node_disk_writes_completed_total{` + devices + `}[3s])`},
				{name: "read", label: "device", expr: `rate(node_disk_read_time_seconds_total{` + devices + `}[3s]) / rate(node_disk_reads_completed_total{` + devices + `}[3s])`},
			},
		},
		{
			title: "Reclaim", unit: "pages/s", signature: "direct-reclaim", note: "Direct: by the threads that allocate. kswapd alone harms nobody.",
			lines: []line{
				{name: "direct", expr: scanned("direct")},
				{name: "kswapd", expr: scanned("kswapd")},
			},
		},
		{
			title: "Major faults", unit: "per_second",
			lines: []line{
				{name: "on the host", expr: `rate(node_vmstat_pgmajfault[3s])`},
				{label: "process", expr: `sum by (process) (rate(stallmark_process_major_faults_total[3s]))`},
			},
		},
		{
			title: "Free memory", unit: "bytes", note: "Free pages alone; page cache can be reclaimed and is not in it.",
			lines:  []line{{expr: freeBytes}},
			limits: []line{{name: "direct reclaim from", expr: minBytes}},
		},
		{
			title: "CPU", unit: "percent",
			lines: []line{
				{name: "busy", expr: cpuBusy},
				{name: "waiting for I/O", expr: `100 * sum(rate(node_cpu_seconds_total{mode="iowait"}[3s])) / scalar(stallmark_cpus_online)`},
				{name: "stolen", expr: `100 * sum(rate(node_cpu_seconds_total{mode="steal"}[3s])) / scalar(stallmark_cpus_online)`},
			},
		},
	}
}

// scanned is the rate of pages scanned by direct reclaim or kswapd. Kernels
// before 4.8 count by zone (commit 599d0c954f91).
func scanned(by string) string {
	name := "node_vmstat_pgscan_" + by
	return `rate(` + name + `[3s]) or (rate(` + name + `_normal[3s]) + rate(` + name + `_dma32[3s]))`
}

// hostCharts draws the standard charts, without the one that the evidence of
// the shown signature has already.
func (s *server) hostCharts(ctx context.Context, shown string, b backdrop) []chart.Figure {
	var out []chart.Figure
	for i, p := range hostPanels(s.busyDevices(ctx, b.window)) {
		if shown != "" && p.signature == shown {
			continue
		}
		out = append(out, s.draw(ctx, "host-"+strconv.Itoa(i+1), p, b))
	}
	return out
}

// maxDevices is how many disks the standard charts show.
const maxDevices = 2

// busyDevices chooses the disks with the most requests under way over the
// window, as a label matcher.
func (s *server) busyDevices(ctx context.Context, w view.Window) string {
	if s.frozen != nil {
		return s.frozen.devices
	}
	span := min(w.To.Sub(w.From), time.Hour).Truncate(time.Second)
	top := `topk(` + strconv.Itoa(maxDevices) + `, increase(node_disk_io_time_weighted_seconds_total[` + span.String() + `])`
	for _, expr := range []string{top + ` and on (device) stallmark_disk_info{kind="disk"})`, top + `)`} {
		v, err := s.cfg.Backend.Instant(ctx, expr, w.To)
		if err != nil || len(v) == 0 {
			continue
		}
		var names []string
		for _, sample := range v {
			names = append(names, sample.Metric.Get("device"))
		}
		return matcher(names)
	}
	return `device!=""`
}

// matcher selects devices by name. Names are foreign text: each is quoted as a
// regular expression and as a string.
func matcher(names []string) string {
	quoted := make([]string, len(names))
	for i, n := range names {
		quoted[i] = regexp.QuoteMeta(n)
	}
	slices.Sort(quoted)
	return `device=~` + strconv.Quote(strings.Join(quoted, "|"))
}
