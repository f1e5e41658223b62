package gallery

import (
	"time"

	"stallmark/storage/model"
)

func dirtyFinding(start time.Time, ended *time.Time) model.Finding {
	return model.Finding{
		ID: "f-dirty", Signature: "dirty-throttling", Title: "Writers are paused at the dirty-page limit",
		Layer: model.LayerCause, Severity: model.SeverityCritical, State: model.StateFiring, Confidence: model.Confirmed,
		Subject: map[string]string{}, Started: start, Ended: ended, What: whatDirty,
		Explains: []string{"rocketmq-append-stall", "rocketmq-broker-busy"}, RuledOut: ruledOut()[1:],
		Evidence: []model.Evidence{
			{Title: "Dirty and writeback pages against the point where pausing starts", Value: number(4.42 * gib), Unit: "bytes", Threshold: number(4.12 * gib), Role: model.RoleConfirms, State: model.EvidenceHolds, Expr: dirtyExpr, Limit: freerunExpr},
			{
				Title: "Threads asleep in balance_dirty_pages", Value: number(7), Unit: "count", Threshold: number(0), Role: model.RoleWitness, State: model.EvidenceHolds, Expr: blockedExpr,
				Detail: "SendMessageThread_1 in balance_dirty_pages < balance_dirty_pages_ratelimited_flags < fault_dirty_shared_page\nSendMessageThread_3 in balance_dirty_pages\nFlushRealTimeService in balance_dirty_pages",
			},
			{Title: "Time in which some task waited for I/O", Value: number(76), Unit: "percent", Threshold: number(10), Role: model.RoleConfirms, State: model.EvidenceHolds, Expr: ioExpr},
			{Title: "Time in which some task waited for memory", Value: number(0), Unit: "percent", Threshold: number(5), Role: model.RoleContradicts, State: model.EvidenceFails, Expr: memoryExpr},
			{Title: "Write await of nvme1n1", Value: number(0.0021), Unit: "seconds", Role: model.RoleContext, State: model.EvidenceShown, Expr: awaitExpr},
		},
		Remedy: []model.Remedy{
			{
				Title: "Fit both dirty limits to this disk", Kind: model.RemedyNow,
				Why:     "The flusher begins earlier, and a burst does not meet the limit. Write speed: 251 MiB/s, measured while a write queue stood.",
				Current: "background 2.75 GiB, limit 5.5 GiB (vm.dirty_background_ratio=50, vm.dirty_ratio=50: RocketMQ's os.sh)",
				Apply:   "sysctl -w vm.dirty_bytes=2147483648 vm.dirty_background_bytes=268435456",
				Persist: "# /etc/sysctl.d/90-stallmark.conf\nvm.dirty_bytes = 2147483648\nvm.dirty_background_bytes = 268435456",
				// A ratio of 0 is ignored by the kernel; writing the ratio clears the bytes.
				Rollback: "sysctl -w vm.dirty_ratio=50 vm.dirty_background_ratio=50",
				Verify:   "Threads asleep in balance_dirty_pages falls to 0 within 10 s of the backlog's end; dirty pages stay below 2 GiB.",
				Risk:     "Takes effect at once. Until the backlog is below the new limit, writers are paused harder: up to a minute.",
			},
			{Title: "Turn on transientStorePoolEnable", Kind: model.RemedyLater, Why: "Appends then go to memory that is not page cache.", Apply: "transientStorePoolEnable=true", Risk: "A crash loses what was not committed."},
			{Title: "Live with it", Kind: model.RemedyAccept, Why: "A pause is at most 200 ms; if clients' timeouts are above that and the backlog is rare, nothing needs doing."},
		},
	}
}

func reclaimFinding(c model.Confidence) model.Finding {
	return model.Finding{
		ID: "f-reclaim", Signature: "direct-reclaim", Title: "Threads that allocate must reclaim memory themselves",
		Layer: model.LayerCause, Severity: model.SeverityCritical, State: model.StateFiring, Confidence: c,
		Subject: map[string]string{}, Started: end().Add(-37 * time.Second), What: directReclaim().What,
		Explains: []string{"rocketmq-append-stall"},
		Evidence: []model.Evidence{
			{Title: "Pages scanned by allocating threads", Value: number(22140), Unit: "pages/s", Threshold: number(1000), Role: model.RoleConfirms, State: model.EvidenceHolds, Expr: directExpr},
			{Title: "Time in which some task waited for memory", Value: number(54), Unit: "percent", Threshold: number(5), Role: model.RoleConfirms, State: model.EvidenceHolds, Expr: memoryExpr},
			{Title: "Threads in reclaim", Value: number(3), Unit: "count", Threshold: number(0), Role: model.RoleWitness, State: model.EvidenceHolds, Detail: "SendMessageThread_2 in shrink_lruvec", Expr: `sum(stallmark_blocked_threads{wait="reclaim"})`},
		},
		Remedy: []model.Remedy{{
			Title: "Let kswapd start earlier", Kind: model.RemedyNow, Why: "kswapd then frees memory before anybody has to wait for it.",
			Current: "watermark_scale_factor 10: kswapd starts 16 MiB above the low watermark", Apply: "sysctl -w vm.watermark_scale_factor=200",
			Rollback: "sysctl -w vm.watermark_scale_factor=10", Risk: "About 320 MiB more stay free.", Verify: "Pages scanned by allocating threads falls to 0 within 5 s.",
		}},
	}
}

func simple(id, signature, title string, layer model.Layer, start time.Time, evidence string, value float64, unit string, threshold float64) model.Finding {
	return model.Finding{
		ID: id, Signature: signature, Title: title, Layer: layer, Severity: model.SeverityWarning, State: model.StateFiring,
		Confidence: model.Likely, Subject: map[string]string{"process": "rocketmq-broker"}, Started: start, What: title + ".",
		Evidence: []model.Evidence{{Title: evidence, Value: &value, Unit: unit, Threshold: &threshold, Role: model.RoleConfirms, State: model.EvidenceHolds}},
	}
}

func ruledOut() []model.RuledOut {
	return []model.RuledOut{
		{Signature: "dirty-throttling", Title: "Writers are paused at the dirty-page limit", Why: "dirty pages reached 52 % of the point where writers are paused"},
		{Signature: "direct-reclaim", Title: "Threads that allocate must reclaim memory themselves", Why: "0 pages/s scanned by allocating threads"},
		{Signature: "disk-saturation", Title: "The disk has a standing queue on a plateau", Why: "queue of nvme1n1 9.5, below its plateau"},
		{Signature: "gc-stop-the-world", Title: "The collector stops the broker", Why: "longest pause 14 ms"},
		{Signature: "swap-in-stall", Title: "Threads wait for pages to be swapped in", Why: "0 pages/s swapped in"},
		{Signature: "memcg-reclaim", Title: "Threads reclaim inside a cgroup's memory limit", Why: "no broker has a memory limit"},
		{Signature: "cfs-throttling", Title: "The CPU quota is used up", Why: "no broker has a quota"},
		{Signature: "cpu-saturation", Title: "All CPUs are busy", Why: "CPUs busy 31 %"},
		{Signature: "writeback-churn", Title: "The same pages are written again and again", Why: "1.0 pages written for each page dirtied"},
		{Signature: "tlb-shootdown-storm", Title: "CPUs interrupt each other to drop mappings", Why: "41 shootdowns/s, own normal 38/s"},
	}
}

func journalUnknown() model.Unknown {
	return model.Unknown{
		Signature: "fsync-stall", Title: "Flushes take long", Layer: model.LayerCause, Severity: model.SeverityWarning,
		Why: "thread stacks may not be read", Mend: "run with CAP_SYS_PTRACE and CAP_SYS_ADMIN",
	}
}

func coverage() []model.Coverage {
	since := end().Add(-9 * 24 * time.Hour)
	var out []model.Coverage
	for _, name := range []string{"vmstat", "meminfo", "diskstats", "stat", "pressure", "zoneinfo", "settings", "brokers", "threads"} {
		out = append(out, model.Coverage{Source: name, State: model.SourceOK, Since: since})
	}
	out[8].State, out[8].Detail, out[8].Mend = model.SourcePartial, "wait channels are read, stacks are not", "run with CAP_SYS_ADMIN"
	return append(out, model.Coverage{Source: "gc-log", State: model.SourceAbsent, Detail: "no GC log is named on the broker's command line", Mend: "start the broker with -Xlog:gc*,safepoint:file=...", Since: since})
}

func facts() map[string]model.Fact {
	all := map[string]model.Fact{}
	for k, v := range map[string]string{
		"host.name": "broker-07", "host.kernel": "6.1.0-18-amd64", "sysctl.vm.dirty_ratio": "50",
		"block.nvme1n1.model": "Micron 7450 MTFDKBG960TFR", "block.nvme1n1.scheduler": "none", "block.nvme1n1.mounts": "/data/rocketmq",
		"block.nvme0n1.model": "Samsung PM9A3", "block.nvme0n1.scheduler": "none",
		"process.4242.name": "rocketmq-broker", "process.4242.store_device": "nvme1n1",
	} {
		all[k] = model.Fact{At: end().Add(-time.Hour), Key: k, Value: v}
	}
	return all
}
