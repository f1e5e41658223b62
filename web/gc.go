package web

import (
	"cmp"
	"context"
	"net/http"
	"slices"
	"strconv"

	"github.com/a-h/templ"

	"stallmark/storage/model"
	"stallmark/web/chart"
	"stallmark/web/format"
	"stallmark/web/view"
)

// jvmsExpr finds the JVMs that tell anything, by their log or their counters.
const jvmsExpr = `count by (process, pid, source) (stallmark_jvm_safepoints_total or stallmark_jvm_heap_used_after_gc_bytes or stallmark_gc_pause_seconds_count or stallmark_safepoint_seconds_count)`

// maxJVMs bounds the page.
const maxJVMs = 12

// jvmsIn are the watched JVMs of a window: those that tell anything at its end,
// and those that have paused in it.
func (s *server) jvmsIn(ctx context.Context, w view.Window, events []model.Event) ([]view.JVMKey, error) {
	found, err := s.cfg.Backend.Instant(ctx, jvmsExpr, w.To)
	if err != nil && s.frozen == nil { // a snapshot may be older than the page
		return nil, err
	}
	var out []view.JVMKey
	for _, one := range found {
		out = append(out, view.JVMKey{Process: one.Metric.Get("process"), Pid: one.Metric.Get("pid"), Source: one.Metric.Get("source")})
	}
	for _, e := range events {
		if k := view.JVMOf(e); e.Kind == model.EventPause && !slices.Contains(out, k) {
			out = append(out, k)
		}
	}
	slices.SortFunc(out, func(a, b view.JVMKey) int {
		return cmp.Or(cmp.Compare(a.Process, b.Process), cmp.Compare(a.Pid, b.Pid), cmp.Compare(a.Source, b.Source))
	})
	return out[:min(len(out), maxJVMs)], nil
}

func (s *server) jvm(r *http.Request, w view.Window) (templ.Component, error) {
	ctx := r.Context()
	events, err := s.cfg.Backend.EventsIn(ctx, w.From, w.To, model.EventPause, model.EventSetting, model.EventLog)
	if err != nil {
		return nil, err
	}
	coverage, err := s.cfg.Backend.CoverageAt(ctx, w.To)
	if err != nil {
		return nil, err
	}
	jvms, err := s.jvmsIn(ctx, w, events)
	if err != nil {
		return nil, err
	}
	p := s.live(s.frame(r, w, "JVM"))
	p.Timed, p.Twin = true, "/api/v1/jvm"+w.Query()
	page := view.JVMs{Page: p, Sources: view.NewSources(view.JVMCoverage(coverage))}
	b := backdrop{window: w, marks: marksOf(view.ChangesOf(events)), gaps: gapsOf(coverage), logs: view.LogTicks(events)}
	for i, k := range jvms {
		j := view.NewJVM(k, events)
		for n, one := range gcPanels() {
			one.subject = k.Subject()
			c := s.ask(ctx, "gc-"+strconv.Itoa(i+1)+"-"+strconv.Itoa(n+1), one, b)
			if len(c.Series) > 0 {
				j.Charts = append(j.Charts, chart.Lay(c))
			}
		}
		page.JVMs = append(page.JVMs, j)
	}
	return view.JVMsPage(page), nil
}

// gcPanels are the charts of a JVM; those without data are left out. A longest pause stands in one beat only, and beats are late by some
// milliseconds: over three of them none falls between two steps.
func gcPanels() []panel {
	return []panel{
		{
			title: "Longest pause by kind", unit: "seconds", note: "Of each beat, from the GC log.",
			lines: []line{{label: "kind", expr: `max by (process, pid, source, kind) (max_over_time(stallmark_gc_pause_seconds_max[3s]))`}},
		},
		{
			title: "Time in pauses by kind", unit: "percent", note: "Share of time in which all threads stood for the collector.",
			lines: []line{{label: "kind", expr: `100 * sum by (process, pid, source, kind) (rate(stallmark_gc_pause_seconds_sum[3s]))`}},
		},
		{
			title: "User, sys and real time of pauses", unit: "seconds/s", note: "Real above user and sys together: it waited. Sys above user: the kernel worked.",
			lines: []line{
				{name: "user", expr: `sum by (process, pid, source) (rate(stallmark_gc_pause_cpu_seconds_total{mode="user"}[3s]))`},
				{name: "sys", expr: `sum by (process, pid, source) (rate(stallmark_gc_pause_cpu_seconds_total{mode="sys"}[3s]))`},
				{name: "real", expr: `sum by (process, pid, source) (rate(stallmark_gc_pause_real_seconds_total[3s]))`},
			},
		},
		{
			title: "Where the pauses' time went", unit: "percent",
			lines: []line{{label: "class", expr: `100 * sum by (process, pid, source, class) (rate(stallmark_gc_pause_class_seconds_total[3s]))`}},
		},
		{
			title: "Heap after collection", unit: "bytes",
			lines:  []line{{expr: `max by (process, pid, source) (stallmark_jvm_heap_used_after_gc_bytes) or max by (process, pid, source) (stallmark_jvm_heap_used_bytes)`}},
			limits: []line{{name: "heap", expr: `max by (process, pid, source) (stallmark_jvm_heap_capacity_bytes) or max by (process, pid, source) (stallmark_jvm_heap_committed_bytes)`}},
		},
		{
			title: "Time to safepoint, longest", unit: "seconds", note: "Until all threads stood: not the collector's work.",
			lines: []line{
				{name: "for a collection", expr: `max by (process, pid, source) (max_over_time(stallmark_safepoint_reaching_seconds_max{gc="yes"}[3s]))`},
				{name: "for something else", expr: `max by (process, pid, source) (max_over_time(stallmark_safepoint_reaching_seconds_max{gc="no"}[3s]))`},
			},
		},
		{
			title: "At safepoints, by its own counters", unit: "percent", note: "Share of time; needs no log.",
			lines: []line{
				{name: "stopped", expr: `100 * sum by (process, pid, source) (rate(stallmark_jvm_safepoint_seconds_total[3s]))`},
				{name: "of that until they stood", expr: `100 * sum by (process, pid, source) (rate(stallmark_jvm_safepoint_reaching_seconds_total[3s]))`},
			},
		},
		{
			title: "Collections, by its own counters", unit: "percent", note: "Share of time; needs no log.",
			lines: []line{{label: "gc", expr: `100 * sum by (process, pid, source, gc) (rate(jvm_gc_collection_seconds_sum[3s]))`}},
		},
		{
			title: "Threads that waited for memory", unit: "seconds", note: "The longest wait of each beat, while others ran.",
			lines: []line{{label: "kind", expr: `max by (process, pid, source, kind) (max_over_time(stallmark_gc_allocation_stall_seconds_max[3s]))`}},
		},
	}
}

// maxPauseData bounds the pauses of a JVM in one answer.
const maxPauseData = 1000

// jvmData is a JVM in the JSON.
type jvmData struct {
	Process string      `json:"process"`
	Pid     string      `json:"pid"`
	Source  string      `json:"source,omitempty"` // the log, where no process is known that writes it
	Found   int         `json:"found"`
	Pauses  []pauseData `json:"pauses"` // the longest first
}

// pauseData is a pause in the JSON; null where nothing tells.
type pauseData struct {
	From     string   `json:"from"`
	To       string   `json:"to"`
	What     string   `json:"what"`
	Kind     string   `json:"kind,omitempty"`
	Class    string   `json:"class,omitempty"`
	Cause    string   `json:"cause,omitempty"`
	Ms       *float64 `json:"ms"`
	User     *float64 `json:"user_ms"`
	Sys      *float64 `json:"sys_ms"`
	Real     *float64 `json:"real_ms"`
	Stopped  *float64 `json:"stopped_ms"`
	Reaching *float64 `json:"reaching_ms"`
	Before   *float64 `json:"heap_before_bytes"`
	After    *float64 `json:"heap_after_bytes"`
	Capacity *float64 `json:"heap_capacity_bytes"`
}

func (s *server) jvmJSON(r *http.Request, w view.Window) (any, error) {
	events, err := s.cfg.Backend.EventsIn(r.Context(), w.From, w.To, model.EventPause)
	if err != nil {
		return nil, err
	}
	jvms, err := s.jvmsIn(r.Context(), w, events)
	if err != nil {
		return nil, err
	}
	coverage, err := s.cfg.Backend.CoverageAt(r.Context(), w.To)
	list := make([]jvmData, len(jvms))
	for i, k := range jvms {
		pauses := view.LongestPauses(events, k)
		list[i] = jvmData{Process: k.Process, Pid: k.Pid, Source: k.Source, Found: len(pauses), Pauses: []pauseData{}}
		for _, e := range pauses[:min(len(pauses), maxPauseData)] {
			list[i].Pauses = append(list[i].Pauses, pauseJSON(e))
		}
	}
	return map[string]any{"jvms": list, "coverage": append([]model.Coverage{}, view.JVMCoverage(coverage)...)}, err
}

func pauseJSON(e model.Event) pauseData {
	a := e.Attrs
	number := func(key string) *float64 {
		v, err := strconv.ParseFloat(a[key], 64)
		if err != nil || v != v || v > 1e300 || v < -1e300 { // neither is JSON
			return nil
		}
		return &v
	}
	return pauseData{
		From: format.ISO(e.From), To: format.ISO(e.To), What: a["what"], Kind: a["kind"], Class: a["class"], Cause: a["cause"],
		Ms: number("ms"), User: number("user_ms"), Sys: number("sys_ms"), Real: number("real_ms"), Stopped: number("stopped_ms"),
		Reaching: number("reaching_ms"), Before: number("heap_before"), After: number("heap_after"), Capacity: number("heap_capacity"),
	}
}
