package pasted

import "stallmark/storage/model"

// cgroupKey is where a number of a cgroup goes.
type cgroupKey struct {
	name      string
	label, of string
	kind      Kind
	scale     float64
	telling   bool // worth saying when it is not 0
}

func (k cgroupKey) value(id string, v float64) Value {
	labels := []string{"id", id}
	if k.label != "" {
		labels = []string{k.label, k.of, "id", id}
	}
	return Value{model.NewSeries(k.name, labels...), k.kind, v * k.scale}
}

// cgroupEntry is what is known of a file: its keys, the one number in it, or the
// resource whose pressure it is.
type cgroupEntry struct {
	keys     map[string]cgroupKey
	one      cgroupKey
	pressure string
}

var refaulted = cgroupKey{name: "container_memory_refaults_total", kind: Total, scale: 1}

func statBytes(kind string) cgroupKey {
	return cgroupKey{name: "container_memory_stat_bytes", label: "kind", of: kind, kind: Gauge, scale: 1}
}

func memoryEvent(event string) cgroupKey {
	return cgroupKey{name: "container_memory_events_total", label: "event", of: event, kind: Total, scale: 1, telling: event != "low"}
}

// memoryEvents are those of version 2.
var memoryEvents = cgroupEntry{keys: map[string]cgroupKey{
	"low": memoryEvent("low"), "high": memoryEvent("high"), "max": memoryEvent("max"), "oom": memoryEvent("oom"), "oom_kill": memoryEvent("oom_kill"),
}}

func oneOf(name string, kind Kind) cgroupEntry {
	return cgroupEntry{one: cgroupKey{name: name, kind: kind, scale: 1}}
}

// cgroupFiles are the files that are known, by their names, with cAdvisor's names
// for what is in them. Units as in Documentation/admin-guide/cgroup-v2.rst
// (bytes, us), cgroup-v1/memory.rst and scheduler/sched-bwc.rst (version 1, ns).
var cgroupFiles = map[string]cgroupEntry{
	"cpu.stat": {keys: map[string]cgroupKey{
		"nr_periods":     {name: "container_cpu_cfs_periods_total", kind: Total, scale: 1},
		"nr_throttled":   {name: "container_cpu_cfs_throttled_periods_total", kind: Total, scale: 1, telling: true},
		"throttled_usec": {name: "container_cpu_cfs_throttled_seconds_total", kind: Total, scale: 1e-6},
		"throttled_time": {name: "container_cpu_cfs_throttled_seconds_total", kind: Total, scale: 1e-9},
	}},
	"cpu.max":               {},
	"cpu.cfs_quota_us":      oneOf("container_spec_cpu_quota", Gauge),
	"cpu.cfs_period_us":     oneOf("container_spec_cpu_period", Gauge),
	"memory.failcnt":        oneOf("container_memory_failcnt", Total),
	"memory.usage_in_bytes": oneOf("container_memory_usage_bytes", Gauge),
	"memory.limit_in_bytes": oneOf("container_spec_memory_limit_bytes", Gauge),
	"memory.current":        oneOf("container_memory_usage_bytes", Gauge),
	"memory.max":            oneOf("container_spec_memory_limit_bytes", Gauge),
	"memory.high":           {},
	"memory.swap.current":   {one: statBytes("swap")},
	"memory.events":         memoryEvents,
	"memory.events.local":   memoryEvents,
	"memory.oom_control":    {keys: map[string]cgroupKey{"oom_kill": memoryEvent("oom_kill")}},
	"memory.stat": {keys: map[string]cgroupKey{
		"total_cache": statBytes("file"), "total_rss": statBytes("anon"), "total_shmem": statBytes("shmem"),
		"total_mapped_file": statBytes("file_mapped"), "total_dirty": statBytes("file_dirty"), "total_writeback": statBytes("file_writeback"),
		"total_swap": statBytes("swap"), "total_workingset_refault": refaulted, "total_workingset_refault_file": refaulted,
		"total_workingset_refault_anon": refaulted,
		"anon":                          statBytes("anon"), "file": statBytes("file"), "file_mapped": statBytes("file_mapped"),
		"file_dirty": statBytes("file_dirty"), "file_writeback": statBytes("file_writeback"), "slab": statBytes("slab"),
		"sock": statBytes("sock"), "kernel": statBytes("kernel"),
		"workingset_refault_file": refaulted, "workingset_refault_anon": refaulted,
	}},
	"io.stat":         {},
	"cpu.pressure":    {pressure: "cpu"},
	"io.pressure":     {pressure: "io"},
	"memory.pressure": {pressure: "memory"},
}
