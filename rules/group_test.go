package rules

import (
	"fmt"
	"testing"
	"time"

	"stallmark/storage/model"
)

// inGroup is a broker in a control group with 1 GiB on a host with 16 GiB of free
// memory and file cache, whose dirty limits are the kernel's defaults. The host's
// level is so many pages, and threads of the broker are seen paused from the
// given second on.
func inGroup(t *testing.T, level, paused int, more ...string) *memSource {
	t.Helper()
	const gib = 1 << 30
	return data(t, append([]string{
		`stallmark_page_size_bytes 4096x60`,
		`stallmark_cpus_online 4x60`,
		fmt.Sprintf(`stallmark_dirty_level_pages %dx60`, level),
		fmt.Sprintf(`stallmark_dirty_threshold_pages %dx60`, 16*gib/5/4096),
		fmt.Sprintf(`stallmark_dirty_background_threshold_pages %dx60`, 16*gib/10/4096),
		`node_vmstat_nr_dirtied 0+60000x60`,
		`node_vmstat_nr_written 0+60000x60`,
		fmt.Sprintf(`node_memory_MemFree_bytes %dx60`, 10*gib),
		fmt.Sprintf(`node_memory_Active_file_bytes %dx60`, 3*gib),
		fmt.Sprintf(`node_memory_Inactive_file_bytes %dx60`, 3*gib),
		fmt.Sprintf(`stallmark_blocked_threads{process="broker",pid="7",wait="dirty_throttle"} 0x%d 3x60`, paused),
		`stallmark_pgscan_direct_total 0x60`,
		fmt.Sprintf(`container_spec_memory_limit_bytes{id="/b",process="broker",pid="7"} %dx60`, gib),
		fmt.Sprintf(`container_memory_usage_bytes{id="/b",process="broker",pid="7"} %dx60`, gib-1<<20),
		fmt.Sprintf(`container_memory_stat_bytes{id="/b",process="broker",pid="7",kind="file"} %dx60`, 800<<20),
	}, more...)...)
}

// reclaims are the counters of a group that meets its limit from the second on.
func reclaims(version, from int) string {
	if version == 1 {
		return fmt.Sprintf(`container_memory_failcnt{id="/b",process="broker",pid="7"} 0x%d 0+900x60`, from)
	}
	return fmt.Sprintf(`container_memory_events_total{id="/b",process="broker",pid="7",event="max"} 0x%d 0+900x60`, from)
}

// dirty is how much of the group is dirty, in MiB. Its ceiling is 15 % of its 801 MiB.
func dirty(mib int) string {
	return fmt.Sprintf(`container_memory_stat_bytes{id="/b",process="broker",pid="7",kind="file_dirty"} %dx60`, mib<<20)
}

// The memory of a group of version 2 bounds its dirty pages too, so both are one
// fault, whichever shows first. In version 1, or with the host's own limit met,
// they are two.
func TestDirtyPagesOfAGroup(t *testing.T) {
	const low, met = 40000, 700000 // pages; the host's ceiling is 629,145
	pack := loadBuiltIn(t)
	for name, c := range map[string]struct {
		src       *memSource
		incidents int
		root      string
	}{
		"version 2, reclaim first":               {inGroup(t, low, 20, reclaims(2, 10), dirty(118)), 1, "memcg-reclaim"},
		"version 2, paused first":                {inGroup(t, low, 5, reclaims(2, 25), dirty(118)), 1, "dirty-throttling"},
		"version 2, hardly anything of it dirty": {inGroup(t, low, 20, reclaims(2, 10), dirty(9)), 2, ""},
		"version 2, and the host's limit is met": {inGroup(t, met, 20, reclaims(2, 10), dirty(118)), 2, ""},
		"version 1, and the host's limit is met": {inGroup(t, met, 20, reclaims(1, 10), dirty(118)), 2, ""},
		"version 1, paused by a device's limit":  {inGroup(t, low, 20, reclaims(1, 10), dirty(118)), 2, ""},
	} {
		e := NewEngine(packOf(named(pack, "memcg-reclaim", "dirty-throttling")...), c.src, time.Second)
		findings := latest(steps(t, e, 0, 58))
		incidents := Incidents(findings)
		if len(findings) != 2 || len(incidents) != c.incidents {
			t.Errorf("%s: %d findings in %d incidents, want 2 in %d", name, len(findings), len(incidents), c.incidents)
			continue
		}
		if c.root != "" && incidents[0].Root != idOf(findings, c.root) {
			t.Errorf("%s: the root is not %s", name, c.root)
		}
	}
}

// What was explained before a restart is so after it.
func TestConditionalExplanationIsRestored(t *testing.T) {
	s := signature(t, "x", `
title: t
layer: cause
severity: warning
needs: [a]
when: a > 0
explains: [always, {id: sometimes, while: b > 0}]
what: w
`)
	for _, explained := range [][]string{{"always"}, {"always", "sometimes"}} {
		f := model.Finding{ID: "y", Signature: "x", State: model.StateFiring, Explains: explained}
		if got := restoreTracked(s, f).explains(); fmt.Sprint(got) != fmt.Sprint(explained) {
			t.Errorf("after a restart it explains %v, before %v", got, explained)
		}
	}
}
