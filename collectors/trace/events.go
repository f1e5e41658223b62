package trace

import (
	"errors"
	"fmt"
	"io/fs"

	"stallmark/collectors"
)

// role is what an event says of a wait.
type role uint8

const (
	rolePause role = iota // the thread is about to sleep for so long
	roleBegin
	roleEnd
)

// point is one tracepoint that the source reads.
type point struct {
	group, name string
	wait        string // as in SERIES.md
	function    string // of the kernel, in which the thread waits
	role        role
	filter      string // in the kernel, so that other events cost nothing
}

// points are the tracepoints. balance_dirty_pages says its pause in ms before
// the thread sleeps (mm/page-writeback.c); the others are at the beginning and
// the end of the work, in the thread that does it.
var points = [...]point{
	{"writeback", "balance_dirty_pages", "dirty_throttle", "balance_dirty_pages", rolePause, "pause > 0"},
	{"vmscan", "mm_vmscan_direct_reclaim_begin", "reclaim", "try_to_free_pages", roleBegin, ""},
	{"vmscan", "mm_vmscan_direct_reclaim_end", "reclaim", "try_to_free_pages", roleEnd, ""},
	{"vmscan", "mm_vmscan_memcg_reclaim_begin", "memcg_reclaim", "try_to_free_mem_cgroup_pages", roleBegin, ""},
	{"vmscan", "mm_vmscan_memcg_reclaim_end", "memcg_reclaim", "try_to_free_mem_cgroup_pages", roleEnd, ""},
	{"compaction", "mm_compaction_begin", "compaction", "compact_zone", roleBegin, ""},
	{"compaction", "mm_compaction_end", "compaction", "compact_zone", roleEnd, ""},
}

// tracefs is where the events may be: at its own mount point or, before 4.1, in
// debugfs.
var tracefs = [...]string{"sys/kernel/tracing", "sys/kernel/debug/tracing"}

// catalogue is the tracepoints that this kernel has.
type catalogue struct {
	probes  []Probe
	byID    map[uint16]*point
	pause   field // of balance_dirty_pages
	missing []string
}

// loadCatalogue reads the format files. It returns a Gap if there are none.
func loadCatalogue(root collectors.Root) (*catalogue, error) {
	base, err := findTracefs(root)
	if err != nil {
		return nil, err
	}
	c := &catalogue{byID: map[uint16]*point{}}
	for i := range points {
		if err := c.load(root, base, &points[i]); err != nil {
			return nil, err
		}
	}
	c.dropHalves()
	if len(c.probes) == 0 {
		return nil, collectors.Absent("this kernel has none of the tracepoints", "a kernel with CONFIG_FTRACE")
	}
	return c, nil
}

// findTracefs is the folder that has events.
func findTracefs(root collectors.Root) (string, error) {
	var denied error
	for _, base := range tracefs {
		_, err := root.ReadDir(base + "/events/vmscan")
		if err == nil {
			return base, nil
		}
		if errors.Is(err, fs.ErrPermission) {
			denied = err
		}
	}
	if denied != nil {
		return "", collectors.Denied("tracefs cannot be read: "+denied.Error(),
			"run as root, or with CAP_PERFMON and CAP_DAC_READ_SEARCH")
	}
	return "", collectors.Absent("tracefs is not mounted", "mount -t tracefs nodev /sys/kernel/tracing")
}

// load adds one tracepoint. One that the kernel does not have is missing.
func (c *catalogue) load(root collectors.Root, base string, p *point) error {
	name := base + "/events/" + p.group + "/" + p.name + "/format"
	data, err := root.Read(name, nil)
	if errors.Is(err, fs.ErrNotExist) {
		c.missing = append(c.missing, p.group+":"+p.name)
		return nil
	}
	if err != nil {
		return collectors.GapOf(name, err, "run as root, or with CAP_PERFMON and CAP_DAC_READ_SEARCH")
	}
	f, err := parseFormat(data)
	if err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	if p.role == rolePause {
		pause, ok := f.fields["pause"] // not dirtied_pause, not paused
		if !ok {
			c.missing = append(c.missing, p.group+":"+p.name+" with a pause")
			return nil
		}
		c.pause = pause
	}
	c.byID[f.id] = p
	c.probes = append(c.probes, Probe{ID: f.id, Filter: p.filter})
	return nil
}

// dropHalves drops a begin without its end, and the other way round.
func (c *catalogue) dropHalves() {
	count := map[string]int{}
	for _, p := range c.byID {
		count[p.wait]++
	}
	kept := c.probes[:0]
	for _, pr := range c.probes {
		p := c.byID[pr.ID]
		if p.role != rolePause && count[p.wait] < 2 {
			delete(c.byID, pr.ID)
			continue
		}
		kept = append(kept, pr)
	}
	c.probes = kept
}

// waits lists the kinds of waits that can be seen, in the order of points.
func (c *catalogue) waits() (all []string) {
	for _, pr := range c.probes {
		if p := c.byID[pr.ID]; p.role != roleEnd {
			all = append(all, p.wait)
		}
	}
	return all
}
