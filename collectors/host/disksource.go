package host

import (
	"bytes"
	"slices"
	"strconv"
	"strings"

	"stallmark/collectors"
	"stallmark/storage/model"
)

// disksSource keeps [Disks] up to date and states what is known about each
// device: its place, its mounts, and the settings of its queue. A device has a dozen
// files, so it reads every minute, within 10 s when a mount has changed, and within
// a second when diskstats has seen a device come or go.
type disksSource struct {
	disks  *Disks
	clock  cadence
	mounts cadence
	urgent cadence
	seen   []byte // mountinfo
	buf    []byte
	series map[string]*model.Series // by name, kind, backing and mount
	info   []*model.Series
	queues []model.Sample
	queue  map[string]*model.Series // by device and setting
	stated map[string]map[string]bool
	err    error
}

func newDisksSource(d *Disks) *disksSource {
	return &disksSource{
		disks: d, clock: cadence{every: devicesEvery}, mounts: cadence{every: topologyEvery}, urgent: cadence{every: perSecond},
		series: map[string]*model.Series{}, queue: map[string]*model.Series{}, stated: map[string]map[string]bool{},
	}
}

// Name implements [collectors.Source].
func (*disksSource) Name() string { return "disks" }

// Provides implements [collectors.Source].
func (*disksSource) Provides() []string { return []string{"stallmark_disk_info"} }

// Collect implements [collectors.Source].
func (s *disksSource) Collect(root collectors.Root, out *collectors.Out) error {
	remounted := s.mounts.due(out.At()) && s.remounted(root)
	if s.clock.due(out.At()) || remounted || s.disks.changed.Load() && s.urgent.due(out.At()) {
		s.disks.changed.Store(false)
		s.err = s.disks.Refresh(root)
		s.state(root, out, s.disks.now.Load())
	}
	for _, info := range s.info {
		out.Add(info, 1)
	}
	for _, q := range s.queues {
		out.Add(q.Series, q.Value)
	}
	return s.err
}

// remounted reports whether what is mounted has changed since it was last asked.
func (s *disksSource) remounted(root collectors.Root) bool {
	var err error
	if s.buf, err = root.Read(mountinfo, s.buf); err != nil || bytes.Equal(s.buf, s.seen) {
		return false // what cannot be read is said by the full reading
	}
	s.seen, s.buf = s.buf, s.seen
	return true
}

// state makes the series and facts of a new reading.
func (s *disksSource) state(root collectors.Root, out *collectors.Out, t *topology) {
	s.info, s.queues = s.info[:0], s.queues[:0]
	series, queue := map[string]*model.Series{}, map[string]*model.Series{}
	shown := map[string]bool{}
	for _, d := range t.devices {
		if !d.isShown() {
			continue
		}
		name := cleanText([]byte(d.name))
		shown[name] = true
		labels := []string{
			"device", name, "kind", d.kind, "mount", cleanText([]byte(d.firstMount().Point)),
			"backing", cleanText([]byte(strings.Join(t.physical(d.name, 0), ","))),
		}
		key := strings.Join(labels, "\x00")
		series[key] = keep(s.series, key, "stallmark_disk_info", labels...)
		s.info = append(s.info, series[key])
		s.stateFacts(root, out, d, name, queue)
	}
	for name := range s.stated {
		if !shown[name] {
			out.Forget("block." + name + ".")
			delete(s.stated, name)
		}
	}
	s.series, s.queue = series, queue
}

// keep gives the series of the reading before, or makes it.
func keep(before map[string]*model.Series, key, metric string, labels ...string) *model.Series {
	if s := before[key]; s != nil {
		return s
	}
	return model.NewSeries(metric, labels...)
}

// stateFacts states the facts of one device, and its numeric settings.
func (s *disksSource) stateFacts(root collectors.Root, out *collectors.Out, d *device, name string, queue map[string]*model.Series) {
	stated := s.stated[name]
	if stated == nil {
		stated = map[string]bool{}
		s.stated[name] = stated
	}
	for _, f := range d.facts(root) {
		if f.value == "" && !stated[f.key] { // never had it; one that lost it says so
			continue
		}
		stated[f.key] = true
		out.Fact("block."+name+"."+f.key, f.value)
		if v, isNumber := parseUint([]byte(f.value)); isNumber && f.setting {
			key := name + "\x00" + f.key
			queue[key] = keep(s.queue, key, "stallmark_setting", "name", "block."+f.key, "device", name)
			s.queues = append(s.queues, model.Sample{Series: queue[key], Value: float64(v)})
		}
	}
}

// isShown leaves out devices that nobody uses: loop devices without a file,
// RAM disks without I/O.
func (d *device) isShown() bool {
	if d.hasSize && d.kind != "ram" {
		return d.size > 0
	}
	return d.used
}

// mainMounts are the mounts that stand for a device: those of the whole file
// system, else those of parts of it, else overlays that write to it. Hosts of
// containers have hundreds of the latter two, coming and going.
func (d *device) mainMounts() []Mount {
	var best []Mount
	bestRank := 0
	for _, m := range d.mounts {
		rank := 2
		if m.FSType == "overlay" {
			rank = 1
		} else if m.Root == "/" {
			rank = 3
		}
		if rank > bestRank {
			best, bestRank = nil, rank
		}
		if rank == bestRank && len(best) < maxMountsShown {
			best = append(best, m)
		}
	}
	return best
}

// firstMount is empty for a device that is not mounted.
func (d *device) firstMount() Mount {
	if main := d.mainMounts(); len(main) > 0 {
		return main[0]
	}
	return Mount{}
}

// deviceFact is one fact of a device, below block.<device>.
type deviceFact struct {
	key, value string
	setting    bool // numbers are repeated as a series
}

// maxMountsShown bounds the fact block.<device>.mounts.
const maxMountsShown = 20

// facts reads what there is to say about a device. Values are empty where
// there is nothing.
func (d *device) facts(root collectors.Root) []deviceFact {
	all := d.queueFacts(root)
	if d.hasSize {
		all = append(all, deviceFact{key: "size_bytes", value: strconv.FormatUint(d.size, 10)})
	}
	var points []string
	for _, m := range d.mainMounts() {
		if point := cleanText([]byte(m.Point)); !slices.Contains(points, point) {
			points = append(points, point)
		}
	}
	mount := d.firstMount()
	return append(all,
		deviceFact{key: "mounts", value: strings.Join(points, ",")},
		deviceFact{key: "fstype", value: cleanText([]byte(mount.FSType))},
		deviceFact{key: "options", value: cleanText([]byte(mount.Options))},
	)
}

// queueFacts reads the settings of a device's queue
// (Documentation/block/queue-sysfs.rst). Partitions have none.
func (d *device) queueFacts(root collectors.Root) []deviceFact {
	if d.sys == "" || d.kind == "partition" {
		return nil
	}
	read := func(names ...string) string {
		for _, n := range names {
			if text, ok := readText(root, n); ok {
				return text
			}
		}
		return ""
	}
	q := d.sys + "/queue/"
	return []deviceFact{
		{"scheduler", chosenWord(read(q + "scheduler")), false},
		{"read_ahead_kb", read(q + "read_ahead_kb"), true},
		{"nr_requests", read(q + "nr_requests"), true},
		{"rotational", read(q + "rotational"), true},
		{"wbt_lat_usec", read(q + "wbt_lat_usec"), true},
		{"stable_writes", read(q+"stable_writes", d.sys+"/bdi/stable_pages_required",
			"sys/class/bdi/"+d.number+"/stable_pages_required"), true},
		{"model", read(d.sys + "/device/model"), false},
	}
}

// chosenWord gives the word in brackets of a list such as "none [bfq]", or the
// whole text if there are none.
func chosenWord(text string) string {
	_, after, open := strings.Cut(text, "[")
	word, _, closed := strings.Cut(after, "]")
	if open && closed {
		return word
	}
	return text
}
