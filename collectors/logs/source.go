package logs

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"stallmark/collectors"
	"stallmark/collectors/jvm"
	"stallmark/collectors/logs/match"
	"stallmark/storage/model"
)

// Reporter is a consumer that has something to tell on each beat.
type Reporter interface {
	Consumer
	// Report puts what has been learned since it was last asked. It runs on the
	// beat's goroutine while lines come on another.
	Report(out *collectors.Out)
}

// SourceConfig is what a [Source] needs.
type SourceConfig struct {
	// Patterns are looked for in text and kernel logs; nil for none.
	Patterns *match.Set
	// Known lists the patterns that Patterns was made of: those of a broker's
	// product are reported with 0 while none of its lines has matched.
	Known []model.LogPattern
	// Host is the zone of this host, nil if it is not known, as in a replay.
	Host *time.Location
	// Boot is when the host started, zero if that is not known.
	Boot time.Time
	// ClockTicks is the unit of [File.Start], a second's worth; 0 if not known.
	ClockTicks int
	// Pauses joins what GC logs say with the counters of their JVMs; may be nil.
	Pauses *jvm.PauseBook
	// Now is the clock of a live host; nil in a replay, where the time of the
	// lines is that of the beat.
	Now func() time.Time
}

// Source is the source "logs": on each beat it gives what the consumers of all
// logs have counted and found. It reads no file itself.
type Source struct {
	cfg     SourceConfig
	unknown *shapes
	at      time.Time // of the beat, in a replay

	mu        sync.Mutex
	reporters []Reporter
	follower  *Follower
	discover  *Discovery
	kernel    *Kernel
	zeros     map[string]*model.Series
	progress  map[*File]*progress
	replay    *Replay
	whole     *Whole

	inUse atomic.Pointer[lineKinds]
}

// lineKinds are the patterns in use.
type lineKinds struct {
	set   *match.Set
	known []model.LogPattern
}

// progress is the series of one log.
type progress struct {
	bytes, leapt *model.Series
}

// NewSource makes the source. Without a follower or replay it has nothing.
func NewSource(cfg SourceConfig) *Source {
	s := &Source{cfg: cfg, unknown: newShapes(), zeros: map[string]*model.Series{}, progress: map[*File]*progress{}}
	s.Use(cfg.Patterns, cfg.Known)
	return s
}

// Use replaces the patterns for the lines that come from now on, while logs are
// followed. No set at all leaves the one in use.
func (s *Source) Use(set *match.Set, known []model.LogPattern) {
	if set != nil || s.inUse.Load() == nil {
		s.inUse.Store(&lineKinds{set, known})
	}
}

// Follow takes the follower whose lines come to [Source.Open], and what finds
// its targets, which may be nil.
func (s *Source) Follow(f *Follower, d *Discovery) { s.follower, s.discover = f, d }

// FollowKernel takes the reader of the kernel's log whose lines come to
// [Source.Open].
func (s *Source) FollowKernel(k *Kernel) { s.kernel = k }

// Open makes the consumer of a log; it is for [Config].
func (s *Source) Open(file *File) Consumer {
	var r Reporter
	switch {
	case file.Kind == KindGC:
		r = newGCLog(s, file)
	case s.cfg.Patterns == nil:
		return discard{}
	default:
		r = newMatcher(s, file)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.reporters = append(s.reporters, r)
	return r
}

// Close ends the series of a log that is not followed any more; it is for
// [Config].
func (s *Source) Close(c Consumer) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.reporters = slices.DeleteFunc(s.reporters, func(r Reporter) bool { return r == c })
	if g, ok := c.(*gcLog); ok {
		s.cfg.Pauses.Leave(g.pid())
	}
}

// discard takes lines that nobody wants.
type discard struct{}

// Line implements Consumer.
func (discard) Line(*Line) {}

// Name implements [collectors.Source].
func (*Source) Name() string { return "logs" }

// Provides implements [collectors.Source].
func (*Source) Provides() []string {
	return []string{"stallmark_log_", "stallmark_gc_", "stallmark_safepoint_"}
}

// Collect implements [collectors.Source].
func (s *Source) Collect(root collectors.Root, out *collectors.Out) error {
	s.at = out.At()
	s.takeUp(root, out)
	s.mu.Lock()
	reporters := slices.Clone(s.reporters)
	s.mu.Unlock()
	for _, r := range reporters {
		if s.whole == nil || s.whole.covers(r, out.At()) {
			r.Report(out)
		}
	}
	s.unknown.report(out)
	return s.state(out)
}

// now is the time at which lines are read.
func (s *Source) now() time.Time {
	if s.cfg.Now != nil {
		return s.cfg.Now()
	}
	return s.at
}

// takeUp finds new targets, or feeds what a recording has for this beat.
func (s *Source) takeUp(root collectors.Root, out *collectors.Out) {
	if s.whole != nil {
		s.whole.until(out.At())
	}
	if s.replay != nil {
		s.replay.beat(root)
	}
	if s.follower != nil && s.discover != nil {
		s.discover.beat(s.follower, out.At())
	}
}

// state gives the series of every log and what of them cannot be read.
func (s *Source) state(out *collectors.Out) error {
	if s.whole != nil {
		return s.whole.state(s, out)
	}
	if s.replay != nil {
		return s.replay.state(s, out)
	}
	if s.follower == nil {
		return collectors.Absent("no logs are followed", "")
	}
	states, hanging := s.follower.Status()
	if s.kernel != nil {
		states = append(states, s.kernel.Status())
	}
	s.keepProgress(states)
	var missing []string
	followed := 0
	for _, st := range best(states) {
		c := coverageOf(st)
		out.Cover(c)
		if st.File != nil && st.Found {
			followed++
			s.emit(out, st)
			continue
		}
		missing = append(missing, c.Source+": "+c.Detail)
	}
	s.emitZeros(out, states)
	if s.discover != nil {
		for _, c := range s.discover.lacking() {
			out.Cover(c)
		}
	}
	switch {
	case len(hanging) > 0:
		return &collectors.Gap{
			State: model.SourceFailed, Detail: "no answer while reading " + strings.Join(hanging, ", "),
			Mend: "see which disk or file server under these folders does not answer",
		}
	case followed == 0 && len(missing) == 0:
		return collectors.Absent("no broker is known whose logs could be read", "start the broker, or name log files with --log")
	case followed == 0:
		return collectors.Absent(short(missing), "name the log files with --log")
	case len(missing) > 0:
		return collectors.Partial(short(missing), "see the coverage of each log")
	}
	return nil
}

// short names a few of many.
func short(list []string) string {
	const most = 3
	if len(list) > most {
		return fmt.Sprintf("%s and %d more", strings.Join(list[:most], "; "), len(list)-most)
	}
	return strings.Join(list, "; ")
}

// keepProgress drops the series of logs that are not followed any more.
func (s *Source) keepProgress(states []Status) {
	there := make(map[*File]bool, len(states))
	for _, st := range states {
		there[st.File] = true
	}
	maps.DeleteFunc(s.progress, func(f *File, _ *progress) bool { return !there[f] })
}

// emit gives the series of one log.
func (s *Source) emit(out *collectors.Out, st Status) {
	p := s.progress[st.File]
	if p == nil {
		p = &progress{
			bytes: seriesOf("stallmark_log_read_bytes_total", st.File),
			leapt: seriesOf("stallmark_log_skipped_bytes_total", st.File),
		}
		s.progress[st.File] = p
	}
	out.Add(p.bytes, float64(st.Bytes))
	out.Add(p.leapt, float64(st.Leapt))
}

// seriesOf makes a series of a log.
func seriesOf(name string, f *File, pairs ...string) *model.Series {
	return model.NewSeries(name, append([]string{"source", f.Path, "process", f.Process, "pid", pidText(f)}, pairs...)...)
}

// maxSilent bounds the series of what has not been seen.
const maxSilent = 400

// emitZeros says of the patterns of each broker whose log is read that they are
// looked for: absence of a match is then known, and a first match is a rise.
func (s *Source) emitZeros(out *collectors.Out, states []Status) {
	done := map[string]bool{}
	n := 0
	for _, st := range states {
		if !st.Found || st.File == nil {
			continue
		}
		product := searchedFor(st.File)
		if product == "" {
			continue
		}
		if done[st.File.Process+" "+product] {
			continue
		}
		done[st.File.Process+" "+product] = true
		known := s.inUse.Load().known
		for i := range known {
			p := &known[i]
			if p.Product != product || p.Proof != model.ProofDirect && p.Proof != model.ProofHint {
				continue
			}
			if n++; n > maxSilent {
				return
			}
			key := st.File.Process + "\x00" + pidText(st.File) + "\x00" + p.ID
			if s.zeros[key] == nil {
				s.zeros[key] = model.NewSeries("stallmark_log_matches_total", "pattern", p.ID, "process", st.File.Process, "pid", pidText(st.File))
			}
			out.Add(s.zeros[key], 0)
		}
	}
}

// searchedFor is the product whose patterns a log is searched for, empty if nobody
// knows whose log it is.
func searchedFor(f *File) string {
	switch f.Kind {
	case KindKernel:
		return "kernel"
	case KindText:
		return productOf(f.Role)
	}
	return ""
}

// productOf is the product whose patterns a role's logs are searched for first.
func productOf(role string) string {
	product, _, _ := strings.Cut(role, "-")
	return product
}
