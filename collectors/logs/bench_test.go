package logs

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"stallmark/collectors/logs/match"
	"stallmark/storage/model"
)

// idleFolder is a folder with files that nobody writes to.
func idleFolder(b *testing.B, files int) (*folder, *time.Time) {
	b.Helper()
	dir := b.TempDir()
	for i := range files {
		if err := os.WriteFile(filepath.Join(dir, fmt.Sprintf("%04d.log", i)), []byte("a line\n"), 0o600); err != nil {
			b.Fatal(err)
		}
	}
	now := time.Now().Add(time.Hour)
	cfg := &Config{Open: func(*File) Consumer { return discard{} }, Now: func() time.Time { return now }, Alert: func() bool { return false }}
	d := newFolder(cfg, Target{Folder: dir, Names: []string{"*.log"}}, dir, &limiter{rate: 1 << 40, now: cfg.Now}, now)
	b.Cleanup(d.shut)
	d.poll(context.Background())
	now = now.Add(time.Hour)
	d.poll(context.Background())
	return d, &now
}

// BenchmarkIdle polls a folder of idle files as often as it asks to be. The
// share of a core is the time that polls take of the time between them.
func BenchmarkIdle(b *testing.B) {
	for _, files := range []int{10, 50, 5000} {
		b.Run(fmt.Sprint(files), func(b *testing.B) {
			d, now := idleFolder(b, files)
			var between time.Duration
			b.ReportAllocs()
			for b.Loop() {
				wait := d.poll(context.Background())
				*now = now.Add(wait)
				between += wait
			}
			b.ReportMetric(100*float64(b.Elapsed())/float64(between), "%core")
		})
	}
}

// BenchmarkLines feeds lines of which none, or one of a thousand, matches.
func BenchmarkLines(b *testing.B) {
	const plain = "2026-03-01 12:00:00 INFO SendMessageThread_1 - a line about nothing in particular, of a length that is usual for a broker\n"
	for name, text := range map[string]string{
		"none": strings.Repeat(plain, 2000), "of1000": strings.Repeat(strings.Repeat(plain, 999)+line(700), 2), "all": strings.Repeat(line(700), 1000),
	} {
		b.Run(name, func(b *testing.B) {
			set, err := match.New([]model.LogPattern{inLock})
			if err != nil {
				b.Fatal(err)
			}
			at := time.Now()
			source := NewSource(SourceConfig{Patterns: set, Now: func() time.Time { return at }})
			file := &File{Path: "/x", Kind: KindText}
			f := newFeeder(file, source.Open(file))
			b.SetBytes(int64(len(text)))
			b.ReportAllocs()
			data := []byte(text)
			for b.Loop() {
				at = at.Add(time.Second / 100)
				f.feed(data, "", 0, false)
			}
		})
	}
}
