package hsperf

import (
	"bytes"
	"strconv"
	"time"
)

// Collector is one of the collectors of a JVM.
type Collector struct {
	Name  string        // as the management bean is called: "G1 Young Generation"
	Raw   string        // as HotSpot calls it here: "G1 young collection pauses"
	Kind  string        // "young", "full" or "concurrent" (the pauses of a concurrent cycle)
	Stops bool          // what it counts are pauses
	Count int64         // collections, or pauses
	Time  time.Duration // in them
	// Of the newest one, since the JVM started. Entry after Exit: it goes on.
	Entry, Exit time.Duration
}

// Reading is what the counters of one JVM say, by its version's rules.
type Reading struct {
	Begun    time.Time // when the JVM was created
	Version  string    // "17.0.15+6"
	Release  int       // 8, 11, 17 ...; 0 if not told
	Policy   string    // "GarbageFirst"
	Cause    string    // of the collection under way; empty for none
	Last     string    // cause of the newest collection
	Overflow bool      // some counters did not fit into the file

	HasSafepoints bool
	Safepoints    int64         // begun
	Stopped       time.Duration // at safepoints and on the way to them
	Reaching      time.Duration // on the way to them
	Application   time.Duration // between them

	Collectors                []Collector
	HeapUsed, HeapCommitted   int64         // bytes, as of the newest collection; -1 if not told
	GCProcessor               time.Duration // processor time of all GC threads (JDK 21 and later)
	HasGCProcessor            bool
	frequency                 int64
	stopped, syncing, appTime int64
}

// collectorNames are the names of the beans for HotSpot's own, through the
// versions.
var collectorNames = map[string]struct{ name, kind string }{
	"G1 young collection pauses":         {"G1 Young Generation", "young"},
	"G1 incremental collections":         {"G1 Young Generation", "young"},
	"G1 full collection pauses":          {"G1 Old Generation", "full"},
	"G1 stop-the-world full collections": {"G1 Old Generation", "full"},
	"G1 concurrent cycle pauses":         {"G1 Concurrent GC", "concurrent"},
	"G1 stop-the-world phases":           {"G1 Concurrent GC", "concurrent"},
	"Parallel young collection pauses":   {"PS Scavenge", "young"},
	"PSScavenge":                         {"PS Scavenge", "young"},
	"Parallel full collection pauses":    {"PS MarkSweep", "full"},
	"PSParallelCompact":                  {"PS MarkSweep", "full"},
	"PSMarkSweep":                        {"PS MarkSweep", "full"},
	"Serial young collection pauses":     {"Copy", "young"},
	"Copy":                               {"Copy", "young"},
	"Serial full collection pauses":      {"MarkSweepCompact", "full"},
	"MSC":                                {"MarkSweepCompact", "full"},
	"PCopy":                              {"ParNew", "young"},
	"CMS":                                {"ConcurrentMarkSweep", "concurrent"},
	"CMS full collection pauses":         {"ConcurrentMarkSweep", "concurrent"},
	"Z concurrent cycle pauses":          {"ZGC Pauses", "concurrent"},
	"ZGC minor collection pauses":        {"ZGC Minor Pauses", "concurrent"},
	"ZGC major collection pauses":        {"ZGC Major Pauses", "concurrent"},
}

// counting reports whether the counters of a collector are of pauses: those of
// Shenandoah count every phase, concurrent ones too.
func counting(raw string) bool { return !bytes.HasPrefix([]byte(raw), []byte("Shenandoah")) }

// ReadingOf reads a counter file. [ErrNotReady] says to ask again later.
func ReadingOf(b []byte) (*Reading, error) {
	r := &Reading{HeapUsed: -1, HeapCommitted: -1}
	h, err := Parse(b, r.entry)
	if err != nil {
		return nil, err
	}
	if r.Begun.IsZero() {
		return nil, errDamaged("it has no sun.rt.createVmBeginTime")
	}
	if r.frequency <= 0 {
		return nil, errDamaged("it has no sun.os.hrt.frequency")
	}
	r.Overflow = h.Overflow > 0
	r.finish()
	return r, nil
}

// entry takes one counter.
func (r *Reading) entry(e Entry) {
	if rest, ok := bytes.CutPrefix(e.Name, []byte("sun.gc.collector.")); ok {
		r.collector(rest, e)
		return
	}
	if rest, ok := bytes.CutPrefix(e.Name, []byte("sun.gc.generation.")); ok {
		r.generation(rest, e)
		return
	}
	switch string(e.Name) {
	case "sun.rt.createVmBeginTime":
		r.Begun = time.UnixMilli(e.Number).UTC()
	case "sun.os.hrt.frequency":
		r.frequency = e.Number
	case "sun.rt.safepoints":
		r.Safepoints, r.HasSafepoints = e.Number, true
	case "sun.rt.safepointTime":
		r.stopped = e.Number
	case "sun.rt.safepointSyncTime":
		r.syncing = e.Number
	case "sun.rt.applicationTime":
		r.appTime = e.Number
	case "sun.threads.total_gc_cpu_time":
		r.GCProcessor, r.HasGCProcessor = time.Duration(e.Number), true
	case "sun.gc.cause":
		if string(e.Text) != "No GC" {
			r.Cause = text(e.Text)
		}
	case "sun.gc.lastCause":
		if string(e.Text) != "No GC" {
			r.Last = text(e.Text)
		}
	case "sun.gc.policy.name":
		r.Policy = text(e.Text)
	case "java.property.java.vm.specification.version":
		r.Release = release(string(e.Text))
	case "java.property.java.vm.version":
		r.Version = text(e.Text)
	}
}

// maxText bounds a text that is kept, in bytes.
const maxText = 200

func text(b []byte) string { return string(bytes.ToValidUTF8(b[:min(len(b), maxText)], []byte("?"))) }

// release is the number of a version: 8 for "1.8", 17 for "17".
func release(s string) int {
	if rest, ok := bytes.CutPrefix([]byte(s), []byte("1.")); ok {
		s = string(rest)
	}
	n, err := strconv.Atoi(s)
	if err != nil {
		return 0
	}
	return n
}

// maxCollectors: HotSpot has three at most.
const maxCollectors = 8

// collector takes a counter whose name ends in "0.invocations".
func (r *Reading) collector(name []byte, e Entry) {
	if len(name) < 3 || name[1] != '.' || name[0] < '0' || name[0] >= '0'+maxCollectors {
		return
	}
	i := int(name[0] - '0')
	for len(r.Collectors) <= i {
		r.Collectors = append(r.Collectors, Collector{})
	}
	c := &r.Collectors[i]
	switch string(name[2:]) {
	case "name":
		c.Raw = text(e.Text)
	case "invocations":
		c.Count = e.Number
	case "time":
		c.Time = time.Duration(e.Number)
	case "lastEntryTime":
		c.Entry = time.Duration(e.Number)
	case "lastExitTime":
		c.Exit = time.Duration(e.Number)
	}
}

// generation sums the spaces of the heap: "0.space.1.used", "0.maxCapacity".
func (r *Reading) generation(name []byte, e Entry) {
	parts := bytes.Split(name, []byte("."))
	if old := string(parts[0]); old != "0" && old != "1" {
		return // the permanent generation, up to JDK 7
	}
	switch {
	case len(parts) == 4 && string(parts[1]) == "space" && string(parts[3]) == "used":
		r.HeapUsed = max(0, r.HeapUsed) + e.Number
	case len(parts) == 2 && string(parts[1]) == "capacity":
		r.HeapCommitted = max(0, r.HeapCommitted) + e.Number
	}
}

// finish turns ticks into times and applies the rules of the version.
func (r *Reading) finish() {
	r.Reaching = r.ticks(r.syncing)
	r.Stopped = r.ticks(r.stopped)
	r.Application = r.ticks(r.appTime)
	// Up to JDK 12 the time at safepoints began when the first thread was stopped
	// (safepoint.cpp), since then when all of them stood.
	if r.Release == 0 || r.Release >= 13 {
		r.Stopped += r.Reaching
	}
	kept := r.Collectors[:0]
	for _, c := range r.Collectors {
		if c.Raw == "" {
			continue
		}
		known, ok := collectorNames[c.Raw]
		if !ok {
			known.name, known.kind = c.Raw, "other"
		}
		c.Name, c.Kind, c.Stops = known.name, known.kind, counting(c.Raw)
		c.Time, c.Entry, c.Exit = r.ticks(int64(c.Time)), r.ticks(int64(c.Entry)), r.ticks(int64(c.Exit))
		kept = append(kept, c)
	}
	r.Collectors = kept
}

// ticks turns ticks of the JVM's clock into a duration.
func (r *Reading) ticks(v int64) time.Duration {
	if r.frequency == int64(time.Second) || v < 0 {
		return time.Duration(max(0, v))
	}
	whole, rest := v/r.frequency, v%r.frequency
	return time.Duration(whole)*time.Second + time.Duration(float64(rest)/float64(r.frequency)*float64(time.Second))
}
