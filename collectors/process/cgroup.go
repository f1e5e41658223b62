package process

import (
	"strings"
	"time"

	"stallmark/collectors"
	"stallmark/storage/model"
)

// cgroups reads the files of each watched process's own cgroup, of version 1
// (a hierarchy a controller) and of version 2, under cAdvisor's names; and those
// of the groups above it that have a limit, which holds for the process too
// (a pod above its container, a slice above its service). What has no limit has
// no series.
type cgroups struct {
	table    *table
	recorded bool // the files that tell the groups are in some beats only
	procs    perProcess[cgroupOf]
	buf      []byte
}

// cgroupEvery is how often it is looked whether a process has moved.
const cgroupEvery = 10 * time.Second

func newCgroups(c Config, t *table) *cgroups { return &cgroups{table: t, recorded: c.WatchAllRecorded} }

// Name implements [collectors.Source].
func (c *cgroups) Name() string { return "cgroup" }

// Provides implements [collectors.Source].
func (c *cgroups) Provides() []string {
	return []string{"container_memory_", "container_spec_", "container_cpu_cfs_", "container_pressure_"}
}

// cgroupOf is where one process's groups are.
type cgroupOf struct {
	next   time.Time
	text   string // /proc/PID/cgroup as last seen
	paths  cgroupPaths
	groups []group
	series map[string]*model.Series // by name and one label
	err    error
}

// Collect implements [collectors.Source].
func (c *cgroups) Collect(root collectors.Root, out *collectors.Out) error {
	procs := c.table.snapshot()
	c.procs.sync(procs, func(*watched) *cgroupOf { return &cgroupOf{} }, func(w *watched) { out.Forget(w.factPrefix()) })
	if len(procs) == 0 {
		return errNothingWatched()
	}
	var missing gaps
	for _, w := range procs {
		g := c.procs.states[w]
		if c.recorded || !out.At().Before(g.next) {
			g.next = out.At().Add(cgroupEvery)
			c.locate(root, w, g)
		}
		missing.join(g.err)
		if own := g.paths.own(); own != "" {
			out.Fact(w.factPrefix()+"cgroup", cleanPath(own))
		}
		before := len(out.Samples())
		reading := cgroupReading{root: root, out: out, w: w, g: g, buf: &c.buf}
		reading.all()
		missing.got = missing.got || len(out.Samples()) > before
	}
	if !missing.got && len(missing.list) == 0 {
		return collectors.Absent("no cgroup files found", "mount cgroup2 at /sys/fs/cgroup, or the version 1 controllers below it")
	}
	return missing.err()
}

// locate finds the folders of a process's groups.
func (c *cgroups) locate(root collectors.Root, w *watched, g *cgroupOf) {
	var missing gaps
	var err error
	if c.buf, err = root.Read(w.dir+"cgroup", c.buf); err != nil {
		if !c.recorded || g.text == "" {
			missing.readOf(root, w, "cgroup", err, mendPtrace)
			g.err = missing.err()
		}
		return
	}
	g.err = nil
	if string(c.buf) != g.text {
		g.text = string(c.buf)
		g.paths = parseCgroup(g.text)
		g.series = map[string]*model.Series{}
	}
	g.groups = groupsOf(root, g.paths)
	if g.paths.outside() {
		g.err = collectors.Partial("a watched process is in a cgroup outside of this cgroup namespace", "run in the host's cgroup namespace")
	}
}

// cgroupPaths are a process's groups as /proc/PID/cgroup has them.
type cgroupPaths struct {
	unified string            // of version 2; also in a mixed set-up
	v1      map[string]string // by controller
}

// parseCgroup reads lines of "hierarchy:controllers:path".
func parseCgroup(text string) cgroupPaths {
	p := cgroupPaths{v1: map[string]string{}}
	for line := range strings.Lines(text) {
		id, rest, _ := strings.Cut(strings.TrimSuffix(line, "\n"), ":")
		controllers, path, ok := strings.Cut(rest, ":")
		switch {
		case !ok || !strings.HasPrefix(path, "/"):
		case id == "0" && controllers == "":
			p.unified = path
		default:
			for c := range strings.SplitSeq(controllers, ",") {
				p.v1[c] = path
			}
		}
	}
	return p
}

// own is the path that names the process's group.
func (p *cgroupPaths) own() string { return firstOf(p.v1["memory"], p.unified, p.v1["cpu"]) }

// outside reports whether a path leads out of the reader's cgroup namespace.
func (p *cgroupPaths) outside() bool {
	for _, path := range p.v1 {
		if strings.HasPrefix(path, "/..") {
			return true
		}
	}
	return strings.HasPrefix(p.unified, "/..")
}

// cleanPath makes a cgroup's path printable; systemd escapes blanks itself.
func cleanPath(p string) string {
	return cleanText(p, maxValue)
}
