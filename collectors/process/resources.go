package process

import (
	"bytes"
	"strings"
	"time"

	"stallmark/collectors"
	"stallmark/storage/model"
)

// resources reads what is dear or can wait: descriptors and mappings against
// their limits, the allocator and the store's disk. Listing descriptors takes
// time with their number, and reading maps takes the lock of the memory map,
// which writers of the broker need too: so every 10 s at most, and more rarely
// the larger they are. smaps is never read. A recording has these files
// in some of its beats only: there they are looked for in every beat, and the
// last ones hold.
type resources struct {
	table    *table
	disks    Disks
	recorded bool
	procs    perProcess[resourcesOf]
	buf      []byte
}

const (
	resourcesEvery = 10 * time.Second
	largeEvery     = time.Minute // for very many descriptors or mappings
	manyEntries    = 20000
	maxKeptBuffer  = 1 << 20
	versionLooks   = 3 // how often jars are searched for in vain
)

func newResources(c Config, t *table) *resources {
	return &resources{table: t, disks: c.Disks, recorded: c.WatchAllRecorded}
}

// Name implements [collectors.Source].
func (r *resources) Name() string { return "process-limits" }

// Provides implements [collectors.Source].
func (r *resources) Provides() []string {
	return []string{
		"stallmark_process_open_fds", "stallmark_process_max_fds", "stallmark_process_mappings", "stallmark_process_max_mappings",
	}
}

// resourcesOf is what was last read of one process; nil stands for not known.
type resourcesOf struct {
	next    time.Time
	looks   int
	err     error
	values  [4]*float64
	series  [4]*model.Series
	learned learned
}

// The places in values and series.
const (
	openFDs = iota
	maxFDs
	mappings
	maxMappings
)

func newResourcesOf(w *watched) *resourcesOf {
	return &resourcesOf{series: [4]*model.Series{
		openFDs:     w.series("stallmark_process_open_fds"),
		maxFDs:      w.series("stallmark_process_max_fds"),
		mappings:    w.series("stallmark_process_mappings"),
		maxMappings: w.series("stallmark_process_max_mappings"),
	}}
}

// Collect implements [collectors.Source].
func (r *resources) Collect(root collectors.Root, out *collectors.Out) error {
	procs := r.table.snapshot()
	r.procs.sync(procs, newResourcesOf, func(w *watched) { out.Forget(w.factPrefix()) })
	if len(procs) == 0 {
		return errNothingWatched()
	}
	var missing gaps
	for _, w := range procs {
		p := r.procs.states[w]
		if !out.At().Before(p.next) {
			p.err = r.read(root, w, p)
			p.next = out.At().Add(r.pause(p))
		}
		if p.learned.allocator != "" {
			out.Fact(w.factPrefix()+"allocator", p.learned.allocator)
		}
		for i, v := range p.values {
			if v != nil {
				out.Add(p.series[i], *v)
				missing.got = true
			}
		}
		missing.join(p.err)
	}
	return missing.err()
}

// pause is the time until the next look.
func (r *resources) pause(p *resourcesOf) time.Duration {
	if r.recorded {
		return 0
	}
	for _, v := range []*float64{p.values[openFDs], p.values[mappings]} {
		if v != nil && *v > manyEntries {
			return largeEvery
		}
	}
	return resourcesEvery
}

// read takes one look at a process.
func (r *resources) read(root collectors.Root, w *watched, p *resourcesOf) error {
	var missing gaps
	r.descriptors(root, w, p, &missing)
	r.maps(root, w, p, &missing)
	return missing.err()
}

// descriptors counts the open files and reads their limit.
func (r *resources) descriptors(root collectors.Root, w *watched, p *resourcesOf, missing *gaps) {
	names, err := root.ReadDir(w.dir + "fd")
	if err == nil {
		p.values[openFDs] = number(float64(len(names)))
	}
	r.failed(root, w, p.values[openFDs], "fd", err, missing)
	if r.buf, err = root.Read(w.dir+"limits", r.buf); err != nil {
		r.failed(root, w, p.values[maxFDs], "limits", err, missing)
		return
	}
	if limit, ok := parseOpenFilesLimit(r.buf); ok {
		p.values[maxFDs] = number(limit)
	}
	if p.looks++; p.learned.version == "" && w.version == "" && p.looks <= versionLooks {
		p.learned.version = r.jarVersion(root, w, names)
	}
}

// failed notes the error of a read, unless a recording had the file before.
func (r *resources) failed(root collectors.Root, w *watched, before *float64, file string, err error, missing *gaps) {
	if !r.recorded || before == nil {
		missing.readOf(root, w, file, err, mendPtrace)
	}
}

// maps counts the mappings and learns from their files.
func (r *resources) maps(root collectors.Root, w *watched, p *resourcesOf, missing *gaps) {
	var err error
	if r.buf, err = root.Read("proc/sys/vm/max_map_count", r.buf); err == nil {
		if v, ok := parseNumber(r.buf); ok {
			p.values[maxMappings] = number(float64(v))
		}
	}
	if r.buf, err = root.Read(w.dir+"maps", r.buf); err != nil {
		r.failed(root, w, p.values[mappings], "maps", err, missing)
	} else {
		m := parseMaps(r.buf)
		p.values[mappings] = number(float64(m.count))
		p.learned.allocator, p.learned.store = m.allocator, m.store
		p.learned.storeDevice = r.disk(root, mount{number: m.storeNumber})
		p.learned.storeVolume = r.volume(root, m.storeNumber)
	}
	if store := firstOf(p.learned.store, w.store); store != "" && p.learned.storeDevice == "" {
		if m, ok := r.mountUnder(root, w, store); ok {
			p.learned.storeDevice, p.learned.storeVolume = r.disk(root, m), r.volume(root, m.number)
			if p.learned.storeFstype = ""; p.learned.storeDevice == "" {
				p.learned.storeFstype = cleanName(m.fstype) // tmpfs: the store is in memory
			}
		}
	}
	if cap(r.buf) > maxKeptBuffer {
		r.buf = nil
	}
	l := p.learned
	w.learned.Store(&l)
}

// disk resolves a mount to the physical disk below it, or to its own device
// where that is not known.
func (r *resources) disk(root collectors.Root, m mount) string {
	if m.number == "" {
		return ""
	}
	if r.disks != nil {
		if disk := r.disks.Backing(m.number); disk != "" {
			return disk
		}
	}
	if name := r.volume(root, m.number); name != "" {
		return name
	}
	if dev, ok := strings.CutPrefix(m.source, "/dev/"); ok && !strings.Contains(dev, "/") {
		return cleanName(dev) // btrfs has numbers of its own
	}
	return ""
}

// volume names the block device with a number, on which a file system lies: a
// partition, a device mapper volume, a loop device or a whole disk.
func (r *resources) volume(root collectors.Root, number string) string {
	var err error
	if r.buf, err = root.Read("proc/diskstats", r.buf); err != nil || number == "" {
		return ""
	}
	return deviceNamed(r.buf, number)
}

// mountUnder finds the mount below a folder as the process sees it.
func (r *resources) mountUnder(root collectors.Root, w *watched, dir string) (mount, bool) {
	var err error
	if r.buf, err = root.Read(w.dir+"mountinfo", r.buf); err != nil {
		return mount{}, false
	}
	dir, _, _ = strings.Cut(dir, ",") // several: the first one
	return mountOf(string(r.buf), dir)
}

// maxLinksRead bounds how many descriptors are followed in search of jars.
const maxLinksRead = 512

// jarVersion finds the product's version in the names of the jars that the JVM
// holds open: a class path of lib/* does not tell.
func (r *resources) jarVersion(root collectors.Root, w *watched, fds []string) string {
	role, ok := roles[w.role]
	if !ok {
		return ""
	}
	for _, fd := range fds[:min(len(fds), maxLinksRead)] {
		if target, err := root.ReadLink(w.dir + "fd/" + fd); err == nil {
			if v := versionOfJar(role.jars, target); v != "" {
				return v
			}
		}
	}
	return ""
}

// parseOpenFilesLimit returns the soft limit of open files; none if unlimited.
func parseOpenFilesLimit(b []byte) (float64, bool) {
	for len(b) > 0 {
		var line []byte
		line, b = cutLine(b)
		if rest, ok := bytes.CutPrefix(line, []byte("Max open files")); ok {
			soft, _ := nextField(rest)
			v, ok := parseUint(soft)
			return float64(v), ok
		}
	}
	return 0, false
}

func number(v float64) *float64 { return &v }

// firstOf returns the first text that is not empty.
func firstOf(texts ...string) string {
	for _, t := range texts {
		if t != "" {
			return t
		}
	}
	return ""
}
