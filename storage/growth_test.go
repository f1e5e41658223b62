package storage

import (
	"log/slog"
	"testing"
	"time"

	"stallmark/storage/internal/capture"
	"stallmark/storage/model"
)

// growth is how large the file was and how much of it was in use, hour by hour.
type growth struct{ file, used []int64 }

// grown stores minute after minute as the child does, without waiting for the
// disk, and looks at the file each hour.
func grown(t testing.TB, hours int64, series int, retention, rollups time.Duration) (g growth) {
	t.Helper()
	c, err := capture.Load(capture.DirtyThrottle)
	if err != nil {
		t.Fatal(err)
	}
	widen(c, series)
	now := base
	d, err := openDisk(childConfig{
		path: dbPath(t), now: func() time.Time { return time.UnixMilli(now) }, log: slog.New(slog.DiscardHandler),
		space: func(string) (int64, int64) { return 1 << 40, 1 },
	}, hello{Interval: time.Second, Retention: retention, RollupRetention: rollups, MaxBytes: 1 << 40})
	if err != nil {
		t.Fatal(err)
	}
	defer d.close()
	d.db.NoSync = true
	l := capture.NewShuffled(c, base, 1000)
	keys := keysOf(c)
	numbers := map[*model.Series]int{}
	for i, s := range c.Series {
		numbers[s] = i
	}
	for n := range hours * 6 {
		slot := nextSlot(l, numbers, base+n*slotMillis)
		for k := range slot.times[:10] {
			now = base + n*slotMillis + int64(k)*spanMillis
			if err := d.keep(slot.minute(now, k*60, keys), nil, int(n)*10+k+1); err != nil {
				t.Fatal(err)
			}
		}
		if n%6 == 5 {
			st := d.snapshot()
			g.file, g.used = append(g.file, st.FileBytes), append(g.used, st.UsedBytes)
		}
	}
	return g
}

// minute is sixty rows of the ten minutes.
func (rc rowsAndColumns) minute(start int64, row int, keys []string) minute {
	m := minute{start: start, fresh: start == base, times: rc.times[row : row+60]}
	for _, c := range rc.columns {
		one := keyedColumn{key: keys[c.ID]}
		for i, r := range c.Rows {
			if int(r) >= row && int(r) < row+60 {
				one.rows, one.vals = append(one.rows, r-uint16(row)), append(one.vals, c.Vals[i])
			}
		}
		m.columns = append(m.columns, one)
	}
	return m
}

// TestFileStaysBounded stores a day and keeps six hours: the file grows by
// steps and not by doubling itself, and what retention frees is used again, so
// that it stops growing.
func TestFileStaysBounded(t *testing.T) {
	g := grown(t, 24, 40, 6*time.Hour, 12*time.Hour)
	for h := 1; h < len(g.file); h++ {
		if step := g.file[h] - g.file[h-1]; step > 4*allocStep {
			t.Errorf("hour %d: the file grew by %d bytes, from %d", h, step, g.file[h-1])
		}
		if g.file[h] > g.used[h]*3/2+4*allocStep {
			t.Errorf("hour %d: %d bytes with %d in use", h, g.file[h], g.used[h])
		}
	}
	if g.file[23] > g.file[13]+2*allocStep {
		t.Errorf("the file goes on growing: %v", g.file)
	}
	t.Logf("file %v\nused %v", g.file, g.used)
}

// BenchmarkGrowth stores a week of 600 series and keeps two days of samples:
// most says how much larger than what is in use the file was at worst.
func BenchmarkGrowth(b *testing.B) {
	for i := 0; i < b.N; i++ {
		g := grown(b, 7*24, 600, 48*time.Hour, 30*24*time.Hour)
		worst, last := 0.0, len(g.file)-1
		for h := 24; h <= last; h++ {
			worst = max(worst, float64(g.file[h])/float64(g.used[h]))
		}
		const mib = 1 << 20
		b.ReportMetric(float64(g.file[71])/mib, "day3-file-MiB")
		b.ReportMetric(float64(g.file[last])/mib, "day7-file-MiB")
		b.ReportMetric(float64(g.used[71])/mib, "day3-used-MiB")
		b.ReportMetric(float64(g.used[last])/mib, "day7-used-MiB")
		b.ReportMetric(worst, "worst-file/used")
	}
}
