package storage

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"strconv"
	"testing"
	"time"

	"github.com/prometheus/prometheus/model/labels"
	promstorage "github.com/prometheus/prometheus/storage"
	"github.com/prometheus/prometheus/tsdb/chunkenc"

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

// week makes a file of several days of 1,000 series; it is kept beside the
// benchmarks' other caches so that it is made once.
func week(b *testing.B, days int) string {
	dir, err := os.UserCacheDir()
	if err != nil {
		b.Fatal(err)
	}
	path := filepath.Join(dir, "stallmark-bench-"+strconv.Itoa(days), "stallmark.db")
	if _, err := os.Stat(path); err == nil {
		return path
	}
	c, err := capture.Load(capture.DirtyThrottle)
	if err != nil {
		b.Fatal(err)
	}
	widen(c, 1000)
	l := capture.NewShuffled(c, base, 1000)
	s := openTest(b, path, func(o *Options) { o.Retention = 30 * 24 * time.Hour })
	for i := range days * 86400 {
		s.Append(l.Next())
		if i%60 == 59 {
			s.drained(b)
		}
	}
	s.shut(b)
	return path
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

// charts are what a page of twelve charts selects.
var charts = []string{
	"node_vmstat_nr_dirty", "node_vmstat_nr_writeback", "node_vmstat_nr_dirty_threshold", "node_vmstat_pgscan_direct",
	"node_vmstat_allocstall_normal", "node_vmstat_pgmajfault", "node_disk_io_time_seconds_total", "node_disk_written_bytes_total",
	"node_pressure_io_stalled_seconds_total", "node_memory_MemAvailable_bytes", "node_cpu_seconds_total", "node_load1",
}

func BenchmarkSelectHourOfCharts(b *testing.B) {
	path := week(b, 2)
	s := openTest(b, path, func(o *Options) { o.Retention = 30 * 24 * time.Hour })
	end := base + 36*3600*1000
	b.ResetTimer()
	samples := 0
	for b.Loop() {
		samples = 0
		q, err := s.Querier(end-3600*1000, end)
		if err != nil {
			b.Fatal(err)
		}
		for _, name := range charts {
			hints := &promstorage.SelectHints{Start: end - 3600*1000, End: end, Step: 3000, Func: "rate", Range: 10_000}
			set := q.Select(context.Background(), false, hints, labels.MustNewMatcher(labels.MatchEqual, "__name__", name))
			for set.Next() {
				it := set.At().Iterator(nil)
				for it.Next() != chunkenc.ValNone {
					samples++
				}
			}
			if set.Err() != nil || len(set.Warnings()) > 0 {
				b.Fatal(set.Err(), set.Warnings())
			}
		}
	}
	b.ReportMetric(float64(samples), "samples/op")
}
