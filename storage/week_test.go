package storage

import (
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"strconv"
	"sync"
	"testing"
	"time"

	"go.etcd.io/bbolt"

	"stallmark/storage/block"
	"stallmark/storage/internal/capture"
	"stallmark/storage/model"
)

// week makes a file of several days of 1,000 series that ends at the given time;
// it is kept beside the benchmarks' other caches so that it is made once.
func week(b *testing.B, days int) string {
	b.Helper()
	dir, err := os.UserCacheDir()
	if err != nil {
		b.Fatal(err)
	}
	path := filepath.Join(dir, "stallmark-bench-"+strconv.Itoa(days)+"d-2", "stallmark.db")
	if _, err := os.Stat(path); err == nil {
		return path
	}
	part := filepath.Join(b.TempDir(), "stallmark.db")
	makeWeek(b, part, days, base+int64(days)*dayMillis)
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		b.Fatal(err)
	}
	copyFile(b, part, path)
	return path
}

func copyFile(t testing.TB, from, to string) {
	t.Helper()
	in, err := os.Open(from)
	if err != nil {
		t.Fatal(err)
	}
	defer in.Close()
	out, err := os.Create(to)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := io.Copy(out, in); err != nil {
		t.Fatal(err)
	}
	if err := out.Close(); err != nil {
		t.Fatal(err)
	}
}

// TestMakeWeek makes such a file that ends now where STALLMARK_WEEK says, for
// who wants to look at it or measure the whole program.
func TestMakeWeek(t *testing.T) {
	path := os.Getenv("STALLMARK_WEEK")
	if path == "" {
		t.Skip("STALLMARK_WEEK names no file to make")
	}
	makeWeek(t, path, 7, slotStart(time.Now().UnixMilli()))
}

// makeWeek writes the blocks as the child would have after a week, ten minutes
// and an hour at a time, without going through the minutes.
func makeWeek(t testing.TB, path string, days int, end int64) {
	t.Helper()
	c, err := capture.Load(capture.DirtyThrottle)
	if err != nil {
		t.Fatal(err)
	}
	widen(c, 1000)
	start := hourStart(end - int64(days)*dayMillis)
	d, err := openDisk(childConfig{
		path: path, now: func() time.Time { return time.UnixMilli(end) }, log: slog.New(slog.DiscardHandler),
		space: func(string) (int64, int64) { return 1 << 40, 1 },
	}, hello{Interval: time.Second, Retention: 30 * 24 * time.Hour, RollupRetention: 30 * 24 * time.Hour, MaxBytes: 1 << 40})
	if err != nil {
		t.Fatal(err)
	}
	d.db.NoSync = true
	l := capture.NewShuffled(c, start, 1000)
	numbers := map[*model.Series]int{}
	for i, s := range c.Series {
		numbers[s] = i
	}
	for hour := start; hour < end; hour += hourMillis {
		if err := d.putHour(l, numbers, keysOf(c), hour, min(hour+hourMillis, end)); err != nil {
			t.Fatal(err)
		}
	}
	err = d.change(func(tx *bbolt.Tx) error { return writeProgress(tx, progress{Last: end - 1000, Fresh: start}) })
	if err != nil {
		t.Fatal(err)
	}
	d.db.NoSync = false
	if err := d.close(); err != nil {
		t.Fatal(err)
	}
}

func keysOf(c *capture.Capture) []string {
	keys := make([]string, len(c.Series))
	for i, s := range c.Series {
		keys[i] = string(appendKey(nil, s))
	}
	return keys
}

// putHour stores the blocks and rollups of the time from start to end.
func (d *disk) putHour(l *capture.Loop, numbers map[*model.Series]int, keys []string, start, end int64) error {
	var slots []rowsAndColumns
	for slot := start; slot < end; slot += slotMillis {
		slots = append(slots, nextSlot(l, numbers, slot))
	}
	packed := make([][]byte, len(slots))
	var wait sync.WaitGroup
	for i := range slots {
		wait.Go(func() {
			packed[i] = block.NewEncoder().EncodeFrames(nil, slots[i].times, slots[i].columns, block.NarrowFrames)
		})
	}
	var r hourRollup
	for _, s := range slots {
		minutes := r.minutes(s.times)
		for _, c := range s.columns {
			r.add(c, minutes)
		}
	}
	wait.Wait()
	return d.change(func(tx *bbolt.Tx) error {
		old := d.dicts.get(tx, dayStart(start))
		names := old.extended(keys)
		if err := names.writeNames(tx, len(old.keys), d.zenc); err != nil {
			return err
		}
		d.dicts.put(names)
		for i, p := range packed {
			if err := putBlock(tx.Bucket(bucketRaw), timeKey(start+int64(i)*slotMillis), p); err != nil {
				return err
			}
		}
		if end < start+hourMillis {
			return nil // not complete
		}
		return putBlock(tx.Bucket(bucketRollup), timeKey(hourStart(start)), d.encoder.EncodeFrames(nil, r.times, r.columns(), block.NarrowFrames))
	})
}

// nextSlot is ten minutes of the loop; the series have the numbers from 0 on.
func nextSlot(l *capture.Loop, at map[*model.Series]int, start int64) rowsAndColumns {
	const rows = slotMillis / 1000
	out := rowsAndColumns{columns: make([]block.Column, len(at))}
	for row := range uint16(rows) {
		b := l.Next()
		out.times = append(out.times, start+int64(row)*1000+b.At%7)
		for i, s := range b.Samples {
			n := at[s.Series]
			c := &out.columns[n]
			c.ID = uint32(n)
			c.Rows, c.Vals = append(c.Rows, row), append(c.Vals, b.Samples[i].Value)
		}
	}
	kept := out.columns[:0]
	for _, c := range out.columns {
		if len(c.Vals) > 0 {
			kept = append(kept, c)
		}
	}
	out.columns = kept
	return out
}
