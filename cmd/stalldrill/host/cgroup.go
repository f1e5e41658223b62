package host

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// Cgroups is a folder in which a control group with one controller can be made.
type Cgroups struct {
	Version int    // 1 or 2
	Parent  string // the new group is a folder below this one
}

// FindCgroups finds where a controller ("memory", "cpu", "io") lives. In version 1 it
// is our own group; in version 2 the root, since a group with processes may not
// have children with controllers.
func (h Host) FindCgroups(controller string) (Cgroups, error) {
	mounts, err := Read(filepath.Join(h.Proc, "self/mountinfo"))
	if err != nil {
		return Cgroups{}, err
	}
	var unified string
	old := controller // as version 1 calls it
	if controller == "io" {
		old = "blkio"
	}
	for line := range strings.Lines(mounts) {
		m, ok := parseMount(line)
		switch {
		case !ok:
		case m.kind == "cgroup" && slices.Contains(m.options, old):
			return Cgroups{1, h.ownGroup(m, old)}, nil
		case m.kind == "cgroup2":
			unified = m.point
		}
	}
	if unified == "" {
		return Cgroups{}, fmt.Errorf("no cgroup file system has the %s controller", controller)
	}
	has, err := Read(filepath.Join(unified, "cgroup.controllers"))
	if err != nil || !slices.Contains(strings.Fields(has), controller) {
		return Cgroups{}, fmt.Errorf("the %s controller is neither in cgroup v1 nor in cgroup v2 at %s", controller, unified)
	}
	return Cgroups{2, unified}, nil
}

// mount is a row of mountinfo that matters here.
type mount struct {
	root, point, kind string
	options           []string // of the file system
}

// parseMount reads "ID PARENT MAJ:MIN ROOT POINT OPTIONS [TAGS] - TYPE SOURCE OPTIONS".
func parseMount(line string) (mount, bool) {
	left, right, ok := strings.Cut(line, " - ")
	l, r := strings.Fields(left), strings.Fields(right)
	if !ok || len(l) < 6 || len(r) < 3 {
		return mount{}, false
	}
	return mount{root: l[3], point: l[4], kind: r[0], options: strings.Split(r[2], ",")}, true
}

// ownGroup is the folder of the group that we are in, or the mount itself
// where the path in /proc/self/cgroup is of another namespace.
func (h Host) ownGroup(m mount, controller string) string {
	text, _ := Read(filepath.Join(h.Proc, "self/cgroup"))
	for line := range strings.Lines(text) {
		parts := strings.SplitN(strings.TrimSpace(line), ":", 3)
		if len(parts) != 3 || !slices.Contains(strings.Split(parts[1], ","), controller) {
			continue
		}
		own := filepath.Join(m.point, strings.TrimPrefix(parts[2], m.root))
		if st, err := os.Stat(own); err == nil && st.IsDir() {
			return own
		}
	}
	return m.point
}
