package process

import (
	"bytes"
	"math"

	"stallmark/collectors"
)

// cgroupReading reads one process's groups in one beat.
type cgroupReading struct {
	root collectors.Root
	out  *collectors.Out
	w    *watched
	g    *cgroupOf
	buf  *[]byte
}

// all reads what there is.
func (r *cgroupReading) all() {
	for _, at := range r.g.groups {
		switch at.kind {
		case groupMemory:
			r.memoryV1(at.dir, at.id)
		case groupCPU:
			r.cpuV1(at.dir, at.id)
		case groupUnified:
			r.memoryV2(at.dir, at.id)
			r.cpuV2(at.dir, at.id)
			r.pressure(at.dir, at.id)
		case groupPressure:
			r.pressure(at.dir, at.id)
		}
	}
}

// add puts a sample, with at most one label beside process, pid and id.
func (r *cgroupReading) add(id, name, label, value string, v float64) {
	key := name + "\xff" + id + "\xff" + value
	s := r.g.series[key]
	if s == nil {
		s = r.w.series(name, "id", cleanPath(id), label, value)
		r.g.series[key] = s
	}
	r.out.Add(s, v)
}

// read returns a file's content, nil if there is none.
func (r *cgroupReading) read(name string) []byte {
	b, err := r.root.Read(name, *r.buf)
	if err != nil {
		return nil
	}
	*r.buf = b
	return b
}

// number puts the one number of a file; "max" and what is as good as unlimited
// put nothing.
func (r *cgroupReading) number(file, id, name string) {
	if v, ok := parseNumber(r.read(file)); ok && v < unlimited {
		r.add(id, name, "", "", float64(v))
	}
}

// unlimited is where limits end: version 1 says "no limit" as the largest
// multiple of the page size below 2^63, which is above this on every page size.
const unlimited = math.MaxInt64 - 1<<20

// memoryV1 reads the memory controller of version 1
// (Documentation/admin-guide/cgroup-v1/memory.rst).
func (r *cgroupReading) memoryV1(dir, id string) {
	r.number(dir+"/memory.usage_in_bytes", id, "container_memory_usage_bytes")
	r.number(dir+"/memory.limit_in_bytes", id, "container_spec_memory_limit_bytes")
	r.number(dir+"/memory.failcnt", id, "container_memory_failcnt")
	r.memoryStat(dir, id, statV1)
	eachLine(r.read(dir+"/memory.oom_control"), func(key, rest []byte) {
		if v, ok := parseNumber(rest); ok && string(key) == "oom_kill" {
			r.add(id, "container_memory_events_total", "event", "oom_kill", float64(v))
		}
	})
}

// memoryV2 reads the memory controller of version 2
// (Documentation/admin-guide/cgroup-v2.rst).
func (r *cgroupReading) memoryV2(dir, id string) {
	r.number(dir+"/memory.current", id, "container_memory_usage_bytes")
	r.number(dir+"/memory.max", id, "container_spec_memory_limit_bytes")
	r.memoryStat(dir, id, statV2)
	if v, ok := parseNumber(r.read(dir + "/memory.swap.current")); ok {
		r.add(id, "container_memory_stat_bytes", "kind", "swap", float64(v))
	}
	eachLine(r.read(dir+"/memory.events"), func(key, rest []byte) {
		if v, ok := parseNumber(rest); ok && len(key) <= maxName {
			r.add(id, "container_memory_events_total", "event", cleanName(string(key)), float64(v))
		}
	})
}

// statV1 and statV2 name the same things of memory.stat; the totals of version 1
// include the groups below, as those of version 2 do.
var (
	statV1 = map[string]string{
		"total_cache": "file", "total_rss": "anon", "total_shmem": "shmem", "total_mapped_file": "file_mapped",
		"total_dirty": "file_dirty", "total_writeback": "file_writeback", "total_swap": "swap",
		"total_inactive_anon": "inactive_anon", "total_active_anon": "active_anon",
		"total_inactive_file": "inactive_file", "total_active_file": "active_file", "total_unevictable": "unevictable",
		"total_workingset_refault": "", "total_workingset_refault_anon": "", "total_workingset_refault_file": "",
	}
	statV2 = map[string]string{
		"anon": "anon", "file": "file", "shmem": "shmem", "file_mapped": "file_mapped", "file_dirty": "file_dirty",
		"file_writeback": "file_writeback", "inactive_anon": "inactive_anon", "active_anon": "active_anon",
		"inactive_file": "inactive_file", "active_file": "active_file", "unevictable": "unevictable",
		"slab": "slab", "sock": "sock", "kernel": "kernel",
		"workingset_refault": "", "workingset_refault_anon": "", "workingset_refault_file": "",
	}
)

// memoryStat puts the sizes by kind and the refaults, which have no kind in the
// tables: their sum is one series.
func (r *cgroupReading) memoryStat(dir, id string, kinds map[string]string) {
	refaults, seen := uint64(0), false
	eachLine(r.read(dir+"/memory.stat"), func(key, rest []byte) {
		kind, ok := kinds[string(key)]
		if !ok {
			return
		}
		v, isNumber := parseNumber(rest)
		switch {
		case !isNumber:
		case kind == "":
			refaults, seen = refaults+v, true
		default:
			r.add(id, "container_memory_stat_bytes", "kind", kind, float64(v))
		}
	})
	if seen {
		r.add(id, "container_memory_refaults_total", "", "", float64(refaults))
	}
}

// cpuV1 reads the CPU quota of version 1. A quota of -1 is none.
func (r *cgroupReading) cpuV1(dir, id string) {
	quota, limited := parseNumber(r.read(dir + "/cpu.cfs_quota_us"))
	period, ok := parseNumber(r.read(dir + "/cpu.cfs_period_us"))
	r.quota(id, quota, period, limited && ok)
	r.throttling(dir, id, limited)
}

// cpuV2 reads the CPU quota of version 2: "max 100000" or "200000 100000".
func (r *cgroupReading) cpuV2(dir, id string) {
	a, rest := nextField(r.read(dir + "/cpu.max"))
	quota, limited := parseUint(a)
	period, ok := parseNumber(rest)
	r.quota(id, quota, period, limited && ok)
	r.throttling(dir, id, limited)
}

// quota puts the limit in microseconds, as cAdvisor has it.
func (r *cgroupReading) quota(id string, quota, period uint64, limited bool) {
	if limited {
		r.add(id, "container_spec_cpu_quota", "", "", float64(quota))
		r.add(id, "container_spec_cpu_period", "", "", float64(period))
	}
}

// throttling puts what the quota cost. A group that has none, and never had one,
// has no series.
func (r *cgroupReading) throttling(dir, id string, limited bool) {
	var periods, throttled, seconds float64
	found := false
	eachLine(r.read(dir+"/cpu.stat"), func(key, rest []byte) {
		v, ok := parseNumber(rest)
		if !ok {
			return
		}
		switch string(key) {
		case "nr_periods":
			periods, found = float64(v), true
		case "nr_throttled":
			throttled = float64(v)
		case "throttled_time": // version 1, nanoseconds
			seconds = float64(v) / 1e9
		case "throttled_usec": // version 2
			seconds = float64(v) / 1e6
		}
	})
	if !found || !limited && periods == 0 {
		return
	}
	r.add(id, "container_cpu_cfs_periods_total", "", "", periods)
	r.add(id, "container_cpu_cfs_throttled_periods_total", "", "", throttled)
	r.add(id, "container_cpu_cfs_throttled_seconds_total", "", "", seconds)
}

// pressure reads the group's own PSI files.
func (r *cgroupReading) pressure(dir, id string) {
	if id == "/" {
		return // the host's, not the process's
	}
	for _, what := range []string{"cpu", "io", "memory"} {
		b := r.read(dir + "/" + what + ".pressure")
		some, full, ok := parsePressure(b)
		if !ok {
			continue
		}
		r.add(id, "container_pressure_"+what+"_waiting_seconds_total", "", "", float64(some)/1e6)
		if bytes.Contains(b, []byte("full ")) {
			r.add(id, "container_pressure_"+what+"_stalled_seconds_total", "", "", float64(full)/1e6)
		}
	}
}
