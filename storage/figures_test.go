package storage

import (
	"bytes"
	"context"
	"errors"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/prometheus/promql"
	"golang.org/x/sys/unix"

	"stallmark/storage/internal/capture"
	"stallmark/storage/model"
)

// loop makes an endless run of beats from a capture.
func loop(t testing.TB, name string) *capture.Loop {
	t.Helper()
	c, err := capture.Load(name)
	if err != nil {
		t.Fatal(err)
	}
	return capture.NewShuffled(c, base, 1000)
}

// written is how many bytes this process has had written to disks.
func written(t testing.TB) (disk, calls float64) {
	t.Helper()
	b, err := os.ReadFile("/proc/self/io")
	if err != nil {
		t.Fatal(err)
	}
	for line := range bytes.Lines(b) {
		k, v, _ := bytes.Cut(bytes.TrimSpace(line), []byte(": "))
		n, _ := strconv.ParseFloat(string(v), 64)
		switch string(k) {
		case "write_bytes":
			disk = n
		case "wchar":
			calls = n
		}
	}
	return disk, calls
}

func BenchmarkAppend(b *testing.B) {
	l := loop(b, capture.DirtyThrottle)
	s := NewMemory(Options{Now: time.Now})
	for range 200 {
		s.Append(l.Next())
	}
	batch := l.Next()
	b.ReportAllocs()
	i := 200
	for b.Loop() {
		i++
		batch.At = base + int64(i)*1000
		s.Append(batch)
		if i%300 == 0 {
			b.StopTimer()
			s.head.drop(func(sp *span) bool { return sp.start < spanStart(batch.At)-keepMillis })
			b.StartTimer()
		}
	}
	b.ReportMetric(float64(len(batch.Samples)), "samples/op")
}

// BenchmarkHour writes an hour of a host through parent and child.
func BenchmarkHour(b *testing.B) {
	for _, name := range []string{capture.DirtyThrottle, capture.DirectReclaim, capture.Idle} {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				hour(b, name)
			}
		})
	}
}

func hour(b *testing.B, name string) {
	l := loop(b, name)
	path := dbPath(b)
	s := openTest(b, path)
	samples, journal := 0, int64(0)
	before, _ := written(b)
	for i := range 3600 + 60 {
		batch := l.Next()
		samples += len(batch.Samples)
		s.Append(batch)
		if i%60 == 50 {
			s.drained(b)
			journal += s.Status().JournalBytes
		}
	}
	s.drained(b)
	after, _ := written(b)
	st := s.Status()
	n := float64(samples) * 60 / 61
	b.ReportMetric(float64(st.UsedBytes)/n, "used-B/sample")
	b.ReportMetric(float64(st.FileBytes)/n, "file-B/sample")
	b.ReportMetric(float64(journal)/61/51, "journal-B/beat")
	b.ReportMetric((after-before)/61/1024, "written-KiB/min")
	s.shut(b)
}

// widen repeats series under other names until there are n.
func widen(c *capture.Capture, n int) {
	for i := 0; len(c.Series) < n; i++ {
		s := *c.Series[i]
		c.Series = append(c.Series, model.NewSeries("again_"+s.Name, flat(s.Labels)...))
		c.Values, c.Has = append(c.Values, c.Values[i]), append(c.Has, c.Has[i])
	}
	c.Series, c.Values, c.Has = c.Series[:n], c.Values[:n], c.Has[:n]
}

func flat(ls []model.Label) (pairs []string) {
	for _, l := range ls {
		pairs = append(pairs, l.Name, l.Value)
	}
	return pairs
}

// charts are what a page of twelve charts asks of 1,000 series.
func charts() []string {
	return []string{
		`(node_vmstat_nr_dirty + node_vmstat_nr_writeback) * 4096`,
		`(node_vmstat_nr_dirty_threshold + node_vmstat_nr_dirty_background_threshold) / 2 * 4096`,
		`100 * rate(node_pressure_io_waiting_seconds_total[3s])`,
		`node_procs_blocked`,
		`rate(node_disk_written_bytes_total[3s])`,
		`rate(node_disk_write_time_seconds_total[3s]) / rate(node_disk_writes_completed_total[3s])`,
		`rate(node_vmstat_pgscan_direct[3s])`,
		`rate(node_vmstat_pgmajfault[3s])`,
		`sum(node_zoneinfo_nr_free_pages) * 4096`,
		`100 * sum(rate(node_cpu_seconds_total{mode=~"user|nice|system|irq|softirq|steal"}[3s]))`,
		`rate(node_context_switches_total[3s])`,
		`node_memory_MemAvailable_bytes`,
	}
}

// overWindow is the expression as a page asks for it when its steps are long:
// ranges as long as the step, gauges by their extremes.
func overWindow(expr string, step time.Duration) string {
	if step <= 3*time.Second {
		return expr
	}
	expr = strings.ReplaceAll(expr, "[3s]", "["+step.String()+"]")
	gauge := regexp.MustCompile(`\bnode_(vmstat_nr_dirty|vmstat_nr_writeback|vmstat_nr_dirty_threshold|vmstat_nr_dirty_background_threshold|procs_blocked|zoneinfo_nr_free_pages|memory_MemAvailable_bytes)\b`)
	return gauge.ReplaceAllString(expr, "max_over_time($0["+step.String()+"])")
}

// BenchmarkSelectCharts asks for twelve charts of a week's file by PromQL, as
// the page does. The child is part of this process: cpu-ms/op is the work of
// both, whatever else the machine does.
func BenchmarkSelectCharts(b *testing.B) {
	path := filepath.Join(b.TempDir(), "stallmark.db")
	copyFile(b, week(b, 7), path)
	s := openTest(b, path)
	end := time.UnixMilli(base + 7*dayMillis - 30*60_000 - 1000)
	engine := promql.NewEngine(promql.EngineOpts{MaxSamples: 50e6, Timeout: time.Minute, LookbackDelta: 3 * time.Second})
	for _, span := range []time.Duration{time.Hour, 7*24*time.Hour - 31*time.Minute} {
		step := (span / 1280).Truncate(time.Second) + time.Second
		b.Run(span.Round(time.Hour).String(), func(b *testing.B) {
			points, spent := 0, cpuTime(b)
			for b.Loop() {
				points = 0
				for _, expr := range charts() {
					points += ranged(b, engine, s.Store, overWindow(expr, step), end.Add(-span).Truncate(step), end, step)
				}
			}
			b.ReportMetric(float64((cpuTime(b)-spent).Milliseconds())/float64(b.N), "cpu-ms/op")
			b.ReportMetric(float64(points), "points/op")
		})
	}
}

// cpuTime is what this process has spent.
func cpuTime(b *testing.B) time.Duration {
	var u unix.Rusage
	if err := unix.Getrusage(unix.RUSAGE_SELF, &u); err != nil {
		b.Fatal(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

func ranged(b *testing.B, engine *promql.Engine, s *Store, expr string, from, to time.Time, step time.Duration) (points int) {
	q, err := engine.NewRangeQuery(context.Background(), s, nil, expr, from, to, step)
	if err != nil {
		b.Fatal(err)
	}
	defer q.Close()
	res := q.Exec(context.Background())
	if res.Err != nil {
		b.Fatal(res.Err)
	}
	for _, w := range res.Warnings {
		if errors.Is(w, ErrPartial) {
			b.Fatal(w)
		}
	}
	m, err := res.Matrix()
	if err != nil {
		b.Fatal(err)
	}
	for _, one := range m {
		points += len(one.Floats)
	}
	if points == 0 {
		b.Fatalf("%s gives nothing", expr)
	}
	return points
}
