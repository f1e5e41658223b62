package main

import (
	"slices"
	"time"

	"stallmark/collectors/files/pasted"
	"stallmark/rules"
	"stallmark/storage/model"
)

// fromGrowth is why a cause is no more than possible by what grew between copies.
const fromGrowth = "it grew between two copies, and nobody knows how fast"

// grownCause is a cause that growth alone can speak for, by shares, which need no
// time, and by more than the odd one, which every host has; or what was so at one
// moment, by two witnesses.
type grownCause struct {
	signature, counter, title, unit, why string
	holds                                func(grown map[string]float64) bool
}

// grownCauses are by counters of /proc/vmstat and cgroups, under the names of [pasted.Grown].
func grownCauses() []grownCause {
	const (
		// oddOnes happen on any host within hours; a second of the condition of direct-reclaim has as many.
		oddOnes = 20
		// fewPages are 4 MiB: read one by one from a disk they are a second of waiting at a millisecond each.
		fewPages = 1000
		// metLimit is what ten seconds of the condition of memcg-reclaim have.
		metLimit = 200
		// tenth of the work: less is what kswapd leaves over when load rises.
		tenth = 0.1
	)
	return []grownCause{
		{"dirty-throttling", pasted.DirtyShare, "Dirty pages, of the level where writers are paused, at one moment", "percent", fromMoment, func(g map[string]float64) bool {
			return g[pasted.DirtyShare] > 0 && g[pasted.SeenWaiting+"dirty_throttle"] > 0
		}},
		{"direct-reclaim", "allocstall", "Allocations that had to reclaim first, between two copies", "count", fromGrowth, func(g map[string]float64) bool {
			return g["allocstall"] >= oddOnes && g["pgscan_direct"] >= tenth*(g["pgscan_direct"]+g["pgscan_kswapd"])
		}},
		{"swap-in-stall", "pswpin", "Pages that came back from swap, between two copies", "pages", fromGrowth, func(g map[string]float64) bool {
			return g["pswpin"] >= fewPages && g["pgmajfault"] >= tenth*g["pswpin"]/swapCluster
		}},
		{"memcg-reclaim", memoryHigh, "Allocations over memory.high of a cgroup, between two copies", "count", fromGrowth, func(g map[string]float64) bool {
			return g[memoryHigh] >= metLimit
		}},
		{"memcg-reclaim", memoryMax, "Allocations that met the limit of a cgroup, between two copies", "count", fromGrowth, func(g map[string]float64) bool {
			return g[memoryMax] >= metLimit
		}},
		{"thp-compaction-stall", "compact_stall", "Times that a thread compacted memory, between two copies", "count", fromGrowth, func(g map[string]float64) bool {
			return g["compact_stall"] >= oddOnes
		}},
		{"page-cache-thrash", "workingset_refault", "Pages that had been evicted and were read again, between two copies", "pages", fromGrowth, func(g map[string]float64) bool {
			return g["workingset_refault"] >= fewPages && g["workingset_refault"] >= tenth*(g["pgscan_direct"]+g["pgscan_kswapd"])
		}},
	}
}

// Counters of a cgroup's memory.events, under the names of [pasted.Grown].
const (
	memoryHigh = "memory.events high"
	memoryMax  = "memory.events max"
)

// swapCluster is how many pages one fault brings back from swap at the most by
// default (vm.page-cluster = 3).
const swapCluster = 8

// addGrown adds the causes that growth between copies without times speaks for, each
// as possible, unless the rules have found it.
func addGrown(r *model.Report, pack *rules.Pack, grown map[string]float64, at time.Time) {
	for _, c := range grownCauses() {
		sig := pack.Signature(c.signature)
		found := slices.ContainsFunc(r.Findings, func(f model.Finding) bool { return f.Signature == c.signature })
		if sig == nil || found || !c.holds(grown) {
			continue
		}
		v := grown[c.counter]
		f := model.Finding{
			ID: rules.FindingID(sig.ID, nil, at), Signature: sig.ID, Title: sig.Title, Layer: sig.Layer, Severity: sig.Severity,
			State: model.StateFiring, Subject: map[string]string{}, Started: at, Confidence: model.Possible, Caveat: c.why, What: sig.What,
			Evidence: []model.Evidence{{Title: c.title, Value: &v, Unit: c.unit, Role: model.RoleConfirms, State: model.EvidenceHolds}},
			Explains: slices.Clone(sig.Explains), RuledOut: []model.RuledOut{}, Remedy: []model.Remedy{},
		}
		r.Findings = append(r.Findings, f)
		r.Incidents = append(r.Incidents, model.Incident{Root: f.ID, Findings: []string{f.ID}, Started: at})
		r.Unknown = slices.DeleteFunc(r.Unknown, func(u model.Unknown) bool { return u.Signature == sig.ID })
		r.RuledOut = slices.DeleteFunc(r.RuledOut, func(o model.RuledOut) bool { return o.Signature == sig.ID })
	}
}
