package host

import (
	"strings"

	"stallmark/collectors"
	"stallmark/storage/model"
)

// vmstat reads /proc/vmstat: every key as it stands, and a few sums whose
// parts have had different names in different kernels (Documentation/admin-guide
// knows none of them; mm/vmstat.c does).
type vmstat struct {
	file
	keys  map[string]vmKey
	sums  [roleSums]*model.Series
	dirty dirtyLimits
	vals  [roleCount]uint64
	have  [roleCount]bool
}

// vmKey is one line of the file.
type vmKey struct {
	series *model.Series
	role   vmRole
	part   bool // alone it is no sum: without nr_dirty nobody knows the level
}

// vmRole is what a key is needed for besides its own series.
type vmRole uint8

// The first roles are sums that become series, the others are inputs of the
// dirty limits.
const (
	roleAllocstall vmRole = iota
	rolePgscanDirect
	rolePgstealDirect
	rolePgscanKswapd
	roleDirtyLevel
	roleRefaultFile
	roleThreshold
	roleBackground
	roleFree
	roleActiveFile
	roleInactiveFile
	roleActiveAnon
	roleInactiveAnon
	roleNone
	roleCount

	roleSums = roleThreshold // how many become series
)

func newVmstat(c Config) *vmstat {
	return &vmstat{
		file: file{name: "proc/vmstat"},
		keys: map[string]vmKey{},
		sums: [roleSums]*model.Series{
			roleAllocstall:    model.NewSeries("stallmark_allocstall_total"),
			rolePgscanDirect:  model.NewSeries("stallmark_pgscan_direct_total"),
			rolePgstealDirect: model.NewSeries("stallmark_pgsteal_direct_total"),
			rolePgscanKswapd:  model.NewSeries("stallmark_pgscan_kswapd_total"),
			roleDirtyLevel:    model.NewSeries("stallmark_dirty_level_pages"),
			roleRefaultFile:   model.NewSeries("stallmark_refault_file_total"),
		},
		dirty: newDirtyLimits(c.PageSize),
	}
}

// Name implements [collectors.Source].
func (*vmstat) Name() string { return "vmstat" }

// Provides implements [collectors.Source].
func (*vmstat) Provides() []string {
	return []string{
		"node_vmstat_", "stallmark_allocstall_total", "stallmark_pgscan_", "stallmark_pgsteal_", "stallmark_dirty_",
		"stallmark_refault_file_total",
	}
}

// Collect implements [collectors.Source].
func (v *vmstat) Collect(root collectors.Root, out *collectors.Out) error {
	data, err := v.read(root)
	if err != nil {
		return err
	}
	v.vals, v.have = [roleCount]uint64{}, [roleCount]bool{}
	l := readLines(v.name, data)
	for line, ok := l.next(); ok; line, ok = l.next() {
		key, rest := cutField(line)
		value, _, ok := cutUint(rest)
		if !ok {
			l.fault("a key and a number")
			continue
		}
		k, known := v.keys[string(key)]
		if !known {
			if k, known = v.learn(key); !known {
				l.fault("a key of letters, digits and underscores")
				continue
			}
		}
		out.Add(k.series, float64(value))
		v.vals[k.role] += value
		v.have[k.role] = v.have[k.role] || !k.part
	}
	used := len(out.Samples()) > 0
	for role, series := range v.sums {
		if v.have[role] {
			out.Add(series, float64(v.vals[role]))
		}
	}
	gap := v.dirty.collect(root, out, v)
	if err := l.err(used); err != nil {
		return err
	}
	return gap
}

// maxKeys bounds what a forged file can make us remember; 6.18 has about 200.
const maxKeys = 4096

// learn makes the series of a key seen for the first time.
func (v *vmstat) learn(key []byte) (vmKey, bool) {
	if !isName(key) || len(v.keys) >= maxKeys {
		return vmKey{}, false
	}
	name := string(key)
	k := vmKey{model.NewSeries("node_vmstat_" + name), vmRoleOf(name), name == "nr_writeback" || name == "nr_unstable"}
	v.keys[string(key)] = k
	return k, true
}

// vmRoleOf knows the names of the summed counters: allocstall is one key up to
// 4.7 and one a zone since, pgscan_* and pgsteal_* the other way round.
// pgscan_direct_throttle has the prefix and is something else: reclaimers that
// were throttled for want of reserves. What counts against the dirty limits is
// nr_dirty, nr_writeback and, up to 5.7, nr_unstable (0 since); refaults of file
// pages are workingset_refault up to 5.8.
func vmRoleOf(key string) vmRole {
	switch key {
	case "nr_dirty_threshold":
		return roleThreshold
	case "nr_dirty_background_threshold":
		return roleBackground
	case "nr_dirty", "nr_writeback", "nr_unstable":
		return roleDirtyLevel
	case "workingset_refault", "workingset_refault_file":
		return roleRefaultFile
	case "nr_free_pages":
		return roleFree
	case "nr_active_file":
		return roleActiveFile
	case "nr_inactive_file":
		return roleInactiveFile
	case "nr_active_anon":
		return roleActiveAnon
	case "nr_inactive_anon":
		return roleInactiveAnon
	}
	switch withoutZone(key) {
	case "allocstall":
		return roleAllocstall
	case "pgscan_direct":
		return rolePgscanDirect
	case "pgsteal_direct":
		return rolePgstealDirect
	case "pgscan_kswapd":
		return rolePgscanKswapd
	}
	return roleNone
}

// withoutZone cuts the name of a memory zone off a key.
func withoutZone(key string) string {
	for _, zone := range []string{"_dma", "_dma32", "_normal", "_high", "_movable", "_device"} {
		if base, ok := strings.CutSuffix(key, zone); ok {
			return base
		}
	}
	return key
}
