package process

import (
	"path"
	"strings"

	"stallmark/collectors"
)

// group is a folder with a cgroup's files.
type group struct {
	kind groupKind
	dir  string // of the Root
	id   string // the path in its hierarchy, as the process has it
}

// groupKind says which files a folder has.
type groupKind int

const (
	groupMemory   groupKind = iota // version 1, memory
	groupCPU                       // version 1, cpu
	groupUnified                   // version 2
	groupPressure                  // version 2 beside version 1: pressure only
)

const (
	cgroupTop    = "sys/fs/cgroup"
	maxAncestors = 8
)

// groupsOf finds the folders: version 2 is mounted at /sys/fs/cgroup, or below
// it in "unified" beside version 1, whose controllers have folders of their own,
// cpu alone or together with cpuacct.
func groupsOf(root collectors.Root, p cgroupPaths) []group {
	if len(p.v1) == 0 {
		return lineage(root, groupUnified, p.unified, cgroupTop)
	}
	groups := lineage(root, groupMemory, p.v1["memory"], cgroupTop+"/memory")
	groups = append(groups, lineage(root, groupCPU, p.v1["cpu"], cgroupTop+"/cpu", cgroupTop+"/cpu,cpuacct", cgroupTop+"/cpuacct,cpu")...)
	return append(groups, lineage(root, groupPressure, p.unified, cgroupTop+"/unified")...)
}

// lineage is a process's own group in the first of the folders that has it, and
// the groups above it that have a limit.
func lineage(root collectors.Root, kind groupKind, id string, tops ...string) []group {
	if id == "" || strings.Contains(id, "/..") {
		return nil
	}
	for _, top := range tops {
		own := group{kind, strings.TrimSuffix(top+id, "/"), id}
		if _, err := root.ReadDir(own.dir); err != nil {
			continue
		}
		groups := []group{own}
		for range maxAncestors {
			if id = path.Dir(id); id == "/" || id == "." {
				break
			}
			if above := (group{kind, top + id, id}); above.limited(root) {
				groups = append(groups, above)
			}
		}
		return groups
	}
	return nil
}

// limited reports whether a group has a limit of its own.
func (g group) limited(root collectors.Root) bool {
	for _, name := range limitFiles[g.kind] {
		b, err := root.Read(g.dir+"/"+name, nil)
		word, _ := nextField(b)
		if v, ok := parseUint(word); err == nil && ok && v < unlimited {
			return true
		}
	}
	return false
}

// limitFiles begin with a number if there is a limit; else with "max", -1 or a
// number beyond any memory.
var limitFiles = map[groupKind][]string{
	groupMemory:  {"memory.limit_in_bytes"},
	groupCPU:     {"cpu.cfs_quota_us"},
	groupUnified: {"memory.max", "memory.high", "cpu.max"},
}
