package host

import (
	"bytes"
	"slices"
	"strings"
	"testing"
	"time"

	"stallmark/collectors"
	"stallmark/storage/model"
)

// diskLine is a line of /proc/diskstats with 14 columns.
func diskLine(name, reads string) string {
	return "   8       0 " + name + " " + reads + " 0 8 1 0 0 0 0 0 1 1\n"
}

func diskTree(lines ...string) *collectors.MapRoot {
	return &collectors.MapRoot{Files: map[string][]byte{"proc/diskstats": []byte(strings.Join(lines, ""))}}
}

func TestDiskVanishesAndReturns(t *testing.T) {
	disks := NewDisks()
	source := newDiskstats(disks)
	r := newReader(t, source)
	const reads = `node_disk_reads_completed_total{device="sdb"}`

	r.read(diskTree(diskLine("sda", "5"), diskLine("sdb", "7")))
	r.want(t, map[string]float64{reads: 7})
	if got := r.texts(model.EventDevice); len(got) != 0 {
		t.Errorf("first beat: events %q; want none, they were there before us", got)
	}
	before := source.disks.all["sdb"].value

	r.read(diskTree(diskLine("sda", "5")))
	if !slices.Contains(r.stale, reads) {
		t.Errorf("no end marker for %s among %q", reads, r.stale)
	}
	if got := r.texts(model.EventDevice); !slices.Equal(got, []string{"disk sdb: gone"}) {
		t.Errorf("events %q; want sdb gone", got)
	}

	r.read(diskTree(diskLine("sda", "5"), diskLine("sdb", "0"))) // new, and used: its other numbers are not 0
	r.want(t, map[string]float64{reads: 0})
	if got := r.texts(model.EventDevice); !slices.Equal(got, []string{"disk sdb: came"}) {
		t.Errorf("events %q; want sdb came", got)
	}
	if after := source.disks.all["sdb"].value; after.series == before.series {
		t.Error("the returned disk goes on with the old series; want series of its own")
	}
	if !disks.changed.Load() {
		t.Error("Disks was not told of the change")
	}
}

func TestMalformedDiskIsNotGone(t *testing.T) {
	r := newReader(t, newDiskstats(NewDisks()))
	r.read(diskTree(diskLine("sda", "5"), diskLine("sdb", "7")))
	r.read(diskTree(diskLine("sda", "6"), "   8      16 sdb 7 x\n"))
	r.want(t, map[string]float64{`node_disk_reads_completed_total{device="sda"}`: 6})
	r.wantState(t, "diskstats", model.SourcePartial, "proc/diskstats line 2: want major, minor, device")
	if got := r.texts(model.EventDevice); len(got) != 0 {
		t.Errorf("events %q; want none: a line that cannot be read is no disk gone", got)
	}
}

func TestCountersAreRaw(t *testing.T) {
	r := newReader(t, newDiskstats(NewDisks()))
	r.read(diskTree(diskLine("sda", "4294967290")))
	r.read(diskTree(diskLine("sda", "4"))) // wrapped at 32 bits
	r.want(t, map[string]float64{`node_disk_reads_completed_total{device="sda"}`: 4})
}

func statTree(text string) *collectors.MapRoot {
	return &collectors.MapRoot{Files: map[string][]byte{"proc/stat": []byte(text)}}
}

func TestCPUsComeAndGo(t *testing.T) {
	r := newReader(t, newStat(Config{}.withDefaults()))
	const both = "cpu  0 0 0 0\ncpu0 100 0 0 400 0 0 0 0 0 0\ncpu1 200 0 0 300 0 0 0 0 0 0\nctxt 5\n"
	const one = "cpu  0 0 0 0\ncpu0 110 0 0 410 0 0 0 0 0 0\nctxt 6\n"
	user1 := `node_cpu_seconds_total{cpu="1",mode="user"}`
	r.read(statTree(both))
	r.want(t, map[string]float64{user1: 2, "stallmark_cpus_online": 2})
	r.read(statTree(one))
	r.want(t, map[string]float64{"stallmark_cpus_online": 1, `node_cpu_seconds_total{cpu="0",mode="user"}`: 1.1})
	if !slices.Contains(r.stale, user1) {
		t.Errorf("no end marker for %s among %q", user1, r.stale)
	}
	r.read(statTree(both))
	if got := r.texts(model.EventDevice); !slices.Equal(got, []string{"cpu 1: came", "cpu 1: gone"}) {
		t.Errorf("events %q; want cpu 1 gone and come", got)
	}
}

func TestCPUStepsBack(t *testing.T) {
	for _, c := range []struct {
		name         string
		first, then  string
		want, wantTo float64
	}{
		{"iowait steps back a little: held", "50000", "49990", 500, 500},
		{"it went on: taken", "50000", "50010", 500, 500.1},
		{"far back is a restart: raw", "50000", "12", 500, 0.12},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := newReader(t, newStat(Config{ClockTicks: 100}.withDefaults()))
			iowait := `node_cpu_seconds_total{cpu="0",mode="iowait"}`
			r.read(statTree("cpu0 1 1 1 1 " + c.first + " 0 0 0\n"))
			r.want(t, map[string]float64{iowait: c.want})
			r.read(statTree("cpu0 1 1 1 1 " + c.then + " 0 0 0\n"))
			r.want(t, map[string]float64{iowait: c.wantTo})
		})
	}
}

func TestInterruptsGoOn(t *testing.T) {
	r := newReader(t, newInterrupts())
	irq := func(text string) *collectors.MapRoot {
		return &collectors.MapRoot{Files: map[string][]byte{"proc/interrupts": []byte(text)}}
	}
	tlb, device := `node_interrupts_total{type="TLB"}`, `node_interrupts_total{type="device"}`
	for _, step := range []struct {
		text        string
		tlb, device float64
	}{
		{"   CPU0   CPU1\n 1: 10 20 x\n 2: 5 5 y\nTLB: 100 1000 TLB shootdowns\n", 1100, 40},
		{"   CPU0   CPU1\n 1: 11 20 x\n 2: 5 5 y\nTLB: 110 1000 TLB shootdowns\n", 1110, 41},
		{"   CPU0\n 1: 12 x\n 2: 5 y\nTLB: 115 TLB shootdowns\n", 1110, 41},                // CPU1 left
		{"   CPU0\n 1: 14 x\n 2: 5 y\nTLB: 120 TLB shootdowns\n", 1115, 43},                // and on
		{"   CPU0   CPU1\n 1: 14 20 x\nTLB: 121 1000 TLB shootdowns\n", 1115, 43},          // CPU1 is back, 2 is free
		{"   CPU0   CPU1\n 1: 15 20 x\nTLB: 121 1004 TLB shootdowns\n", 1119, 44},          // and on
		{"   CPU0   CPU1\n 1: 15 20 x\nTLB: 4 1004 TLB shootdowns\n", 1119, 44},            // wrapped
		{"   CPU0   CPU1\n 1: 15 20 x\n 7: 9 9 z\nTLB: 5 1004 TLB shootdowns\n", 1120, 62}, // a new one counts
	} {
		r.read(irq(step.text))
		r.want(t, map[string]float64{tlb: step.tlb, device: step.device})
	}
}

func TestSettingChanges(t *testing.T) {
	root := treeFile(t, "6.18")
	r := newReader(t, slower(settingsEvery, newSettings()))
	r.read(root)
	r.want(t, map[string]float64{`stallmark_setting{name="vm.dirty_bytes"}`: 67108864})
	if got := r.texts(model.EventSetting); len(got) != 0 {
		t.Errorf("events %q at first; want none", got)
	}
	changed := with(root, map[string][]byte{
		"proc/sys/vm/dirty_bytes": []byte("0\n"), "proc/sys/vm/dirty_ratio": []byte("40\n"),
		"sys/kernel/mm/transparent_hugepage/enabled": []byte("[always] madvise never\n"),
	})
	r.read(changed) // not due yet: repeated
	r.want(t, map[string]float64{`stallmark_setting{name="vm.dirty_bytes"}`: 67108864})
	r.read(changed)
	r.want(t, map[string]float64{
		`stallmark_setting{name="vm.dirty_bytes"}`: 0, `stallmark_setting{name="vm.dirty_ratio"}`: 40,
		`stallmark_setting{name="thp.enabled"}`: 4,
	})
	want := []string{
		"sysctl.vm.dirty_bytes: 67108864 -> 0", "sysctl.vm.dirty_ratio: 0 -> 40", "thp.enabled: madvise -> always",
	}
	if got := r.texts(model.EventSetting); !slices.Equal(got, want) {
		t.Errorf("events %q; want %q", got, want)
	}
}

func TestSlowSourceRepeats(t *testing.T) {
	root := treeFile(t, "3.10")
	r := newReader(t, slower(3*time.Second, newZoneinfo()))
	free := `node_zoneinfo_nr_free_pages{node="0",zone="Normal"}`
	later := with(root, map[string][]byte{
		"proc/zoneinfo": bytes.ReplaceAll(root.Files["proc/zoneinfo"], []byte("206023"), []byte("77")),
	})
	for i, want := range []float64{206023, 206023, 206023, 77} {
		if i == 0 {
			r.read(root)
		} else {
			r.read(later)
		}
		r.want(t, map[string]float64{free: want})
	}
	r.at = epoch.Add(-time.Hour) // the clock is set back
	r.read(root)
	r.want(t, map[string]float64{free: 206023})
}

// cutRoot gives only the first part of every file: what a reader would see
// that takes a short read for the end.
type cutRoot struct {
	collectors.Root
	part int // percent
}

func (r cutRoot) Read(name string, buf []byte) ([]byte, error) {
	data, err := r.Root.Read(name, buf)
	return data[:len(data)*r.part/100], err
}

// TestShortRead: a number that has been cut in half must not be believed.
func TestShortRead(t *testing.T) {
	for _, name := range []string{"2.6.32", "4.18", "6.18"} {
		root := treeFile(t, name)
		whole := newReader(t, Sources(Config{})...)
		whole.read(root)
		for part := 1; part < 100; part++ {
			r := newReader(t, newVmstat(Config{PageSize: 4096}), newMeminfo(), newDiskstats(NewDisks()),
				newStat(Config{}.withDefaults()), newZoneinfo(), newBuddyinfo(), newInterrupts(), newSoftirqs())
			r.read(cutRoot{root, part})
			for series, v := range r.samples {
				if want, ok := whole.samples[series]; ok && v != want && !isSum(series) {
					t.Fatalf("%s cut to %d %%: %s = %v; want %v or nothing", name, part, series, v, want)
				}
			}
			if r.coverage["vmstat"].State == model.SourceOK && !bytes.HasSuffix(cut(root, "proc/vmstat", part), []byte("\n")) {
				t.Fatalf("%s cut to %d %%: vmstat is ok; want partial or failed", name, part)
			}
		}
	}
}

func cut(root collectors.Root, name string, part int) []byte {
	data, _ := cutRoot{root, part}.Read(name, nil)
	return data
}

// isSum names the series that are folded from several lines, and so are less
// than the whole when lines are missing.
func isSum(series string) bool {
	return strings.HasPrefix(series, "stallmark_") || strings.Contains(series, `type="device"`) ||
		series == `node_interrupts_total{type="CAL"}`
}
