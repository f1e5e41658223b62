package main

import (
	"context"
	"encoding/json"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"stallmark/collectors/files"
	"stallmark/storage/model"
)

// expectation is what the truth about a capture demands, see INDEX.md beside
// the captures. Times are seconds since the capture's first tick.
type expectation struct {
	capture  string
	root     string  // signature of the one critical root; empty if there must be none of the three
	from, to float64 // bounds of the root finding, tolerance included
	onset    float64 // it must have started by then
	sure     bool    // confirmed, by a blocked task as witness
	also     bool    // the root is part of the truth, which has a signature of its own: it may be there
	quiet    bool    // nothing critical at all
	others   string  // critical causes that are the truth as well, with signatures of their own
}

// tolerance is what issue 2 allows at both ends of a window.
const tolerance = 3

// expectations has every capture. In those without a root, another cause is
// the truth, or none: no other critical cause may be a root then.
//
// a: unlimited writers from 12 s. c: the fill up to 49 s is no fault. i: ordinary
// direct reclaim came with the compaction. j: 16 threads with O_DIRECT from 12 s.
func expectations() []expectation {
	return []expectation{
		{capture: "a_dirty_throttle", root: "dirty-throttling", from: 12 - tolerance, to: 52 + tolerance, onset: 12 + tolerance, sure: true},
		{capture: "b_bg_writeback", quiet: true},
		{capture: "c_direct_reclaim", root: "direct-reclaim", from: 50 - tolerance, to: 72 + tolerance, onset: 50 + tolerance, sure: true},
		{capture: "d2_memcg_thrash", others: "memcg-reclaim"},
		{capture: "d_memcg_reclaim", others: "memcg-reclaim"},
		{capture: "e1_cold_pread"},
		{capture: "e2_cold_mmap"},
		{capture: "e3_cold_mmap_random"},
		{capture: "f2_stable_pages"},
		{capture: "f3_mmap_press_smallfolio"},
		{capture: "f_mmap_press"},
		{capture: "g2_tlb_inproc"},
		{capture: "g_tlb"},
		{capture: "h_swapin_zram", others: "memcg-reclaim swap-in-stall"},
		{capture: "i_thp_compact", root: "direct-reclaim", also: true, from: 38 - tolerance, to: 44 + tolerance, onset: 44},
		{capture: "j_odirect", root: "disk-saturation", from: 12 - tolerance, to: 52 + tolerance, onset: 12 + tolerance},
		{capture: "k_cpu_quota", others: "cfs-throttling"},
		{capture: "l2_unwarmed_victim"},
		{capture: "l3_unwarmed_smallfolio"},
		{capture: "l_unwarmed"},
		{capture: "m_benign_cp", quiet: true},
		{capture: "m_idle", quiet: true},
		{capture: "n_jbd2_commit"},
	}
}

func capturePath(name string) string { return filepath.Join("testdata", "captures", name+".tar.zst") }

func TestEveryCaptureHasAnExpectation(t *testing.T) {
	found, err := filepath.Glob(capturePath("*"))
	if err != nil {
		t.Fatal(err)
	}
	var want []string
	for _, e := range expectations() {
		want = append(want, capturePath(e.capture))
	}
	if slices.Sort(want); !slices.Equal(found, want) {
		t.Errorf("captures %q, expectations %q", found, want)
	}
}

func TestCaptures(t *testing.T) {
	for _, e := range expectations() {
		t.Run(e.capture, func(t *testing.T) {
			t.Parallel()
			got := runProgram(t, "diagnose", "--json", capturePath(e.capture))
			var r model.Report
			if err := json.Unmarshal([]byte(got.stdout), &r); err != nil {
				t.Fatalf("%v\n%s", err, got.stderr)
			}
			e.check(t, r, got.code)
		})
	}
}

func (e expectation) check(t *testing.T, r model.Report, code int) {
	t.Helper()
	roots := slices.DeleteFunc(criticalRoots(r), func(f model.Finding) bool {
		return slices.Contains(strings.Fields(e.others), f.Signature)
	})
	for _, f := range r.Findings {
		if e.quiet && f.Severity == model.SeverityCritical {
			t.Errorf("critical: %s", describe([]model.Finding{f}, r.Window.From))
		}
	}
	if e.also && len(roots) == 0 {
		return
	}
	if e.root == "" {
		if len(roots) > 0 {
			t.Errorf("critical roots: %s", describe(roots, r.Window.From))
		}
		if len(r.Findings) == 0 && code != exitOK {
			t.Errorf("exit code %d, want %d; unknown: %v", code, exitOK, r.Unknown)
		}
		return
	}
	if code != exitFound {
		t.Errorf("exit code %d, want %d", code, exitFound)
	}
	if len(roots) == 0 || slices.ContainsFunc(roots, func(f model.Finding) bool { return f.Signature != e.root }) {
		t.Fatalf("critical roots: %s; want only %s", describe(roots, r.Window.From), e.root)
	}
	for i, f := range roots {
		from, to := f.Started.Sub(r.Window.From).Seconds(), r.Window.To.Sub(r.Window.From).Seconds()
		if f.Ended != nil {
			to = f.Ended.Sub(r.Window.From).Seconds()
		}
		if from < e.from || to > e.to || i == 0 && from > e.onset {
			t.Errorf("%s from %.1f to %.1f s, want it inside %.0f to %.0f s and begun by %.0f s", f.Signature, from, to, e.from, e.to, e.onset)
		}
		if e.sure && (f.Confidence != model.Confirmed || !hasWitness(f)) {
			t.Errorf("%s is %s, want it confirmed by a blocked task", f.Signature, f.Confidence)
		}
		if len(f.Remedy) == 0 {
			t.Errorf("%s has no advice", f.Signature)
		}
	}
}

// hasWitness reports whether a blocked thread is named.
func hasWitness(f model.Finding) bool {
	return slices.ContainsFunc(f.Evidence, func(e model.Evidence) bool {
		return e.Role == model.RoleWitness && e.State == model.EvidenceHolds && strings.Contains(e.Detail, "thread")
	})
}

// criticalRoots are the critical findings at the root of an incident, in the
// order of their start.
func criticalRoots(r model.Report) []model.Finding {
	var roots []model.Finding
	for _, in := range r.Incidents {
		for _, f := range r.Findings {
			if f.ID == in.Root && f.Severity == model.SeverityCritical {
				roots = append(roots, f)
			}
		}
	}
	slices.SortFunc(roots, func(a, b model.Finding) int { return a.Started.Compare(b.Started) })
	return roots
}

func describe(list []model.Finding, zero time.Time) string {
	if len(list) == 0 {
		return "none"
	}
	var words []string
	for _, f := range list {
		ended := "still"
		if f.Ended != nil {
			ended = fmt.Sprintf("%.1f s", f.Ended.Sub(zero).Seconds())
		}
		words = append(words, fmt.Sprintf("%s %s %.1f s to %s%s", f.Signature, f.Confidence, f.Started.Sub(zero).Seconds(), ended, subject(f.Subject)))
	}
	return strings.Join(words, "; ")
}

// TestOwnRecordingReplaysToTheSameReport records a capture through the writer
// while it is replayed, and replays the recording.
func TestOwnRecordingReplaysToTheSameReport(t *testing.T) {
	for _, capture := range []string{"a_dirty_throttle", "m_idle"} {
		t.Run(capture, func(t *testing.T) {
			t.Parallel()
			own := filepath.Join(t.TempDir(), "own.tar.zst")
			rerecord(t, capturePath(capture), own)
			want := runProgram(t, "diagnose", "--json", capturePath(capture))
			got := runProgram(t, "diagnose", "--json", own)
			if got.stdout != want.stdout || got.code != want.code {
				t.Errorf("code %d, want %d; %s", got.code, want.code, firstDifference(got.stdout, want.stdout))
			}
		})
	}
}

// rerecord makes a recording in our own format of what the sources read from
// another one.
func rerecord(t *testing.T, from, to string) {
	t.Helper()
	rec, err := files.Open(from, files.DefaultLimits())
	if err != nil {
		t.Fatal(err)
	}
	defer rec.Close()
	m := recordedMachine(rec.Meta(), nil)
	p := &program{version: "v0-test"}
	if err := p.rerecord(context.Background(), rec, m, to); err != nil {
		t.Fatal(err)
	}
}

// firstDifference shows where two texts part.
func firstDifference(got, want string) string {
	a, b := strings.Split(got, "\n"), strings.Split(want, "\n")
	for i := range min(len(a), len(b)) {
		if a[i] != b[i] {
			return fmt.Sprintf("line %d:\n got %s\nwant %s", i+1, a[i], b[i])
		}
	}
	return fmt.Sprintf("%d lines, want %d", len(a), len(b))
}
