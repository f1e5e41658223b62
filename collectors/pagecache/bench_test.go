package pagecache

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"stallmark/collectors/process"
)

// BenchmarkBeat is a beat between two passes over a store of 500 segments.
func BenchmarkBeat(b *testing.B) {
	d := newDisk()
	for i := range 500 {
		d.put(segment("/s/commitlog", i), 64, 10)
	}
	s := newBench(b, d, Config{Every: time.Hour, MaxFiles: 1000}, rocket)
	s.pass()
	out, at := s.out, s.at
	b.ReportAllocs()
	for b.Loop() {
		out.Reset(at)
		if err := s.source.Collect(s.root, out); err != nil {
			b.Fatal(err)
		}
		out.EndMissing()
	}
}

// BenchmarkSnapshot is what a page asks for, of 500 segments.
func BenchmarkSnapshot(b *testing.B) {
	d := newDisk()
	for i := range 500 {
		d.put(segment("/s/commitlog", i), 64, 10)
	}
	s := newBench(b, d, Config{MaxFiles: 1000}, rocket)
	s.pass()
	b.ReportAllocs()
	for b.Loop() {
		if n := len(s.source.Snapshot()); n != 500 {
			b.Fatal(n)
		}
	}
}

// BenchmarkLook asks about 256 MiB that are in memory, in pages of their own
// (read without read-ahead) and as the file system likes.
func BenchmarkLook(b *testing.B) {
	const size = 256 << 20
	for _, c := range []struct {
		name    string
		advice  int
		without bool
	}{
		{"cachestat/pages", unix.FADV_RANDOM, false},
		{"cachestat/folios", unix.FADV_NORMAL, false},
		{"mincore/pages", unix.FADV_RANDOM, true},
		{"mincore/folios", unix.FADV_NORMAL, true},
	} {
		b.Run(c.name, func(b *testing.B) {
			name := filepath.Join(b.TempDir(), "segment")
			if err := os.WriteFile(name, make([]byte, size), 0o600); err != nil {
				b.Fatal(err)
			}
			f, err := os.Open(name)
			if err != nil {
				b.Fatal(err)
			}
			defer f.Close()
			if err := f.Sync(); err != nil {
				b.Fatal(err)
			}
			_ = unix.Fadvise(int(f.Fd()), 0, 0, unix.FADV_DONTNEED)
			_ = unix.Fadvise(int(f.Fd()), 0, 0, c.advice)
			for buf, at := make([]byte, pageSize), int64(0); at < size; at += pageSize {
				if _, err := f.ReadAt(buf, at); err != nil {
					b.Fatal(err)
				}
			}
			l := newLooker()
			l.noCachestat = c.without
			b.ReportAllocs()
			for b.Loop() {
				h, err := live{plainOpener{}, pageSize}.open(process.ID{}, name)
				if err != nil {
					b.Fatal(err)
				}
				r, err := l.look(h)
				h.close()
				if err != nil || r.resident(pageSize) < size/100*99 { // some may have been evicted
					b.Fatalf("%d resident, %v", r.resident(pageSize), err)
				}
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/(float64(size)/(1<<30)), "ns/GiB")
		})
	}
}
