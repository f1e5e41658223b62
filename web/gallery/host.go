package gallery

import (
	"fmt"
	"math"
	"time"
)

// Sizes of the canned host: 16 GiB of memory, 8 CPUs.
const (
	page   = 4096
	gib    = 1 << 30
	mib    = 1 << 20
	memory = 16 * gib
	cpus   = 8
)

// load is what happens on the canned host, as functions of seconds before the
// end (negative).
type load struct {
	dirty   func(s float64) float64 // bytes
	freerun func(s float64) float64 // bytes
	busy    func(s float64) float64 // 0 to 1: how hard the data disk works
	direct  func(s float64) float64 // pages/s scanned by allocating threads
	blocked func(s float64) float64 // threads of the broker asleep in the dirty throttle
	psi     bool                    // the kernel has pressure figures
	disks   int                     // further idle disks
}

// noise is a value in [-1, 1] that depends on s and seed alone.
func noise(s float64, seed float64) float64 {
	x := math.Sin(s*12.9898+seed*78.233) * 43758.5453
	return 2*(x-math.Floor(x)) - 1
}

// ramp goes from 0 at a to 1 at b.
func ramp(s, a, b float64) float64 { return min(max((s-a)/(b-a), 0), 1) }

// host makes the series of a load.
func host(end time.Time, span time.Duration, l load) *Data {
	d := NewData(end, span, time.Second)
	present := func(f func(float64) float64) func(float64) (float64, bool) {
		return func(s float64) (float64, bool) { return f(s), true }
	}
	d.Always(page, "stallmark_page_size_bytes")
	d.Always(memory, "stallmark_host_memory_bytes")
	d.Always(cpus, "stallmark_cpus_online")

	d.Gauge(present(func(s float64) float64 { return math.Round(l.dirty(s) * 0.85 / page) }), "node_vmstat_nr_dirty")
	d.Gauge(present(func(s float64) float64 { return math.Round(l.dirty(s) * 0.15 / page) }), "node_vmstat_nr_writeback")
	d.Gauge(present(func(s float64) float64 { return math.Round(l.dirty(s) / page) }), "stallmark_dirty_level_pages")
	d.Counter(func(s float64) float64 { return 9000 * (1 + 0.2*noise(s, 8)) }, "node_vmstat_pgalloc_normal")
	for _, prefix := range []string{"node_vmstat_nr_dirty_threshold", "stallmark_dirty_threshold_pages"} {
		d.Gauge(present(func(s float64) float64 { return math.Round(l.freerun(s) / 0.75 / page) }), prefix)
	}
	for _, prefix := range []string{"node_vmstat_nr_dirty_background_threshold", "stallmark_dirty_background_threshold_pages"} {
		d.Gauge(present(func(s float64) float64 { return math.Round(l.freerun(s) / 1.5 / page) }), prefix)
	}
	if l.psi {
		d.Counter(func(s float64) float64 { return 0.02 + 0.7*l.busy(s)*(1+0.3*noise(s, 1)) }, "node_pressure_io_waiting_seconds_total")
		d.Counter(func(s float64) float64 { return min(l.direct(s)/40000, 0.8) }, "node_pressure_memory_waiting_seconds_total")
		d.Counter(func(s float64) float64 { return 0.04 + 0.03*noise(s, 2) }, "node_pressure_cpu_waiting_seconds_total")
	}
	d.Gauge(present(func(s float64) float64 { return math.Round(l.blocked(s) + max(0, 1.4*noise(s, 3)*l.busy(s))) }), "node_procs_blocked")
	for _, wait := range []string{"dirty_throttle", "reclaim", "page_wait"} {
		d.Gauge(present(func(s float64) float64 {
			switch wait {
			case "dirty_throttle":
				return math.Round(l.blocked(s))
			case "reclaim":
				return math.Round(min(l.direct(s)/8000, 6))
			}
			return 0
		}), "stallmark_blocked_threads", "process", "rocketmq-broker", "pid", "4242", "wait", wait)
	}
	d.Counter(l.direct, "node_vmstat_pgscan_direct")
	d.Counter(func(s float64) float64 { return l.direct(s)*2 + max(0, 300*noise(s/7, 4)) }, "node_vmstat_pgscan_kswapd")
	d.Counter(func(s float64) float64 { return max(0, 8*noise(s, 5)) + l.direct(s)/300 }, "node_vmstat_pgmajfault")
	d.Counter(func(s float64) float64 { return max(0, 5*noise(s, 6)) }, "stallmark_process_major_faults_total", "process", "rocketmq-broker", "pid", "4242")
	free := func(s float64) float64 { return (0.9+0.1*noise(s/20, 7))*gib - min(l.direct(s)*30000, 0.85*gib) }
	d.Gauge(present(func(s float64) float64 { return free(s) / page }), "node_zoneinfo_nr_free_pages", "node", "0", "zone", "Normal")
	d.Always(66*mib/page, "node_zoneinfo_min_pages", "node", "0", "zone", "Normal")
	d.Always(82*mib/page, "node_zoneinfo_low_pages", "node", "0", "zone", "Normal")
	for mode, share := range map[string]float64{"user": 0.22, "system": 0.08, "iowait": 0.01, "steal": 0.002} {
		d.Counter(func(s float64) float64 {
			v := share * (1 + 0.3*noise(s, share))
			if mode == "iowait" {
				v += 0.3 * l.busy(s)
			}
			return v * cpus
		}, "node_cpu_seconds_total", "cpu", "0", "mode", mode)
	}
	processes(d)
	disks(d, l)
	return d
}

func processes(d *Data) {
	for _, p := range [][3]string{{"rocketmq-broker", "4242", "rocketmq-broker"}, {"rocketmq-namesrv", "4100", "rocketmq-namesrv"}} {
		device := ""
		if p[2] == "rocketmq-broker" {
			device = "nvme1n1"
		}
		d.Always(1, "stallmark_process_info", "process", p[0], "pid", p[1], "role", p[2], "store_device", device)
		d.Always(2113, "stallmark_process_open_fds", "process", p[0], "pid", p[1])
		d.Always(65535, "stallmark_process_max_fds", "process", p[0], "pid", p[1])
		d.Always(3120, "stallmark_process_mappings", "process", p[0], "pid", p[1])
		d.Always(65530, "stallmark_process_max_mappings", "process", p[0], "pid", p[1])
	}
	d.Always(894*gib, "node_filesystem_size_bytes", "mountpoint", "/data/rocketmq", "device", "nvme1n1", "fstype", "xfs")
	d.Always(402*gib, "node_filesystem_avail_bytes", "mountpoint", "/data/rocketmq", "device", "nvme1n1", "fstype", "xfs")
	d.Gauge(func(s float64) (float64, bool) { return 0.0006 + 0.0004*noise(s, 11), true }, "stallmark_sampler_lateness_seconds")
	d.Always(0, "stallmark_sampler_beats_lost_total")
	for i, process := range []string{"recorder", "storage"} {
		share := float64(i + 1)
		d.Counter(func(float64) float64 { return 0.004 / share }, "stallmark_self_cpu_seconds_total", "process", process)
		d.Counter(func(float64) float64 { return 1700 * (share - 0.99) }, "stallmark_self_written_bytes_total", "process", process)
		d.Always((36-12*float64(i))*mib, "stallmark_self_resident_memory_bytes", "process", process)
	}
	for i, source := range []string{"vmstat", "meminfo", "diskstats", "pressure", "threads"} {
		d.Gauge(func(s float64) (float64, bool) { return float64(i+1) * (40 + 9*noise(s, float64(i))) * 1e-6, true },
			"stallmark_source_duration_seconds", "source", source)
	}
}

// disks adds the data disk that the load drives, the system's disk, what is
// mapped on them, and idle ones.
func disks(d *Data, l load) {
	disk := func(name, kind, backing, mount string, busy func(float64) float64) {
		d.Always(1, "stallmark_disk_info", "device", name, "kind", kind, "backing", backing, "mount", mount)
		writes := func(s float64) float64 { return 60 + 5200*busy(s)*(1+0.2*noise(s, 21)) }
		reads := func(s float64) float64 { return 12 + 90*busy(s)*(1+0.5*noise(s, 22)) }
		d.Counter(writes, "node_disk_writes_completed_total", "device", name)
		d.Counter(func(s float64) float64 { return writes(s) * 48 * 1024 }, "node_disk_written_bytes_total", "device", name)
		d.Counter(func(s float64) float64 { return writes(s) * (0.0006 + 0.0018*busy(s)) }, "node_disk_write_time_seconds_total", "device", name)
		d.Counter(reads, "node_disk_reads_completed_total", "device", name)
		d.Counter(func(s float64) float64 { return reads(s) * 16 * 1024 }, "node_disk_read_bytes_total", "device", name)
		d.Counter(func(s float64) float64 { return reads(s) * (0.0003 + 0.0009*busy(s)) }, "node_disk_read_time_seconds_total", "device", name)
		d.Counter(func(s float64) float64 { return 0.05 + 11*busy(s) }, "node_disk_io_time_weighted_seconds_total", "device", name)
		d.Counter(func(s float64) float64 { return min(0.03+0.95*busy(s), 1) }, "node_disk_io_time_seconds_total", "device", name)
	}
	quiet := func(s float64) float64 { return 0.004 + 0.004*max(0, noise(s, 23)) }
	disk("nvme1n1", "disk", "nvme1n1", "/data/rocketmq", l.busy)
	disk("nvme0n1", "disk", "nvme0n1", "", quiet)
	disk("nvme0n1p1", "partition", "nvme0n1", "/boot", func(float64) float64 { return 0 })
	disk("nvme0n1p2", "partition", "nvme0n1", "", quiet)
	disk("dm-0", "dm", "nvme0n1", "/", quiet)
	for i := range l.disks {
		name := fmt.Sprintf("sd%s", letters(i))
		d.Always(1, "stallmark_disk_info", "device", name, "kind", "disk", "backing", name)
		for _, c := range []string{"reads_completed", "writes_completed", "io_time_weighted_seconds", "io_time_seconds"} {
			d.Always(1, "node_disk_"+c+"_total", "device", name)
		}
	}
}

// letters counts as disk names do: a, b ... z, aa, ab ...
func letters(i int) string {
	s := ""
	for i++; i > 0; i = (i - 1) / 26 {
		s = string(rune('a'+(i-1)%26)) + s
	}
	return s
}
