package hsperf

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"strconv"
	"strings"
	"time"

	"stallmark/collectors"
	"stallmark/collectors/jvm"
	"stallmark/collectors/process"
	"stallmark/storage/model"
)

// Config is what the source needs.
type Config struct {
	// Processes are the watched processes of now; those that are no JVM are passed
	// over.
	Processes  func() []process.Process
	ClockTicks int // a second
	// Least is how long a pause must last to be an event [10 ms].
	Least time.Duration
	// Pauses joins them with those of the JVM's GC log, which has the event where
	// both do; may be nil.
	Pauses *jvm.PauseBook
}

// Source is the source "hsperf": the counters of the watched JVMs. On a live host
// it reads a [Root].
type Source struct {
	cfg  Config
	jvms map[process.ID]*vm
	buf  []byte
	boot time.Time // of the host, zero until it is known
}

// New makes the source.
func New(cfg Config) *Source {
	if cfg.Least <= 0 {
		cfg.Least = 10 * time.Millisecond
	}
	return &Source{cfg: cfg, jvms: map[process.ID]*vm{}}
}

// Name implements [collectors.Source].
func (s *Source) Name() string { return "hsperf" }

// Provides implements [collectors.Source].
func (s *Source) Provides() []string { return []string{"jvm_gc_collection_", "stallmark_jvm_"} }

// Collect implements [collectors.Source].
func (s *Source) Collect(root collectors.Root, out *collectors.Out) error {
	live := map[process.ID]bool{}
	var problems []string
	read, asked := 0, 0
	var first error
	for _, p := range s.cfg.Processes() {
		if !isJVM(p.Role) {
			continue
		}
		asked++
		live[p.ID] = true
		err := s.one(root, out, p)
		switch {
		case err == nil:
			read++
		default:
			if first == nil {
				first = err
			}
			problems = append(problems, fmt.Sprintf("%s (pid %d): %v", p.Name, p.Pid, plain(err)))
		}
	}
	for id := range s.jvms {
		if !live[id] {
			delete(s.jvms, id)
		}
	}
	return verdict(asked, read, first, problems)
}

// isJVM tells by the role whether a process may be one.
func isJVM(role string) bool { return role != "" && role != "other" }

// mendMissing says how to get what is missing.
const mendMissing = "run as root or as the JVM's user; the JVM must run without -XX:+PerfDisableSharedMem and -XX:-UsePerfData"

// verdict is the coverage of one beat.
func verdict(asked, read int, first error, problems []string) error {
	switch {
	case asked == 0:
		return collectors.Absent("no watched JVM", "start the broker, or name a process to watch")
	case len(problems) == 0:
		return nil
	case read > 0:
		return collectors.Partial(strings.Join(problems, "; "), mendMissing)
	case errors.Is(first, fs.ErrPermission), errors.Is(first, process.ErrRefused):
		return collectors.Denied(strings.Join(problems, "; "), mendMissing)
	case errors.Is(first, fs.ErrNotExist), errors.Is(first, errStale):
		return collectors.Absent(strings.Join(problems, "; "), mendMissing)
	}
	return errors.New(strings.Join(problems, "; "))
}

// plain says in words what a missing file means.
func plain(err error) error {
	if errors.Is(err, fs.ErrNotExist) {
		return errors.New("it has no counter file in its /tmp")
	}
	return err
}

// errStale says that the file is an earlier process's.
var errStale = errors.New("its counter file is left over from a process before it")

// staleSlack is how much earlier than its process a JVM can seem to have begun:
// the time of day may have been set since.
const staleSlack = time.Minute

// readEvery is how often a JVM's counters are read: finding and opening the file
// is dear, and what a fast sampler would gain stands in the GC log.
const readEvery = time.Second

// one gives what one JVM says. Between two looks that is what it said before.
func (s *Source) one(root collectors.Root, out *collectors.Out, p process.Process) error {
	at := out.At()
	j := s.jvms[p.ID]
	if j == nil || !at.Before(j.next) || j.next.Sub(at) > readEvery {
		r, err := s.look(root, p)
		if errors.Is(err, ErrNotReady) {
			return nil // the next beat will tell
		}
		if err != nil {
			return err
		}
		if j == nil {
			j = newVM(p)
			s.jvms[p.ID] = j
			j.place = place(root, p.Pid)
		}
		j.said, j.next = r, at.Truncate(readEvery).Add(readEvery)
	}
	j.put(out, j.said, s.cfg.Least)
	j.tell(out, s.cfg.Pauses)
	return nil
}

// look reads the counters of one JVM.
func (s *Source) look(root collectors.Root, p process.Process) (*Reading, error) {
	b, err := root.Read(counterName(p.Pid), s.buf)
	if err != nil {
		return nil, err
	}
	s.buf = b
	r, err := ReadingOf(b)
	if err != nil {
		return nil, err
	}
	if begun := s.began(root, p.ID); !begun.IsZero() && r.Begun.Before(begun.Add(-staleSlack)) {
		return nil, errStale
	}
	return r, nil
}

// began is when the process began, zero if the host does not tell.
func (s *Source) began(root collectors.Root, id process.ID) time.Time {
	if s.boot.IsZero() {
		s.boot = bootTime(root)
	}
	if s.boot.IsZero() || s.cfg.ClockTicks <= 0 {
		return time.Time{}
	}
	ticks := uint64(s.cfg.ClockTicks)
	return s.boot.Add(time.Duration(id.Start/ticks)*time.Second + time.Duration(id.Start%ticks)*time.Second/time.Duration(ticks))
}

// bootTime is btime of /proc/stat.
func bootTime(root collectors.Root) time.Time {
	b, err := root.Read("proc/stat", nil)
	if err != nil {
		return time.Time{}
	}
	for line := range bytes.Lines(b) {
		if rest, ok := bytes.CutPrefix(line, []byte("btime ")); ok {
			if v, err := strconv.ParseInt(string(bytes.TrimSpace(rest)), 10, 64); err == nil {
				return time.Unix(v, 0)
			}
		}
	}
	return time.Time{}
}

// place is the file system that the counters are on.
func place(root collectors.Root, pid int) string {
	b, err := root.Read(placeName(pid), nil)
	if err != nil {
		return ""
	}
	fileSystem, _, _ := strings.Cut(string(b), " ")
	return fileSystem
}

// vm is one JVM and its series.
type vm struct {
	process, pid string
	place        string
	collectors   map[string]*collectorSeries
	running      *model.Series
	safepoints   *model.Series
	stopped      *model.Series
	reaching     *model.Series
	application  *model.Series
	used         *model.Series
	committed    *model.Series
	cpu          *model.Series
	held         []heldPause

	said *Reading  // at the last look
	next time.Time // when the next look is due
}

type collectorSeries struct {
	sum, count, last *model.Series
	exit             time.Duration
	seen             bool
}

func newVM(p process.Process) *vm {
	j := &vm{process: p.Name, pid: strconv.Itoa(p.Pid), collectors: map[string]*collectorSeries{}}
	j.running = j.series("stallmark_jvm_gc_running")
	j.safepoints = j.series("stallmark_jvm_safepoints_total")
	j.stopped = j.series("stallmark_jvm_safepoint_seconds_total")
	j.reaching = j.series("stallmark_jvm_safepoint_reaching_seconds_total")
	j.application = j.series("stallmark_jvm_application_seconds_total")
	j.used = j.series("stallmark_jvm_heap_used_bytes")
	j.committed = j.series("stallmark_jvm_heap_committed_bytes")
	j.cpu = j.series("stallmark_jvm_gc_cpu_seconds_total")
	return j
}

func (j *vm) series(name string, pairs ...string) *model.Series {
	return model.NewSeries(name, append([]string{"process", j.process, "pid", j.pid}, pairs...)...)
}

// put gives what a reading says.
func (j *vm) put(out *collectors.Out, r *Reading, least time.Duration) {
	running := r.Cause != ""
	for i := range r.Collectors {
		c := &r.Collectors[i]
		if !c.Stops {
			continue
		}
		running = running || c.Entry > c.Exit
		j.collector(out, r, c, least)
	}
	value := 0.0
	if running {
		value = 1
	}
	out.Add(j.running, value)
	if r.HasSafepoints {
		out.Add(j.safepoints, float64(r.Safepoints))
		out.Add(j.stopped, r.Stopped.Seconds())
		out.Add(j.reaching, r.Reaching.Seconds())
		out.Add(j.application, r.Application.Seconds())
	}
	if r.HeapUsed >= 0 {
		out.Add(j.used, float64(r.HeapUsed))
	}
	if r.HeapCommitted >= 0 {
		out.Add(j.committed, float64(r.HeapCommitted))
	}
	if r.HasGCProcessor {
		out.Add(j.cpu, r.GCProcessor.Seconds())
	}
	j.facts(out, r)
}

func (j *vm) facts(out *collectors.Out, r *Reading) {
	for _, f := range [...]struct{ key, value string }{{"jvm_version", r.Version}, {"jvm_policy", r.Policy}, {"hsperf_fstype", j.place}} {
		if f.value != "" {
			out.Fact("process."+j.pid+"."+f.key, f.value)
		}
	}
}

// collector gives one collector's counters, and the newest pause as an event if
// it is new and long.
func (j *vm) collector(out *collectors.Out, r *Reading, c *Collector, least time.Duration) {
	s := j.collectors[c.Name]
	if s == nil {
		s = &collectorSeries{
			sum:   j.series("jvm_gc_collection_seconds_sum", "gc", c.Name),
			count: j.series("jvm_gc_collection_seconds_count", "gc", c.Name),
			last:  j.series("stallmark_jvm_gc_last_pause_seconds", "gc", c.Name),
		}
		j.collectors[c.Name] = s
	}
	out.Add(s.sum, c.Time.Seconds())
	out.Add(s.count, float64(c.Count))
	if c.Exit <= c.Entry || c.Count == 0 {
		return // none yet, or one is under way
	}
	length := c.Exit - c.Entry
	out.Add(s.last, length.Seconds())
	if s.seen && c.Exit != s.exit && length >= least {
		j.held = append(j.held, heldPause{pauseEvent(j, r, c, length), out.At()})
	}
	s.exit, s.seen = c.Exit, true
}
