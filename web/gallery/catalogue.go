package gallery

import (
	"time"

	"stallmark/rules"
	"stallmark/storage/model"
)

// Expressions of the canned evidence.
const (
	dirtyExpr   = `(node_vmstat_nr_dirty + node_vmstat_nr_writeback) * scalar(stallmark_page_size_bytes)`
	freerunExpr = `(stallmark_dirty_threshold_pages + stallmark_dirty_background_threshold_pages) / 2 * scalar(stallmark_page_size_bytes)`
	blockedExpr = `sum(stallmark_blocked_threads{wait="dirty_throttle"})`
	ioExpr      = `100 * rate(node_pressure_io_waiting_seconds_total[3s])`
	memoryExpr  = `100 * rate(node_pressure_memory_waiting_seconds_total[3s])`
	directExpr  = `rate(node_vmstat_pgscan_direct[3s])`
	awaitExpr   = `rate(node_disk_write_time_seconds_total{device="nvme1n1"}[3s]) / rate(node_disk_writes_completed_total{device="nvme1n1"}[3s])`
)

func number(v float64) *float64 { return &v }

// catalogue is a small rule pack.
func catalogue() []*rules.Signature {
	entry := func(id, title string, layer model.Layer, severity model.Severity) *rules.Signature {
		return &rules.Signature{
			ID: id, Title: title, Layer: layer, Severity: severity, File: id + ".yaml", BuiltIn: true,
			For: 2 * time.Second, KeepFiringFor: 5 * time.Second, When: "vector(0) > 1", What: title + ".",
		}
	}
	const cause, mechanism, symptom = model.LayerCause, model.LayerMechanism, model.LayerSymptom
	const critical, warning = model.SeverityCritical, model.SeverityWarning
	proven := func(s *rules.Signature, by rules.Proof) *rules.Signature {
		s.Proven = by
		return s
	}
	return []*rules.Signature{
		proven(dirtyThrottling(), rules.Proof{Recordings: []string{"a_dirty_throttle"}}),
		proven(directReclaim(), rules.Proof{Drills: []string{"direct-reclaim"}}),
		proven(entry("disk-saturation", "The disk has a standing queue on a plateau", cause, critical), rules.Proof{Synthetic: "no recording has such a disk"}),
		entry("memcg-reclaim", "Threads reclaim inside a cgroup's memory limit", cause, critical),
		entry("swap-in-stall", "Threads wait for pages to be swapped in", cause, critical),
		entry("gc-stop-the-world", "The collector stops the broker", cause, critical),
		entry("cfs-throttling", "The CPU quota is used up", cause, critical),
		entry("cpu-saturation", "All CPUs are busy", cause, critical),
		entry("fsync-stall", "Flushes take long", cause, warning),
		entry("writeback-churn", "The same pages are written again and again", cause, warning),
		entry("tlb-shootdown-storm", "CPUs interrupt each other to drop mappings", cause, warning),
		entry("rocketmq-append-stall", "Appends wait inside the kernel", mechanism, warning),
		entry("rocketmq-broker-busy", "The broker refuses sends: busy", symptom, warning),
	}
}

func dirtyThrottling() *rules.Signature {
	return &rules.Signature{
		ID: "dirty-throttling", Title: "Writers are paused at the dirty-page limit", Layer: model.LayerCause, Severity: model.SeverityCritical,
		File: "dirty-throttling.yaml", BuiltIn: true,
		Needs: []string{"node_vmstat_nr_dirty", "node_vmstat_nr_writeback", "stallmark_dirty_threshold_pages"},
		When:  "avg_over_time((\n  node_vmstat_nr_dirty + node_vmstat_nr_writeback\n  > bool (stallmark_dirty_threshold_pages + stallmark_dirty_background_threshold_pages) / 2\n)[10s:1s]) >= 0.2",
		For:   2 * time.Second, KeepFiringFor: 5 * time.Second,
		Evidence: []rules.EvidenceRule{
			{Title: "Dirty and writeback pages against the point where pausing starts", Expr: dirtyExpr, Unit: "bytes", Op: rules.Above, Threshold: rules.Threshold{Expr: freerunExpr}, Role: model.RoleConfirms},
			{Title: "Threads asleep in balance_dirty_pages", Expr: blockedExpr, Unit: "count", Op: rules.Above, Threshold: rules.Threshold{Number: number(0)}, Role: model.RoleWitness, Wait: []string{"dirty_throttle"}},
			{Title: "Time in which some task waited for I/O", Expr: ioExpr, Unit: "percent", Op: rules.Above, Threshold: rules.Threshold{Number: number(10)}, Role: model.RoleConfirms},
			{Title: "Time in which some task waited for memory", Expr: memoryExpr, Unit: "percent", Op: rules.Above, Threshold: rules.Threshold{Number: number(5)}, Role: model.RoleContradicts},
		},
		Explains:     []string{"rocketmq-append-stall", "rocketmq-broker-busy"},
		Differential: []string{"direct-reclaim", "disk-saturation", "writeback-churn"},
		What:         whatDirty,
		Remedy: []rules.RemedyRule{
			{Title: "Fit both dirty limits to this disk", Kind: model.RemedyNow, Why: "The flusher begins earlier, and a burst does not meet the limit.", Apply: "sysctl -w vm.dirty_bytes={{int .V.limit}} vm.dirty_background_bytes={{int .V.background}}"},
			{Title: "Turn on transientStorePoolEnable", Kind: model.RemedyLater, Why: "Appends then go to memory that is not page cache.", Risk: "A crash loses what was not committed."},
		},
		References: []string{"https://docs.kernel.org/admin-guide/sysctl/vm.html", "mm/page-writeback.c, balance_dirty_pages()"},
		Tests: []rules.TestCase{
			{Name: "a level held at the ceiling", Expect: rules.ExpectFiring},
			{Name: "a busy flusher below the ceiling", Expect: rules.ExpectQuiet},
		},
	}
}

func directReclaim() *rules.Signature {
	return &rules.Signature{
		ID: "direct-reclaim", Title: "Threads that allocate must reclaim memory themselves", Layer: model.LayerCause, Severity: model.SeverityCritical,
		File: "direct-reclaim.yaml", BuiltIn: true, For: 2 * time.Second, KeepFiringFor: 5 * time.Second,
		Needs: []string{"node_vmstat_pgscan_direct"}, When: directExpr + " > 1000",
		Evidence: []rules.EvidenceRule{
			{Title: "Pages scanned by allocating threads", Expr: directExpr, Unit: "pages/s", Op: rules.Above, Threshold: rules.Threshold{Number: number(1000)}, Role: model.RoleConfirms},
			{Title: "Time in which some task waited for memory", Expr: memoryExpr, Unit: "percent", Op: rules.Above, Threshold: rules.Threshold{Number: number(5)}, Role: model.RoleConfirms},
			{Title: "Threads in reclaim", Expr: `sum(stallmark_blocked_threads{wait="reclaim"})`, Unit: "count", Op: rules.Above, Threshold: rules.Threshold{Number: number(0)}, Role: model.RoleWitness, Wait: []string{"reclaim"}},
		},
		Explains: []string{"rocketmq-append-stall", "rocketmq-broker-busy"}, Differential: []string{"memcg-reclaim", "swap-in-stall"},
		What: "Free memory fell below the watermark, and a thread that asks for a page now has to find one to give up first.",
		Remedy: []rules.RemedyRule{
			{Title: "Let kswapd start earlier", Kind: model.RemedyNow, Apply: "sysctl -w vm.watermark_scale_factor=200"},
		},
	}
}

const whatDirty = `Programs write into memory faster than the disk takes it, and the kernel's allowance for unwritten
("dirty") pages is used up. From then on every thread that writes to a file, or touches a mapped file, is put to sleep
inside the write for up to 200 ms at a time, the broker's append thread too, whoever filled the allowance.

The disk is healthy: it is busy because of the backlog. Median latency looks normal; the slowest one in a hundred is
what clients see.`
