package pasted

import (
	"slices"
	"strings"
	"time"

	"stallmark/collectors"
	"stallmark/storage/model"
)

// Source gives what the tables of a timeline say, and its events.
type Source struct {
	line   *Timeline
	before time.Time
	event  int
	texts  *model.Series
	waits  map[string]*model.Series
	beside bool
}

// NewSource makes the source of a timeline, for one replay of its beats.
func NewSource(t *Timeline) *Source {
	slices.SortStableFunc(t.events, func(a, b model.Event) int { return a.To.Compare(b.To) })
	return &Source{line: t, texts: model.NewSeries("stallmark_texts"), waits: map[string]*model.Series{}}
}

// NewBeside makes a source for a timeline beside a recording: of threads that were
// seen waiting. The recording has what the tables tell, as the kernel said it.
func NewBeside(t *Timeline) *Source {
	s := NewSource(t)
	s.beside = true
	return s
}

// Name implements [collectors.Source].
func (s *Source) Name() string { return "pasted" }

// Provides implements [collectors.Source].
func (s *Source) Provides() []string { return append(slices.Clone(s.line.Given), s.texts.Name) }

// Collect implements [collectors.Source]. However many threads a listing shows in
// one wait, it is one sighting: it tells of a moment, and rules count sightings
// over time.
func (s *Source) Collect(_ collectors.Root, out *collectors.Out) error {
	at := out.At()
	if !s.beside {
		out.Add(s.texts, 1)
		for _, tr := range s.line.tracks {
			tr.put(out, s.before, at)
		}
	}
	s.before = at
	blocked := map[string]bool{}
	for ; s.event < len(s.line.events) && !s.line.events[s.event].To.After(at); s.event++ {
		e := s.line.events[s.event]
		out.Event(e)
		if e.Kind == model.EventBlocked {
			blocked[e.Attrs["wait"]] = true
		}
	}
	if s.beside {
		return nil // the recording counts its own
	}
	for wait := range blocked {
		if s.waits[wait] == nil {
			s.waits[wait] = model.NewSeries("stallmark_host_blocked_tasks", "wait", wait)
		}
		out.Add(s.waits[wait], 1)
	}
	return nil
}

// family is a group of series that one thing on a host gives.
type family struct {
	name     string
	prefixes []string
	where    []string // what to read
}

// families are what the rules live on, and where it is to be had.
var families = []family{
	{"counters of memory and paging", []string{
		"node_vmstat_", "stallmark_allocstall_total", "stallmark_pgscan_", "stallmark_pgsteal_direct_total", "stallmark_dirty_", "stallmark_refault_file_total",
	}, []string{"/proc/vmstat"}},
	{"memory", []string{"node_memory_", "stallmark_host_memory_bytes"}, []string{"/proc/meminfo"}},
	{"disks", []string{"node_disk_", "stallmark_disk_info"}, []string{"/proc/diskstats"}},
	{"pressure", []string{"node_pressure_"}, []string{"/proc/pressure/cpu", "/proc/pressure/io", "/proc/pressure/memory"}},
	{"CPU", []string{"node_cpu_", "node_procs_", "node_intr_total", "node_context_switches_total", "stallmark_cpus_online", "node_boot_time_seconds"}, []string{"/proc/stat"}},
	{"interrupts", []string{"node_interrupts_total", "node_softirqs_"}, []string{"/proc/interrupts", "/proc/softirqs"}},
	{"memory zones", []string{"node_zoneinfo_", "node_buddyinfo_"}, []string{"/proc/zoneinfo"}},
	{"processes, their threads and cgroups", []string{"stallmark_process_", "stallmark_blocked_threads", "container_", "stallmark_host_blocked_tasks", "stallmark_wait"}, nil},
	{"file systems", []string{"node_filesystem_"}, nil},
	{"the recorder's own lateness", []string{"stallmark_sampler_"}, nil},
}

// Missing are sources that say what the texts do not have and how to get it.
func Missing(t *Timeline) []collectors.Source {
	var list []collectors.Source
	for _, f := range families {
		given := slices.ContainsFunc(t.Given, func(name string) bool {
			return slices.ContainsFunc(f.prefixes, func(p string) bool { return strings.HasPrefix(name, p) })
		})
		list = append(list, missing{f, given || t.reads(f.where)})
	}
	return list
}

// reads reports whether one of the files is among the ticks.
func (t *Timeline) reads(where []string) bool {
	return t.times(where) > 0
}

// onHost is what mends all that texts lack; what to run is told apart.
const onHost = "record it on the host"

// missing says that a family of series is not in the texts, or only some of it.
type missing struct {
	family
	some bool
}

// Name implements [collectors.Source].
func (m missing) Name() string { return m.name }

// Provides implements [collectors.Source].
func (m missing) Provides() []string { return m.prefixes }

// Collect implements [collectors.Source].
func (m missing) Collect(collectors.Root, *collectors.Out) error {
	if m.some {
		return collectors.Partial("the texts tell only a part of it", onHost)
	}
	return collectors.Absent("not in these texts", onHost)
}

// Lacking are the files of the kernel that give the needed series and were not read
// at several times. A need is a name, or several of which one will do, as "a|b".
func (t *Timeline) Lacking(needs []string) []string {
	var list []string
	for _, f := range families {
		wanted := slices.ContainsFunc(needs, func(need string) bool {
			return slices.ContainsFunc(strings.Split(need, "|"), func(name string) bool {
				return slices.ContainsFunc(f.prefixes, func(p string) bool { return strings.HasPrefix(name, p) })
			})
		})
		if wanted && t.times(f.where) < 2 {
			list = append(list, f.where...)
		}
	}
	return list
}

// times is at how many times one of the files was read.
func (t *Timeline) times(where []string) int {
	n := 0
	for _, k := range t.ticks {
		if slices.ContainsFunc(where, func(w string) bool { return k.files[strings.TrimPrefix(w, "/")] != nil }) {
			n++
		}
	}
	return n
}
