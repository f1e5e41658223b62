package process

import (
	"strings"
	"time"

	"stallmark/collectors"
	"stallmark/storage/model"
)

// cgroups reads the files of each watched process's own cgroup, of version 1
// (a hierarchy a controller) and of version 2, under cAdvisor's names. What has
// no limit has no series.
type cgroups struct {
	table *table
	procs perProcess[cgroupOf]
	buf   []byte
}

// cgroupEvery is how often it is looked whether a process has moved.
const cgroupEvery = 10 * time.Second

func newCgroups(t *table) *cgroups { return &cgroups{table: t} }

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
	places cgroupPlaces
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
		if !out.At().Before(g.next) {
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
		missing.readOf(root, w, "cgroup", err, mendPtrace)
		g.err = missing.err()
		return
	}
	g.err = nil
	if string(c.buf) == g.text {
		return
	}
	g.text = string(c.buf)
	g.paths = parseCgroup(g.text)
	g.series = map[string]*model.Series{}
	g.places = placesOf(root, g.paths)
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

// cgroupPlaces are the folders with the files; empty where there are none.
type cgroupPlaces struct {
	memory, cpu string // of version 1
	unified     string // of version 2 with controllers
	pressure    string // of version 2, with or without controllers
	memoryID    string // the paths as the process has them
	cpuID       string
	unifiedID   string
}

// placesOf looks where the hierarchies are mounted: version 2 at
// /sys/fs/cgroup, or below it in "unified" beside version 1, whose controllers
// have folders of their own, cpu together with cpuacct or alone.
func placesOf(root collectors.Root, p cgroupPaths) cgroupPlaces {
	const top = "sys/fs/cgroup"
	var at cgroupPlaces
	has := func(dir, path string) (string, bool) {
		if path == "" || strings.Contains(path, "/..") {
			return "", false
		}
		dir = strings.TrimSuffix(dir+path, "/")
		_, err := root.ReadDir(dir)
		return dir, err == nil
	}
	first := func(path string, dirs ...string) string {
		for _, d := range dirs {
			if dir, ok := has(d, path); ok {
				return dir
			}
		}
		return ""
	}
	at.memory, at.memoryID = first(p.v1["memory"], top+"/memory"), p.v1["memory"]
	at.cpu, at.cpuID = first(p.v1["cpu"], top+"/cpu", top+"/cpu,cpuacct", top+"/cpuacct,cpu"), p.v1["cpu"]
	at.unifiedID = p.unified
	if len(p.v1) == 0 {
		at.unified = first(p.unified, top)
		at.pressure = at.unified
	} else {
		at.pressure = first(p.unified, top+"/unified")
	}
	if p.unified == "/" {
		at.pressure = "" // the root's is the host's
	}
	return at
}

// cleanPath makes a cgroup's path printable; systemd escapes blanks itself.
func cleanPath(p string) string {
	return cleanText(p, maxValue)
}
