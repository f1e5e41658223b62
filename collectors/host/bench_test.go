package host

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/procfs"
	"github.com/prometheus/procfs/blockdevice"
	"github.com/shirou/gopsutil/v3/common"
	gocpu "github.com/shirou/gopsutil/v3/cpu"
	godisk "github.com/shirou/gopsutil/v3/disk"
	goload "github.com/shirou/gopsutil/v3/load"
	gomem "github.com/shirou/gopsutil/v3/mem"

	"stallmark/collectors"
)

// beatSources are the sources that read on every beat or once a second.
func beatSources() []collectors.Source {
	c := Config{}.withDefaults()
	return []collectors.Source{
		newVmstat(c), newMeminfo(), newDiskstats(c.Disks), newStat(c), newPressure(), newLoadavg(),
		newInterrupts(), newSoftirqs(), newZoneinfo(), newBuddyinfo(), newSwaps(),
	}
}

// diskTreeOf writes the recorded tree as files, for the libraries read by path.
func diskTreeOf(b *testing.B) string {
	b.Helper()
	dir := b.TempDir()
	for name, data := range treeFile(b, "6.18").Files {
		if !strings.HasPrefix(name, "proc/") {
			continue
		}
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			b.Fatal(err)
		}
		if err := os.WriteFile(path, data, 0o644); err != nil {
			b.Fatal(err)
		}
	}
	// procfs reads interrupts below a process only
	if err := os.MkdirAll(filepath.Join(dir, "proc/1"), 0o755); err != nil {
		b.Fatal(err)
	}
	if err := os.Link(filepath.Join(dir, "proc/interrupts"), filepath.Join(dir, "proc/1/interrupts")); err != nil {
		b.Fatal(err)
	}
	return dir
}

// run times one reading, which must not fail.
func run(b *testing.B, name string, read func() error) {
	b.Run(name, func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			if err := read(); err != nil {
				b.Fatal(err)
			}
		}
	})
}

// BenchmarkRead puts our readers beside those of the libraries, file by file,
// on the same tree of regular files: open, read, parse, close. It is why the
// readers of the beat are written by hand.
func BenchmarkRead(b *testing.B) {
	dir := diskTreeOf(b)
	root := collectors.NewLiveRoot(collectors.Paths{Procfs: filepath.Join(dir, "proc"), Sysfs: dir, Rootfs: dir})
	for _, s := range beatSources() {
		out := collectors.NewOut(s.Name())
		run(b, s.Name()+"/ours", func() error {
			out.Reset(epoch)
			err := s.Collect(root, out)
			out.EndMissing()
			return err
		})
		for lib, read := range libraries(b, dir)[s.Name()] {
			run(b, s.Name()+"/"+lib, read)
		}
	}
}

// libraries are the readers of procfs and gopsutil by our sources' names.
func libraries(b *testing.B, dir string) map[string]map[string]func() error {
	b.Helper()
	proc := filepath.Join(dir, "proc")
	fs, err := procfs.NewFS(proc)
	if err != nil {
		b.Fatal(err)
	}
	block, err := blockdevice.NewFS(proc, dir)
	if err != nil {
		b.Fatal(err)
	}
	first, err := fs.Proc(1)
	if err != nil {
		b.Fatal(err)
	}
	ctx := context.WithValue(context.Background(), common.EnvKey, common.EnvMap{common.HostProcEnvKey: proc})
	return map[string]map[string]func() error{
		"meminfo": {
			"procfs":   func() error { _, err := fs.Meminfo(); return err },
			"gopsutil": func() error { _, err := gomem.VirtualMemoryWithContext(ctx); return err },
		},
		"diskstats": {
			"procfs":   func() error { _, err := block.ProcDiskstats(); return err },
			"gopsutil": func() error { _, err := godisk.IOCountersWithContext(ctx); return err },
		},
		"stat": {
			"procfs":   func() error { _, err := fs.Stat(); return err },
			"gopsutil": func() error { _, err := gocpu.TimesWithContext(ctx, true); return err },
		},
		"loadavg": {
			"procfs":   func() error { _, err := fs.LoadAvg(); return err },
			"gopsutil": func() error { _, err := goload.AvgWithContext(ctx); return err },
		},
		"pressure": {"procfs": func() error {
			for _, what := range []string{"cpu", "io", "memory"} {
				if _, err := fs.PSIStatsForResource(what); err != nil {
					return err
				}
			}
			return nil
		}},
		"interrupts": {"procfs": func() error { _, err := first.Interrupts(); return err }},
		"softirqs":   {"procfs": func() error { _, err := fs.Softirqs(); return err }},
		"zoneinfo":   {"procfs": func() error { _, err := fs.Zoneinfo(); return err }},
		"buddyinfo":  {"procfs": func() error { _, err := fs.BuddyInfo(); return err }},
		"swaps":      {"procfs": func() error { _, err := fs.Swaps(); return err }},
	}
}

// BenchmarkParse leaves the reading out: a tree in memory.
func BenchmarkParse(b *testing.B) {
	root := treeFile(b, "6.18")
	for _, s := range beatSources() {
		out := collectors.NewOut(s.Name())
		run(b, s.Name(), func() error {
			out.Reset(epoch)
			err := s.Collect(root, out)
			out.EndMissing()
			return err
		})
	}
}

// BenchmarkLive reads this machine, all sources on one beat.
func BenchmarkLive(b *testing.B) {
	root := collectors.NewLiveRoot(collectors.Paths{Procfs: "/proc", Sysfs: "/sys", Rootfs: "/"})
	for _, s := range append(beatSources(), newSettings(), newDisksSource(NewDisks())) {
		out, at := collectors.NewOut(s.Name()), epoch
		b.Run(s.Name(), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				out.Reset(at)
				_ = s.Collect(root, out) // partial on some machines
				out.EndMissing()
				at = at.Add(time.Minute)
			}
		})
	}
}

// TestBeatAllocations holds the beat to no allocation once the series are
// known.
func TestBeatAllocations(t *testing.T) {
	root := treeFile(t, "6.18")
	for _, s := range beatSources() {
		out := collectors.NewOut(s.Name())
		n := testing.AllocsPerRun(20, func() {
			out.Reset(epoch)
			if err := s.Collect(root, out); err != nil {
				t.Fatal(err)
			}
			out.EndMissing()
		})
		if n > 0 {
			t.Errorf("%s: %v allocations a beat; want none", s.Name(), n)
		}
	}
}
