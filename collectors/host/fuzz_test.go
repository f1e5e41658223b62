package host

import (
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unicode/utf8"

	"stallmark/collectors"
	"stallmark/storage/model"
)

// seeds adds one file out of every tree of testdata, whole and cut.
func seeds(f *testing.F, name string) {
	f.Helper()
	trees, err := filepath.Glob("testdata/*.tree")
	if err != nil || len(trees) == 0 {
		f.Fatalf("no trees: %v", err)
	}
	for _, path := range trees {
		text, err := os.ReadFile(path)
		if err != nil {
			f.Fatal(err)
		}
		if data, ok := tree(f, string(text)).Files[name]; ok {
			f.Add(data)
			f.Add(data[:len(data)/2])
		}
	}
	f.Add([]byte("\xff\x00: 18446744073709551616\n"))
}

// check reads a tree twice with one source and looks at all it gave: names and
// labels are valid, counters are numbers, what is wrong is said.
func check(t *testing.T, source collectors.Source, root *collectors.MapRoot) {
	t.Helper()
	out := collectors.NewOut(source.Name())
	for beat := range 2 {
		out.Reset(epoch.AddDate(0, 0, beat))
		_ = source.Collect(root, out)
		for _, s := range out.Samples() {
			if !isName([]byte(s.Series.Name)) || math.IsNaN(s.Value) || math.IsInf(s.Value, 0) {
				t.Fatalf("%s = %v", seriesText(s.Series), s.Value)
			}
			for _, l := range s.Series.Labels {
				if !utf8.ValidString(l.Value) || strings.ContainsAny(l.Value, "\n\x00\x1b") {
					t.Fatalf("label %s=%q", l.Name, l.Value)
				}
			}
		}
		for _, fact := range out.Facts() {
			if !utf8.ValidString(fact.Key+fact.Value) || strings.ContainsAny(fact.Key+fact.Value, "\n\x00\x1b") {
				t.Fatalf("fact %q = %q", fact.Key, fact.Value)
			}
		}
		for _, e := range out.Events() {
			if e.Kind != model.EventDevice && e.Kind != model.EventSetting || strings.ContainsAny(e.Text, "\n\x00\x1b") {
				t.Fatalf("event %+v", e)
			}
		}
		out.EndMissing()
	}
}

// fuzzSource fuzzes the one file that a source reads.
func fuzzSource(f *testing.F, name string, source func() collectors.Source) {
	f.Helper()
	seeds(f, name)
	f.Fuzz(func(t *testing.T, data []byte) {
		check(t, source(), &collectors.MapRoot{Files: map[string][]byte{name: data}})
	})
}

func FuzzVmstat(f *testing.F) {
	fuzzSource(f, "proc/vmstat", func() collectors.Source { return newVmstat(Config{PageSize: 4096}) })
}

func FuzzMeminfo(f *testing.F) {
	fuzzSource(f, "proc/meminfo", func() collectors.Source { return newMeminfo() })
}

func FuzzDiskstats(f *testing.F) {
	fuzzSource(f, "proc/diskstats", func() collectors.Source { return newDiskstats(NewDisks()) })
}

func FuzzStat(f *testing.F) {
	fuzzSource(f, "proc/stat", func() collectors.Source { return newStat(Config{ClockTicks: 100}) })
}

func FuzzPressure(f *testing.F) {
	fuzzSource(f, "proc/pressure/memory", func() collectors.Source { return newPressure() })
}

func FuzzLoadavg(f *testing.F) {
	fuzzSource(f, "proc/loadavg", func() collectors.Source { return newLoadavg() })
}

func FuzzInterrupts(f *testing.F) {
	fuzzSource(f, "proc/interrupts", func() collectors.Source { return newInterrupts() })
}

func FuzzSoftirqs(f *testing.F) {
	fuzzSource(f, "proc/softirqs", func() collectors.Source { return newSoftirqs() })
}

func FuzzZoneinfo(f *testing.F) {
	fuzzSource(f, "proc/zoneinfo", func() collectors.Source { return newZoneinfo() })
}

func FuzzBuddyinfo(f *testing.F) {
	fuzzSource(f, "proc/buddyinfo", func() collectors.Source { return newBuddyinfo() })
}

func FuzzSwaps(f *testing.F) {
	fuzzSource(f, "proc/swaps", func() collectors.Source { return newSwaps() })
}

func FuzzSettings(f *testing.F) {
	f.Add([]byte("0\n"), []byte("[always] madvise never\n"))
	f.Add([]byte("256\t256\t32\n"), []byte("]x["))
	f.Fuzz(func(t *testing.T, sysctl, thp []byte) {
		check(t, newSettings(), &collectors.MapRoot{Files: map[string][]byte{
			"proc/sys/vm/dirty_bytes": sysctl, "proc/sys/vm/lowmem_reserve_ratio": sysctl,
			"sys/kernel/mm/transparent_hugepage/enabled": thp,
		}})
	})
}

func FuzzConstants(f *testing.F) {
	seeds(f, "proc/meminfo")
	seeds(f, "proc/stat")
	f.Fuzz(func(t *testing.T, data []byte) {
		check(t, newConstants(Config{}.withDefaults()), &collectors.MapRoot{Files: map[string][]byte{
			"proc/meminfo": data, "proc/stat": data, "proc/cpuinfo": data, "proc/sys/kernel/hostname": data,
		}})
	})
}

// FuzzMounts also asks for paths, on devices that lie on what is mounted.
func FuzzMounts(f *testing.F) {
	seeds(f, "proc/1/mountinfo")
	seeds(f, "proc/self/mountinfo")
	f.Fuzz(func(t *testing.T, data []byte) {
		root := &collectors.MapRoot{Files: map[string][]byte{
			"proc/1/mountinfo":                        data,
			"proc/diskstats":                          []byte(diskLine("sda", "1") + diskLine("loop0", "1")),
			"sys/class/block/loop0/loop/backing_file": data[:min(len(data), 200)],
			"sys/class/block/loop0/size":              []byte("8\n"),
		}}
		disks := NewDisks()
		check(t, newDisksSource(disks), root)
		check(t, newFilesystems(Config{Disks: disks, Statfs: func(string) (FileSystem, error) { return FileSystem{SizeBytes: 1}, nil }}), root)
		for _, what := range []string{"/", "/data/x", "8:0", "0:31", string(data[:min(len(data), 20)])} {
			disks.DeviceOf(what)
		}
	})
}

// FuzzUnescape: what has been escaped by the kernel's rule comes back.
func FuzzUnescape(f *testing.F) {
	f.Add([]byte(`/a b\c`))
	f.Fuzz(func(t *testing.T, data []byte) {
		var escaped []byte
		for _, c := range data {
			if strings.IndexByte(" \t\n\\", c) >= 0 {
				escaped = append(escaped, '\\', '0'+c>>6, '0'+c>>3&7, '0'+c&7)
			} else {
				escaped = append(escaped, c)
			}
		}
		if got := unescape(escaped); string(got) != string(data) {
			t.Errorf("unescape(%q) = %q; want %q", escaped, got, data)
		}
	})
}
