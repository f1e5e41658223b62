package gclog

import (
	"strings"
	"testing"
	"time"

	"stallmark/collectors"
	"stallmark/storage/model"
)

const liveLog = `[2026-11-30T23:51:22.500+0000][0.030s][info][gc] Using G1
[2026-11-30T23:51:32.500+0000][10.030s][info][gc] GC(0) Pause Young (Normal) (G1 Evacuation Pause) 6M->4M(96M) 8.000ms
[2026-11-30T23:51:32.500+0000][10.030s][info][gc,cpu] GC(0) User=0.01s Sys=0.00s Real=0.01s
[2026-11-30T23:51:32.501+0000][10.031s][info][safepoint] Safepoint "G1CollectForAllocation", Time since last: 10000 ns, Reaching safepoint: 100000 ns, At safepoint: 8500000 ns, Total: 8600000 ns
[2026-11-30T23:51:43.500+0000][21.030s][info][gc] GC(1) Pause Full (System.gc()) 90M->5M(96M) 3000.000ms
[2026-11-30T23:51:43.500+0000][21.030s][info][gc,cpu] GC(1) User=0.20s Sys=0.10s Real=3.00s
[2026-11-30T23:51:43.501+0000][21.031s][info][safepoint] Safepoint "G1CollectFull", Time since last: 10000 ns, Reaching safepoint: 200000 ns, At safepoint: 3001000000 ns, Total: 3001200000 ns
[2026-11-30T23:51:45.000+0000][22.530s][info][safepoint] Safepoint "Deoptimize", Time since last: 10000 ns, Reaching safepoint: 1400000000 ns, At safepoint: 100000000 ns, Total: 1500000000 ns
`

// beat feeds lines and gives the samples and events of one beat.
func beat(p *Parser, m *Meter, out *collectors.Out, at time.Time, lines string) (map[string]float64, []model.Event) {
	for line := range strings.Lines(lines) {
		p.Feed([]byte(line), at)
	}
	p.Tick(at)
	out.Reset(at)
	m.Put(out)
	values := map[string]float64{}
	for _, s := range out.Samples() {
		key := s.Series.Name
		for _, l := range s.Series.Labels {
			if l.Name != "process" && l.Name != "pid" {
				key += "{" + l.Value + "}"
			}
		}
		values[key] = s.Value
	}
	return values, out.Events()
}

func TestMeter(t *testing.T) {
	at := time.Date(2026, 11, 30, 23, 51, 46, 0, time.UTC)
	m := NewMeter(MeterConfig{Process: "kafka-broker", Pid: "42", Log: "/x/gc.log"})
	p := NewParser(m.Handler())
	out := collectors.NewOut("gclog")
	values, events := beat(p, m, out, at, liveLog)
	for name, want := range map[string]float64{
		"stallmark_gc_pause_seconds_sum{full}":                    3,
		"stallmark_gc_pause_seconds_count{young}":                 1,
		"stallmark_gc_pause_seconds_max{full}":                    3,
		"stallmark_gc_pause_class_seconds_total{blocked}":         3,
		"stallmark_gc_pause_class_seconds_total{work}":            0.008,
		"stallmark_gc_pause_cpu_seconds_total{sys}":               0.1,
		"stallmark_safepoint_seconds_sum{no}":                     1.5,
		"stallmark_safepoint_seconds_count{yes}":                  2,
		"stallmark_safepoint_reaching_seconds_max{no}":            1.4,
		"stallmark_jvm_heap_used_after_gc_bytes":                  5 << 20,
		"stallmark_jvm_heap_capacity_bytes":                       96 << 20,
		"stallmark_gc_pause_begin_time_seconds":                   float64(time.Date(2026, 11, 30, 23, 51, 40, 500e6, time.UTC).UnixMilli()) / 1000,
		"stallmark_gc_allocation_stall_seconds_count{allocation}": 0,
	} {
		if got, ok := values[name]; !ok || got < want-1e-9 || got > want+1e-9 {
			t.Errorf("%s = %v (%v), want %v", name, got, ok, want)
		}
	}
	if len(events) != 2 {
		t.Fatalf("%d events, want the full collection and the other safepoint: %+v", len(events), events)
	}
	full := events[0]
	if want := time.Date(2026, 11, 30, 23, 51, 40, 500e6, time.UTC); !full.From.Equal(want) || !full.To.Equal(want.Add(3*time.Second)) {
		t.Errorf("the pause is at %v to %v, want it to begin at %v", full.From, full.To, want)
	}
	for key, want := range map[string]string{
		"kind": "full", "cause": "System.gc()", "ms": "3000", "user_ms": "200", "sys_ms": "100", "real_ms": "3000",
		"class": "blocked", "heap_before": "94371840", "heap_after": "5242880", "process": "kafka-broker", "pid": "42", "log": "/x/gc.log",
	} {
		if full.Attrs[key] != want {
			t.Errorf("attribute %s = %q, want %q", key, full.Attrs[key], want)
		}
	}
	if other := events[1].Attrs; other["operation"] != "Deoptimize" || other["class"] != "safepoint" {
		t.Errorf("the other safepoint: %v", other)
	}
	values, events = beat(p, m, out, at.Add(time.Second), "")
	if values["stallmark_gc_pause_seconds_max{full}"] != 0 || values["stallmark_gc_pause_seconds_sum{full}"] != 3 || len(events) != 0 {
		t.Errorf("a calm beat keeps its counters and has no maximum: %v, %v", values, events)
	}
}

// A pause without processor times or safepoint is handed out after a second.
func TestTick(t *testing.T) {
	at := time.Date(2026, 11, 30, 23, 51, 46, 0, time.UTC)
	got := 0
	p := NewParser(Handler{Pause: func(*Pause) { got++ }})
	p.Feed([]byte("[1.5s][info][gc] GC(0) Pause Young (Normal) (G1 Evacuation Pause) 6M->4M(96M) 80.000ms"), at)
	p.Tick(at.Add(100 * time.Millisecond))
	if got != 0 {
		t.Error("its processor times may still come")
	}
	p.Tick(at.Add(2 * time.Second))
	if got != 1 {
		t.Error("it was not handed out")
	}
}

// With uptimes only, the begin of the JVM gives the times of pauses.
func TestUptimeOnly(t *testing.T) {
	begin := time.Date(2026, 11, 30, 12, 0, 0, 0, time.UTC)
	line := []byte("[10,500s][info][gc] GC(0) Pause Young (Normal) (G1 Evacuation Pause) 6M->4M(96M) 500,000ms")
	for _, c := range []struct {
		name    string
		options []Option
		now     time.Time
		clock   Clock
		wall    time.Time
	}{
		{"at rest", nil, time.Time{}, ClockUptime, time.Time{}},
		{"start known", []Option{StartedAt(begin, 10*time.Millisecond)}, time.Time{}, ClockDerived, begin.Add(10 * time.Second)},
		{"live", nil, begin.Add(11 * time.Second), ClockDerived, begin.Add(10500 * time.Millisecond)},
	} {
		t.Run(c.name, func(t *testing.T) {
			var got Pause
			p := NewParser(Handler{Pause: func(p *Pause) { got = *p }}, c.options...)
			p.Feed(line, c.now)
			p.Flush()
			if got.Start.Clock != c.clock || !got.Start.Wall.Equal(c.wall) || got.Start.Uptime != 10*time.Second {
				t.Errorf("got %+v", got.Start)
			}
		})
	}
}

func TestUnion(t *testing.T) {
	second := func(s float64) time.Time { return time.UnixMilli(int64(1000 * s)) }
	var u union
	total := time.Duration(0)
	for _, c := range [][2]float64{{0, 2}, {1, 3}, {5, 6}, {5.5, 7}, {4, 8}, {9, 9.5}} {
		total += u.add(second(c[0]), second(c[1]))
	}
	if total != 7500*time.Millisecond {
		t.Errorf("the union is %v, want 7.5s", total)
	}
}
