package main

import (
	"math/rand/v2"
	"slices"
	"testing"

	"stallmark/storage/model"
)

// lesser is the same fault on another machine, or less of it recorded.
type lesser struct {
	name     string
	warp     func(tape) tape
	captures []string // without: core
	judge    judge
	drop     []string            // signatures that are unknown then
	instead  map[string][]ruling // what is right of a recording then
}

// core has each kind of fault and a harmless recording.
func core() []string {
	return []string{
		"a_dirty_throttle", "c_direct_reclaim", "d2_memcg_thrash", "e1_cold_pread", "f_mmap_press", "g2_tlb_inproc",
		"h_swapin_zram", "i_thp_compact", "j_odirect", "k_cpu_quota", "l2_unwarmed_victim", "m_benign_cp",
	}
}

// some is for changes that touch every signature in the same way.
func some() []string {
	return []string{"a_dirty_throttle", "d2_memcg_thrash", "h_swapin_zram", "j_odirect", "k_cpu_quota", "m_benign_cp"}
}

// Thresholds of absolute size (a signature begins at 10 MB/s, say) are met a
// little earlier or later on a machine of another size, and the second in which
// a window is full moves with the beats.
func lessers() []lesser {
	loose := judge{tolerance: 5, anySure: true}
	thrash := judge{tolerance: 5, anySure: true, pieces: true, bear: []string{"page-cache-thrash"}}
	// The victim reads fifty pages a second that left memory long ago: 0.2 MB/s, under the threshold; four times that is above it.
	cold := []ruling{
		{sig: "catch-up-cold-reads", layer: cause, severity: warning, from: 17, to: 45},
		{sig: "disk-saturation", layer: cause, severity: critical, from: 12.8, to: 52},
	}
	return []lesser{
		{name: "four times the memory and the disk", warp: scale(4), judge: thrash, instead: map[string][]ruling{"j_odirect": cold}},
		{name: "half the memory and the disk", warp: scale(0.5), judge: loose, drop: []string{"mmap-fault-stall"}},
		{name: "pages of 64 KiB", warp: largePages, judge: exactly(2)},
		{name: "counters start again in the middle", warp: restarted, judge: judge{tolerance: 2, pieces: true}},
		{name: "64 CPUs", warp: moreCPUs(64), judge: exactly(2), drop: []string{"cpu-saturation"}},
		{name: "the disk is called sda", warp: renamed("sda", 8, 0), judge: exactly(2), captures: disks()},
		{name: "the disk is called nvme0n1", warp: renamed("nvme0n1", 259, 0), judge: exactly(2), captures: disks()},
		{name: "a device mapper volume over the disk", warp: mapped, judge: exactly(2), captures: disks()},
		{name: "a fifth of the beats lost", warp: lost(1, 2), judge: loose, captures: some()},
		{name: "another fifth of the beats lost", warp: lost(3, 6), judge: judge{tolerance: 5, anySure: true, pieces: true}, captures: some()},
		{name: "two seconds between beats", warp: everySecond, judge: loose, captures: some()},
		{name: "no pressure", warp: without("proc/pressure/"), judge: loose},
		{
			name: "no stat, so the number of CPUs is not known", warp: without("proc/stat"), judge: exactly(2),
			drop: []string{"cpu-saturation", "cfs-throttling", "tlb-shootdown-storm"},
		},
		{name: "no process seen", warp: processless, judge: loose, captures: []string{"a_dirty_throttle", "c_direct_reclaim", "f_mmap_press", "j_odirect", "m_benign_cp"}, drop: []string{"catch-up-cold-reads"}},
	}
}

// disks are recordings whose verdict looks at the disk.
func disks() []string {
	return []string{"d2_memcg_thrash", "e1_cold_pread", "j_odirect"}
}

// processless leaves vmstat, diskstats, stat and pressure.
func processless(tp tape) tape {
	return tp.keep(func(_ int, name string) bool {
		return slices.Contains([]string{"proc/vmstat", "proc/diskstats", "proc/stat", "proc/pressure/cpu", "proc/pressure/io", "proc/pressure/memory"}, name)
	})
}

// TestLesserCaptures holds the verdicts where the physics is still there.
func TestLesserCaptures(t *testing.T) {
	var store tapes
	for _, l := range lessers() {
		captures := l.captures
		if captures == nil {
			captures = core()
		}
		for _, capture := range captures {
			t.Run(l.name+"/"+capture, func(t *testing.T) {
				t.Parallel()
				want, ok := l.instead[capture]
				if !ok {
					want = truthOf(t, capture).want
				}
				want = slices.DeleteFunc(slices.Clone(want), func(w ruling) bool { return slices.Contains(l.drop, w.sig) })
				r, _ := l.warp(store.of(t, capture)).diagnose(t)
				l.judge.compare(t, r, want)
			})
		}
	}
}

// TestWithoutAKeyItIsUnknown drops what a signature needs from /proc/vmstat, as
// older kernels do not have it: never a clean bill.
func TestWithoutAKeyItIsUnknown(t *testing.T) {
	var store tapes
	for _, c := range []struct{ keys, capture, sig string }{
		{"^nr_dirty$", "a_dirty_throttle", "dirty-throttling"},
		{"^(allocstall|pgscan_direct)", "c_direct_reclaim", "direct-reclaim"},
		{"^pgscan_direct", "d_memcg_reclaim", "memcg-reclaim"},
		{"^workingset_refault", "d2_memcg_thrash", "page-cache-thrash"},
		{"^(pswpin|swpin_zero)$", "h_swapin_zram", "swap-in-stall"},
		{"^compact_stall$", "i_thp_compact", "thp-compaction-stall"},
		{"^nr_written$", "j_odirect", "disk-saturation"},
		{"^nr_written$", "f_mmap_press", "writeback-churn"},
		{"^oom_kill$", "m_idle", "oom-kill"},
	} {
		t.Run(c.sig, func(t *testing.T) {
			t.Parallel()
			r, code := withoutKeys(c.keys)(store.of(t, c.capture)).diagnose(t)
			for _, f := range r.Findings {
				if f.Signature == c.sig {
					t.Errorf("said %s without %s", f.Signature, c.keys)
				}
			}
			if !slices.ContainsFunc(r.Unknown, func(u model.Unknown) bool { return u.Signature == c.sig && u.Why != "" }) {
				t.Errorf("%s is not unknown: %+v", c.sig, r.Unknown)
			}
			if len(r.Findings) == 0 && code == exitOK {
				t.Error("a clean bill")
			}
		})
	}
}

// TestTwoFaults has two faults in one recording, one after the other or at the
// same time: two incidents, each with its own root.
func TestTwoFaults(t *testing.T) {
	var store tapes
	of := func(name string) tape { return store.of(t, name) }
	shifted := func(by float64, list ...ruling) []ruling {
		var out []ruling
		for _, w := range list {
			w.from, w.to = w.from+by, w.to+by
			out = append(out, w)
		}
		return out
	}
	want := func(capture, sig string) ruling {
		for _, w := range truthOf(t, capture).want {
			if w.sig == sig {
				return w
			}
		}
		t.Fatalf("%s has no %s", capture, sig)
		return ruling{}
	}
	disk, quota, throttle := want("j_odirect", "disk-saturation"), want("k_cpu_quota", "cfs-throttling"), want("a_dirty_throttle", "dirty-throttling")
	storm := want("g2_tlb_inproc", "tlb-shootdown-storm")
	for name, c := range map[string]struct {
		tape tape
		want []ruling
		bear []string
	}{
		"saturation, then a quota":                  {of("j_odirect").then(of("k_cpu_quota")), append(shifted(68, quota), disk), nil},
		"throttled writers, then saturation":        {of("a_dirty_throttle").then(of("j_odirect")), append(shifted(68, disk), throttle), []string{"cpu-saturation"}},
		"saturation and a quota at the same time":   {of("j_odirect").beside(of("k_cpu_quota"), 0), []ruling{disk, quota}, nil},
		"throttled writers and a shootdown storm":   {of("a_dirty_throttle").beside(of("g2_tlb_inproc"), 0), []ruling{throttle, storm}, []string{"cpu-saturation", "tlb-shootdown-storm"}},
		"a group at its limit beside a CPU quota":   {of("d2_memcg_thrash").beside(of("k_cpu_quota").regrouped("/rk", "/rq"), 0), append(slices.Clone(truthOf(t, "d2_memcg_thrash").want), quota), nil},
		"a group at its limit beside saturation":    {of("d2_memcg_thrash").beside(of("j_odirect"), 0), []ruling{want("d2_memcg_thrash", "memcg-reclaim"), disk}, []string{"page-cache-thrash"}},
		"swap in memory beside saturation":          {of("h_swapin_zram").beside(of("j_odirect"), 0), append(slices.Clone(truthOf(t, "h_swapin_zram").want), disk), []string{"cpu-saturation"}},
		"throttled writers beside saturation":       {of("a_dirty_throttle").beside(of("j_odirect"), 0), []ruling{throttle, disk}, []string{"cpu-saturation"}},
		"throttled writers beside a copy":           {of("a_dirty_throttle").beside(of("m_benign_cp"), 0), []ruling{throttle}, []string{"cpu-saturation"}},
		"a group at its limit beside a copy":        {of("d2_memcg_thrash").beside(of("m_benign_cp"), 3), truthOf(t, "d2_memcg_thrash").want, []string{"cpu-saturation"}},
		"stores under forced writeback and a copy":  {of("f_mmap_press").beside(of("m_benign_cp"), 7), truthOf(t, "f_mmap_press").want, []string{"cpu-saturation"}},
		"saturation beside a copy":                  {of("j_odirect").beside(of("m_benign_cp"), 0), []ruling{disk}, []string{"cpu-saturation"}},
		"a quota beside a copy":                     {of("k_cpu_quota").beside(of("m_benign_cp"), 0), []ruling{quota}, []string{"cpu-saturation"}},
		"reclaim beside a copy":                     {of("c_direct_reclaim").beside(of("m_benign_cp"), 20), truthOf(t, "c_direct_reclaim").want, []string{"page-cache-thrash"}},
		"an idle machine beside a copy and another": {of("m_idle").beside(of("m_benign_cp"), 0).beside(of("m_benign_cp").renumbered(8417, 8418), 9), nil, []string{"cpu-saturation"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r, _ := c.tape.diagnose(t)
			judge{tolerance: 3, anySure: true, bear: c.bear}.compare(t, r, c.want)
		})
	}
}

// TestAnyTwoChanges draws two changes that leave the fault as it is and a
// recording, by a fixed seed.
func TestAnyTwoChanges(t *testing.T) {
	var store tapes
	random := rand.New(rand.NewPCG(7, 11))
	harmless := []func(tape) tape{scale(2), scale(3), largePages, restarted, renamed("sda", 8, 0), mapped, lost(4), lost(7, 8), without("proc/interrupts")}
	names := []string{"scale 2", "scale 3", "pages of 64 KiB", "counters start again", "sda", "device mapper", "a beat in ten lost", "a fifth of the beats lost", "no interrupts"}
	captures := core()
	for range 10 {
		i, k, capture := random.IntN(len(harmless)), random.IntN(len(harmless)), captures[random.IntN(len(captures))]
		t.Run(names[i]+"+"+names[k]+"/"+capture, func(t *testing.T) {
			t.Parallel()
			r, _ := harmless[k](harmless[i](store.of(t, capture))).diagnose(t)
			bear := []string{"page-cache-thrash", "cpu-saturation", "tlb-shootdown-storm"}
			if capture == "j_odirect" { // its cold reads, a few times as many
				bear = append(bear, "catch-up-cold-reads")
			}
			judge{tolerance: 6, anySure: true, bear: bear}.compare(t, r, truthOf(t, capture).want)
		})
	}
}

// TestTooShortToSay has six seconds of sixteen direct writers: too little for a
// verdict, and so no clean bill either.
func TestTooShortToSay(t *testing.T) {
	var store tapes
	r, code := store.of(t, "j_odirect").keep(func(beat int, _ string) bool { return beat >= 20 && beat < 26 }).diagnose(t)
	unknown := slices.ContainsFunc(r.Unknown, func(u model.Unknown) bool { return u.Signature == "disk-saturation" })
	if code != exitUnknown || !unknown {
		t.Errorf("code %d, want %d; unknown %+v", code, exitUnknown, r.Unknown)
	}
}
