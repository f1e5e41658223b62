package gallery

import (
	"fmt"
	"math"
	"strconv"
	"time"

	"stallmark/storage/model"
)

// pauseEvents are pauses of a collector that meets a host under pressure.
func pauseEvents(n int) []model.Event {
	var out []model.Event
	for i := range n {
		ms := 20 + float64(i*37%90)
		kind, class, user, sys, reaching := "young", "work", ms*1.7, ms*0.1, 0.4
		switch {
		case i%11 == 7:
			ms, class, user, sys = 2140+float64(i), "blocked", 110, 40
		case i%11 == 9:
			kind, ms, class, user, sys = "full", 930, "sys-heavy", 210, 640
		case i%11 == 10:
			ms, class, reaching = 410, "safepoint", 380
		}
		from := end().Add(-time.Duration(700-20*i) * time.Second)
		number := func(v float64) string { return strconv.FormatFloat(v, 'g', -1, 64) }
		out = append(out, model.Event{
			From: from, To: from.Add(time.Duration(ms) * time.Millisecond), Kind: model.EventPause, Source: "logs", Text: fmt.Sprintf("%s %.0f ms", kind, ms),
			Attrs: map[string]string{
				"what": "gc", "kind": kind, "class": class, "ms": number(ms), "cause": "G1 Evacuation Pause", "process": "rocketmq-broker", "pid": "4242",
				"user_ms": number(user), "sys_ms": number(sys), "real_ms": number(ms - reaching), "stopped_ms": number(ms + 1), "reaching_ms": number(reaching),
				"heap_before": number(6.1 * gib), "heap_after": number(2.2 * gib), "heap_capacity": number(8 * gib),
			},
		})
	}
	return out
}

// collected is a JVM whose pauses wait for the host.
func collected() Scene {
	s := Stalling()
	s.About = "a JVM whose pauses wait for the host"
	who := []string{"process", "rocketmq-broker", "pid", "4242"}
	with := func(more ...string) []string { return append(append([]string{}, who...), more...) }
	d := s.Data
	for kind, share := range map[string]float64{"young": 0.02, "full": 0.01} {
		rate := func(s float64) float64 { return share * (1 + ramp(s, -128, -120)*6) }
		d.Counter(rate, "stallmark_gc_pause_seconds_sum", with("kind", kind)...)
		d.Counter(func(float64) float64 { return 0.3 }, "stallmark_gc_pause_seconds_count", with("kind", kind)...)
		d.Gauge(func(s float64) (float64, bool) {
			return math.Max(0, noise(s, share)) * (0.05 + 2*ramp(s, -128, -120)), true
		}, "stallmark_gc_pause_seconds_max", with("kind", kind)...)
	}
	for class, share := range map[string]float64{"work": 0.02, "blocked": 0.06, "sys-heavy": 0.02, "safepoint": 0.01} {
		d.Counter(func(s float64) float64 { return share * (0.3 + ramp(s, -128, -120)) }, "stallmark_gc_pause_class_seconds_total", with("class", class)...)
	}
	d.Counter(func(s float64) float64 { return 0.03 }, "stallmark_gc_pause_cpu_seconds_total", with("mode", "user")...)
	d.Counter(func(s float64) float64 { return 0.01 + 0.03*ramp(s, -128, -120) }, "stallmark_gc_pause_cpu_seconds_total", with("mode", "sys")...)
	d.Counter(func(s float64) float64 { return 0.03 + 0.15*ramp(s, -128, -120) }, "stallmark_gc_pause_real_seconds_total", who...)
	d.Gauge(func(s float64) (float64, bool) { return 2*gib + 300*mib*noise(math.Floor(s/20), 71), true }, "stallmark_jvm_heap_used_after_gc_bytes", who...)
	d.Always(8*gib, "stallmark_jvm_heap_capacity_bytes", who...)
	d.Gauge(func(s float64) (float64, bool) { return 0.001 + 0.3*max(0, noise(s, 72)-0.8), true }, "stallmark_safepoint_reaching_seconds_max", with("gc", "yes")...)
	d.Counter(func(float64) float64 { return 0.04 }, "stallmark_jvm_safepoint_seconds_total", who...)
	d.Counter(func(float64) float64 { return 0.004 }, "stallmark_jvm_safepoint_reaching_seconds_total", who...)
	d.Counter(func(float64) float64 { return 1 }, "stallmark_jvm_safepoints_total", who...)
	s.Events = append(s.Events, pauseEvents(34)...)
	s.Events = append(s.Events, logLines(end().Add(-128*time.Second), 30)...)
	s.Patterns = logPatterns()
	s.Report.Coverage = append(s.Report.Coverage,
		model.Coverage{Source: "GC log of zookeeper", State: model.SourceAbsent, Detail: "the JVM was started without one", Mend: "-Xlog:gc*,safepoint:file=FILE:time,uptime,level,tags", Since: end().Add(-time.Hour)},
		model.Coverage{Source: "hsperf", State: model.SourceOK, Since: end().Add(-time.Hour)},
	)
	return s
}
