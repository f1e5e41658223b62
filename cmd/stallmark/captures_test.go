package main

import (
	"encoding/json"
	"path/filepath"
	"slices"
	"testing"

	"stallmark/rules"
	"stallmark/storage/model"
)

// truth is what is known about a recording and, finding by finding, what must
// be said about it: nothing more and nothing less.
type truth struct {
	capture string
	what    string // what was done while it was recorded
	want    []ruling
}

// Short names for the table.
const (
	confirmed, likely, possible = model.Confirmed, model.Likely, model.Possible
	cause, mechanism            = model.LayerCause, model.LayerMechanism
	critical, warning, info     = model.SeverityCritical, model.SeverityWarning, model.SeverityInfo
)

// truths has every recording; times are seconds since its first beat. What was
// injected is known from how they were made. The machine was shared: where other
// programs had filled its two CPUs, cpu-saturation is true beside it.
func truths() []truth {
	return []truth{
		{"a_dirty_throttle", "four unlimited writers under a dirty limit of 64 MB, 12 to 52 s; compilers beside them", []ruling{
			{sig: "dirty-throttling", sure: confirmed, layer: cause, severity: critical, from: 13, to: 52},
			{sig: "cpu-saturation", sure: confirmed, layer: cause, severity: warning, from: 3, to: still},
		}},
		{"b_bg_writeback", "two writers of 60 MB/s below the ceiling: nothing but the compilers", []ruling{
			{sig: "cpu-saturation", sure: confirmed, layer: cause, severity: warning, from: 3, to: still},
		}},
		{"c_direct_reclaim", "memory filled up to 49 s, reclaim from 50 to 72 s; the victim reads a cold mapping up to 9 s", []ruling{
			{sig: "direct-reclaim", sure: confirmed, layer: cause, severity: critical, from: 50, to: 72},
			{sig: "page-cache-thrash", sure: confirmed, layer: mechanism, severity: warning, from: 52, to: still, under: "direct-reclaim"},
			{sig: "catch-up-cold-reads", sure: confirmed, layer: cause, severity: warning, from: 1.3, to: 9},
			{sig: "cpu-saturation", sure: confirmed, layer: cause, severity: warning, from: 6, to: still},
		}},
		{"d_memcg_reclaim", "a version 1 group at its limit from 24 s to the end, most of its cache charged to another", []ruling{
			{sig: "memcg-reclaim", sure: likely, layer: cause, severity: critical, from: 24.4, to: still},
		}},
		{"d2_memcg_thrash", "a version 1 group that reads its own evicted pages, 13 to 58 s", []ruling{
			{sig: "memcg-reclaim", sure: confirmed, layer: cause, severity: critical, from: 13, to: 58},
			{sig: "page-cache-thrash", sure: confirmed, layer: mechanism, severity: warning, from: 13, to: 58, under: "memcg-reclaim"},
		}},
		{"e1_cold_pread", "random reads of 4 KB from a file that was never cached, throughout", []ruling{
			{sig: "catch-up-cold-reads", sure: confirmed, layer: cause, severity: warning, from: 0.8, to: still},
		}},
		{"e2_cold_mmap", "a cold mapping with large read-ahead: all in memory after 14 s", []ruling{
			{sig: "catch-up-cold-reads", sure: confirmed, layer: cause, severity: warning, from: 1.3, to: 12},
		}},
		{"e3_cold_mmap_random", "a cold mapping, one 4 KB fault a touch, throughout", []ruling{
			{sig: "catch-up-cold-reads", sure: confirmed, layer: cause, severity: warning, from: 1, to: still},
		}},
		{"f_mmap_press", "stores into a mapping under forced writeback, 12 to 53 s", []ruling{
			{sig: "writeback-churn", sure: confirmed, layer: cause, severity: warning, from: 13, to: 53},
		}},
		{"f2_stable_pages", "the same on a device that needs stable pages, 12 to 43 s", []ruling{
			{sig: "writeback-churn", sure: confirmed, layer: cause, severity: warning, from: 13.2, to: 43},
		}},
		{"f3_mmap_press_smallfolio", "the same without large folios", []ruling{
			{sig: "writeback-churn", sure: likely, layer: cause, severity: warning, from: 13.3, to: 43},
		}},
		{"g_tlb", "shootdown storms in nine threads of other processes: they take the CPUs, and nothing else from the victim", []ruling{
			{sig: "cpu-saturation", sure: confirmed, layer: cause, severity: warning, from: 13, to: 52},
		}},
		{"g2_tlb_inproc", "a shootdown storm inside the victim from 12 s on; no baseline is known in a recording", []ruling{
			{sig: "tlb-shootdown-storm", sure: possible, layer: cause, severity: warning, from: 13, to: still},
		}},
		{"h_swapin_zram", "swap-in from zram under a group's limit that stays to the end", []ruling{
			{sig: "swap-in-stall", sure: likely, layer: cause, severity: critical, from: 13.2, to: still},
			{sig: "memcg-reclaim", sure: likely, layer: cause, severity: critical, from: 15.2, to: still, under: "swap-in-stall"},
		}},
		{"i_thp_compact", "huge pages wanted of fragmented memory, 38 to 44 s, with ordinary reclaim", []ruling{
			{sig: "thp-compaction-stall", sure: confirmed, layer: cause, severity: warning, from: 38, to: 44},
			{sig: "direct-reclaim", sure: confirmed, layer: cause, severity: critical, from: 38, to: 44, under: "thp-compaction-stall"},
		}},
		{"j_odirect", "sixteen direct writers, 12 to 52 s", []ruling{
			{sig: "disk-saturation", sure: likely, layer: cause, severity: critical, from: 12.8, to: 52},
		}},
		{"k_cpu_quota", "a CPU quota, 12 to 42 s", []ruling{
			{sig: "cfs-throttling", sure: confirmed, layer: cause, severity: critical, from: 13, to: 42},
		}},
		{"l_unwarmed", "another process touches a new mapping; the victim feels nothing", nil},
		{"l2_unwarmed_victim", "the victim touches a new mapping for the first time, up to 33 s; it stalls for 33 ms at most", []ruling{
			{sig: "mmap-fault-stall", sure: possible, layer: cause, severity: info, from: 1, to: 34},
		}},
		{"l3_unwarmed_smallfolio", "as l, without large folios", nil},
		{"m_benign_cp", "a copy of 4 GB and a compilation, with free memory: harmless", nil},
		{"m_idle", "nothing", nil},
		{"n_jbd2_commit", "journal commits beside a writer: fsync of 36 ms at p99, 90 ms at most, in 12 to 42 s", nil},
		{"o_numa_zone_reclaim", "two memory nodes and vm.zone_reclaim_mode=1; one thread reads more than its node holds, from 6 s on (an emulated machine, Linux 6.12)", []ruling{
			{sig: "numa-zone-reclaim", sure: likely, layer: cause, severity: warning, from: 6, to: still},
		}},
		{"p_memcg_beside_steal", "a version 1 group that reads its own evicted pages, from 2 s to the end; from 8 to 17 s other machines of the hypervisor take 0.1 to 0.5 CPUs", []ruling{
			{sig: "memcg-reclaim", sure: likely, layer: cause, severity: critical, from: 3, to: still},
			{sig: "page-cache-thrash", sure: likely, layer: mechanism, severity: warning, from: 3, to: still, under: "memcg-reclaim"},
			{sig: "cpu-steal", sure: likely, layer: cause, severity: warning, from: 8, to: still},
		}},
	}
}

func capturePath(name string) string { return filepath.Join("testdata", "captures", name+".tar.zst") }

// truthOf finds a recording's row.
func truthOf(t *testing.T, capture string) truth {
	t.Helper()
	for _, tr := range truths() {
		if tr.capture == capture {
			return tr
		}
	}
	t.Fatalf("no recording %q", capture)
	return truth{}
}

func TestEveryCaptureHasATruth(t *testing.T) {
	found, err := filepath.Glob(capturePath("*"))
	if err != nil {
		t.Fatal(err)
	}
	var want []string
	for _, tr := range truths() {
		want = append(want, capturePath(tr.capture))
	}
	if slices.Sort(want); !slices.Equal(found, want) {
		t.Errorf("captures %q, truths %q", found, want)
	}
}

func TestCaptures(t *testing.T) {
	for _, tr := range truths() {
		t.Run(tr.capture, func(t *testing.T) {
			t.Parallel()
			r, code := diagnosed(t, capturePath(tr.capture))
			exactly(2).compare(t, r, tr.want)
			want := exitOK
			if len(tr.want) > 0 {
				want = exitFound
			}
			if code != want {
				t.Errorf("exit code %d, want %d; unknown: %v", code, want, r.Unknown)
			}
			witnessed(t, r)
		})
	}
}

// witnessed holds every confirmed finding to what confirmed means, and every
// finding to having advice for now, with its risk and a way to see that it helps.
func witnessed(t *testing.T, r model.Report) {
	t.Helper()
	for _, f := range r.Findings {
		direct := slices.ContainsFunc(f.Evidence, func(e model.Evidence) bool {
			return e.Role == model.RoleWitness && e.State == model.EvidenceHolds
		})
		if (f.Confidence == confirmed) != direct {
			t.Errorf("%s is %s, a direct witness: %v", f.Signature, f.Confidence, direct)
		}
		if !slices.ContainsFunc(f.Remedy, func(m model.Remedy) bool { return m.Kind == model.RemedyNow }) {
			t.Errorf("%s: nothing can be done now", f.Signature)
		}
		for _, m := range f.Remedy {
			if m.Verify == "" || m.Risk == "" || m.Persist != "" && m.Rollback == "" {
				t.Errorf("%s: %q lacks how to verify it, its risk or the way back", f.Signature, m.Title)
			}
		}
	}
}

// diagnosed replays a recording.
func diagnosed(t *testing.T, args ...string) (model.Report, int) {
	t.Helper()
	got := runProgram(t, append([]string{"diagnose", "--json"}, args...)...)
	var r model.Report
	if err := json.Unmarshal([]byte(got.stdout), &r); err != nil {
		t.Fatalf("%v\n%s", err, got.stderr)
	}
	return r, got.code
}

// TestProofsAreTrue holds what the catalogue says about recordings to the table.
func TestProofsAreTrue(t *testing.T) {
	pack, _ := rules.Load()
	for _, s := range pack.Signatures {
		var said []string
		for _, tr := range truths() {
			if slices.ContainsFunc(tr.want, func(w ruling) bool { return w.sig == s.ID }) {
				said = append(said, tr.capture)
			}
		}
		if want := slices.Sorted(slices.Values(s.Proven.Recordings)); !slices.Equal(want, slices.Sorted(slices.Values(said))) {
			t.Errorf("%s: proven by %q, said on %q", s.ID, want, said)
		}
	}
}
