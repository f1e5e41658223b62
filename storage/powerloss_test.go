package storage

import (
	"context"
	"fmt"
	"log/slog"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// The model of a disk that loses its power: what a file got before its last
// fsync or fdatasync is on the disk, with its name. Of the rest any part may be
// missing, in pieces of a page: writes, changes of the length, renames and
// removals, each by itself, whatever order they had.

// pageBytes is what a disk is taken to write as a whole. A checksum covers what
// is torn within a page.
const pageBytes = 4096

// afterPowerLoss writes what is left of the files to dir when the power goes
// after n calls. Lost is asked for every part of a call that was not synced.
func afterPowerLoss(t testing.TB, dir string, calls []fileCall, n int, lost func(call, piece int) bool) {
	t.Helper()
	synced := map[int]int{} // file -> calls before this one are safe
	for i, c := range calls[:n] {
		if c.kind == callSync {
			synced[c.file] = i
		}
	}
	files, names := map[int][]byte{}, map[string]int{}
	for i, c := range calls[:n] {
		gone := func(piece int) bool { return i >= synced[c.file] && lost(i, piece) }
		switch c.kind {
		case callWrite:
			for piece, off := 0, 0; off < len(c.data); piece++ {
				end := min(len(c.data), off+pageBytes-int((c.off+int64(off))%pageBytes))
				if !gone(piece) {
					files[c.file] = overwritten(files[c.file], c.off+int64(off), c.data[off:end])
					names[c.name] = c.file
				}
				off = end
			}
		case callTruncate:
			if !gone(0) {
				files[c.file] = resized(files[c.file], c.size)
				names[c.name] = c.file
			}
		case callRename:
			if !gone(0) {
				names[c.to] = c.file
				delete(names, c.name)
			}
		case callRemove:
			if !lost(i, 0) {
				delete(names, c.name)
			}
		}
	}
	for name, id := range names {
		if err := os.WriteFile(filepath.Join(dir, name), files[id], 0o600); err != nil {
			t.Fatal(err)
		}
	}
}

func overwritten(b []byte, off int64, data []byte) []byte {
	if end := off + int64(len(data)); int64(len(b)) < end {
		b = resized(b, end)
	}
	copy(b[off:], data)
	return b
}

func resized(b []byte, size int64) []byte {
	if int64(len(b)) >= size {
		return b[:size]
	}
	return append(b, make([]byte, size-int64(len(b)))...)
}

// survivor reads what a child finds after the power has come back: the samples,
// and where a damaged file has been moved.
func survivor(t testing.TB, path string) (beats []sample, aside string, err error) {
	t.Helper()
	opts := hello{Interval: time.Second, Retention: 48 * time.Hour, RollupRetention: 720 * time.Hour, MaxBytes: 1 << 30}
	d, err := openDisk(childConfig{
		path: path, now: func() time.Time { return time.UnixMilli(base + 3600_000) },
		space: func(string) (int64, int64) { return 1 << 40, 1 << 20 }, log: slog.New(slog.DiscardHandler),
	}, opts)
	if err != nil {
		return nil, "", err
	}
	defer d.close()
	s := newServer(&wire{}, d, opts)
	if err := s.recorder.replay(); err != nil {
		return nil, "", err
	}
	sel := selection{mint: 0, maxt: math.MaxInt64}
	recent, from, some := s.head.recent(sel)
	if some {
		sel.maxt = min(sel.maxt, from-1)
	}
	r := chunkReader{span: bounds{0, math.MaxInt64, 1000}}
	warnings, err := d.selectBlocks(context.Background(), sel, recent, r.read)
	if err == nil && len(warnings) > 0 {
		err = fmt.Errorf("warnings %q", warnings)
	}
	for _, one := range r.series {
		if one.labels.Get(metricName) == "up_total" {
			it := one.Iterator(nil)
			for it.Next() != 0 {
				at, v := it.At()
				beats = append(beats, sample{at, math.Float64bits(v)})
			}
		}
	}
	return beats, d.snapshot().MovedAside, err
}

// powerLosses counts what was tried.
type powerLosses struct {
	cuts, damaged int
	worst         int64 // seconds lost
}

// try cuts the power after n calls and checks what is left.
func (p *powerLosses) try(t testing.TB, calls []fileCall, n int, how string, lost func(call, piece int) bool) {
	t.Helper()
	dir := t.TempDir()
	afterPowerLoss(t, dir, calls, n, lost)
	fed := calls[min(n, len(calls)-1)].fed
	beats, aside, err := survivor(t, filepath.Join(dir, "stallmark.db"))
	os.RemoveAll(dir)
	if err != nil {
		t.Fatalf("after %d calls, %s lost: %v", n, how, err)
	}
	p.cuts++
	if aside != "" {
		p.damaged++
		if fed > 60 {
			t.Fatalf("after %d calls, %s lost: the file is damaged: %s", n, how, aside)
		}
	}
	last := int64(-1)
	for _, b := range beats { // a journal whose end is lost leaves a hole
		i := (b.t - base) / 1000
		if i <= last || b != (sample{base + i*1000 + i%3, math.Float64bits(float64(i) / 100)}) {
			t.Fatalf("after %d calls, %s lost: sample %d after %d is %v", n, how, i, last, b)
		}
		last = i
	}
	gone := fed - int64(len(beats))
	if gone > 60 {
		t.Fatalf("after %d calls, %s lost: %d s of %d are lost", n, how, gone, fed)
	}
	p.worst = max(p.worst, gone)
}

func all(int, int) bool  { return true }
func none(int, int) bool { return false }

// someOf loses a share of the parts, each the same way whenever asked.
func someOf(seed uint64, share float64) func(call, piece int) bool {
	return func(call, piece int) bool {
		r := rand.New(rand.NewPCG(seed, uint64(call)<<20|uint64(piece)))
		return r.Float64() < share
	}
}

// unsynced lists the calls before n that nothing has made durable.
func unsynced(calls []fileCall, n int) (open []int) {
	synced := map[int]bool{}
	for i := n - 1; i >= 0; i-- {
		if calls[i].kind == callSync {
			synced[calls[i].file] = true
		} else if !synced[calls[i].file] || calls[i].kind == callRemove {
			open = append(open, i)
		}
	}
	return open
}

// TestPowerLoss records what a child writes in some minutes, cuts it anywhere,
// loses what was not synced in several ways, and opens what is left: at most
// 60 s are lost.
func TestPowerLoss(t *testing.T) {
	calls := recordCalls(t, 4)
	checkCalls(t, calls)
	var p powerLosses
	const seed = 1
	r := rand.New(rand.NewPCG(seed, 0))
	for i := range 300 {
		n := 1 + r.IntN(len(calls))
		switch open := unsynced(calls, n); {
		case i%4 == 0:
			p.try(t, calls, n, "all that was not synced", all)
		case i%4 == 1 && len(open) > 0:
			one := open[r.IntN(len(open))]
			p.try(t, calls, n, fmt.Sprint("call ", one), func(call, _ int) bool { return call == one })
		case i%40 == 2:
			p.try(t, calls, n, "nothing", none)
		default:
			s := r.Uint64()
			p.try(t, calls, n, fmt.Sprint("half, seed ", s), someOf(s, 0.5))
		}
	}
	t.Logf("%d calls, %d cuts, at worst %d s lost, %d times before the file was made", len(calls), p.cuts, p.worst, p.damaged)
}

// checkCalls sees to it that the recording has what it must have.
func checkCalls(t testing.TB, calls []fileCall) {
	t.Helper()
	seen := map[string]int{}
	for _, c := range calls {
		what := "file"
		if strings.Contains(c.name, ".journal.") {
			what = "journal"
		}
		seen[what+" "+[]string{"write", "truncate", "sync", "rename", "remove"}[c.kind]]++
	}
	for _, want := range []string{"file write", "file sync", "file truncate", "journal write", "journal sync", "journal remove"} {
		if seen[want] == 0 {
			t.Errorf("no %s was recorded: %v", want, seen)
		}
	}
}

// BenchmarkPowerLoss cuts after every call: with nothing lost, all, each single
// one of what was not synced (the last 50), and random parts.
func BenchmarkPowerLoss(b *testing.B) {
	calls := recordCalls(b, 12)
	checkCalls(b, calls)
	var p powerLosses
	b.ResetTimer()
	for i := 0; i < b.N; i++ {
		for n := 1; n <= len(calls); n++ {
			p.try(b, calls, n, "nothing", none)
			p.try(b, calls, n, "all that was not synced", all)
			for _, share := range []float64{0.1, 0.5, 0.9} {
				p.try(b, calls, n, fmt.Sprint(share), someOf(uint64(n), share))
			}
			open := unsynced(calls, n)
			for _, one := range open[:min(len(open), 50)] {
				if n%25 == 0 || calls[n-1].kind != callWrite {
					p.try(b, calls, n, fmt.Sprint("call ", one), func(call, _ int) bool { return call == one })
				}
			}
		}
	}
	b.ReportMetric(float64(len(calls)), "calls")
	b.ReportMetric(float64(p.cuts)/float64(b.N), "cuts/op")
	b.ReportMetric(float64(p.worst), "worst-s-lost")
}
