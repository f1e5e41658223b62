package rules

import (
	"fmt"
	"testing"
	"time"

	"stallmark/storage/model"
)

// swapping is a host that swaps in so many bytes a second while the disk reads and
// writes so many, ten and more requests in flight.
func swapping(t *testing.T, swapped, read, written float64, more ...string) *memSource {
	t.Helper()
	return data(t, append([]string{
		`stallmark_disk_info{device="vda",kind="disk"} 1x40`,
		`stallmark_page_size_bytes 4096x40`,
		`stallmark_cpus_online 2x40`,
		fmt.Sprintf(`node_vmstat_pswpin 0+%gx40`, swapped/4096),
		`node_vmstat_nr_written 0+20x40`,
		`stallmark_refault_file_total 0x40`,
		`node_pressure_memory_waiting_seconds_total 0+0.4x40`,
		`node_pressure_io_waiting_seconds_total 0+0.95x40`,
		`node_procs_blocked 12x40`,
		fmt.Sprintf(`node_disk_reads_completed_total{device="vda"} 0+%gx40`, read/4096),
		fmt.Sprintf(`node_disk_writes_completed_total{device="vda"} 0+%gx40`, written/65536),
		fmt.Sprintf(`node_disk_read_bytes_total{device="vda"} 0+%gx40`, read),
		fmt.Sprintf(`node_disk_written_bytes_total{device="vda"} 0+%gx40`, written),
		`node_disk_read_time_seconds_total{device="vda"} 0+6x40`,
		`node_disk_write_time_seconds_total{device="vda"} 0+6x40`,
	}, more...)...)
}

// A disk that is busy because memory comes back from it is part of that incident;
// one that others keep busy besides is an incident of its own.
func TestBusyDiskBesideSwap(t *testing.T) {
	const mib = 1 << 20
	pack := loadBuiltIn(t)
	for name, c := range map[string]struct {
		src       *memSource
		incidents int
	}{
		"swap on this disk, nothing else":     {swapping(t, 40*mib, 40*mib, 1*mib), 1},
		"direct writers besides":              {swapping(t, 40*mib, 41*mib, 300*mib), 2},
		"readers besides":                     {swapping(t, 40*mib, 300*mib, 1*mib), 2},
		"swap in memory, readers on the disk": {swapping(t, 400*mib, 300*mib, 1*mib, `stallmark_swap_size_bytes{device="/dev/zram0",type="partition"} 1e9x40`), 2},
		"swap on a disk, and in memory": {swapping(t, 400*mib, 300*mib, 1*mib,
			`stallmark_swap_size_bytes{device="/dev/zram0",type="partition"} 1e9x40`, `stallmark_swap_size_bytes{device="/dev/vda2",type="partition"} 1e9x40`), 1},
	} {
		e := NewEngine(packOf(named(pack, "swap-in-stall", "disk-saturation")...), c.src, time.Second)
		findings := latest(steps(t, e, 0, 39))
		incidents := Incidents(findings)
		if len(findings) != 2 || len(incidents) != c.incidents {
			t.Errorf("%s: %d findings in %d incidents, want 2 in %d", name, len(findings), len(incidents), c.incidents)
			continue
		}
		if root := incidents[0].Root; c.incidents == 1 && root != idOf(findings, "swap-in-stall") {
			t.Errorf("%s: the root is %s", name, root)
		}
	}
}

func idOf(findings []model.Finding, signature string) string {
	for _, f := range findings {
		if f.Signature == signature {
			return f.ID
		}
	}
	return ""
}

// Most beats decide, and a restart forgets nothing.
func TestIndependentByMostBeats(t *testing.T) {
	s := signature(t, "x", `
title: t
layer: cause
severity: warning
needs: [a]
when: a > 0
independent: b > 0
what: w
`)
	src := data(t, "a 1x20", "b 0x4 1x2 0x3 1x9")
	e := NewEngine(packOf(s), src, time.Second)
	for at, fs := range steps(t, e, 0, 18) {
		for _, f := range fs {
			if want := at >= 17; f.Independent != want && at > 10 {
				t.Errorf("at %d s: independent %v", at, f.Independent)
			}
		}
	}
	last := latest(steps(t, e, 19, 19))
	if len(last) == 0 {
		last = []model.Finding{{ID: "y", Signature: "x", State: model.StateFiring, Independent: true}}
	}
	again := restoreTracked(s, last[0])
	if again.apart <= 0 {
		t.Error("a restart forgets that it is independent")
	}
}

func TestNothingExplainsTheIndependent(t *testing.T) {
	a := model.Finding{ID: "a", Signature: "a", Layer: model.LayerCause, Explains: []string{"b"}}
	b := model.Finding{ID: "b", Signature: "b", Layer: model.LayerCause}
	if got := Incidents([]model.Finding{a, b}); len(got) != 1 {
		t.Errorf("%d incidents of a cause and what it explains", len(got))
	}
	b.Independent = true
	if got := Incidents([]model.Finding{a, b}); len(got) != 2 {
		t.Errorf("%d incidents of a cause and something independent", len(got))
	}
}
