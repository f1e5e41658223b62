package process

import (
	"fmt"
	"time"

	"stallmark/collectors"
	"stallmark/storage/model"
)

// threads reads every thread of the watched processes: its state, how long it
// waited for a CPU, and, if it is blocked, where in the kernel.
//
// A thread that sleeps costs one read of schedstat: while the count of its time
// slices stands still it cannot have changed its place. One that goes on
// sleeping is looked at every fourth beat only, every second one while memory or
// I/O are short.
type threads struct {
	table    *table
	thorough bool // read all threads in every beat
	recorded bool // read wchan and stack of all, whatever their state
	alert    func() bool
	pressure pressure
	look     looker
	procs    perProcess[threadsOf]
	beat     int64
	visits   int // threads read in this beat
	buf      []byte
}

// Bounds of one beat. A visit is one or two reads, 5 to 12 us.
const (
	idleBeats   = 4   // how many beats later a sleeping thread is read again
	tenseBeats  = 2   // the same under pressure
	maxRunning  = 64  // stacks of running threads while memory is short
	maxBlocked  = 256 // stacks of blocked threads
	maxBlockEvt = 128 // events
	maxVisits   = 2000
)

func newThreads(c Config, t *table) *threads {
	return &threads{table: t, thorough: c.Thorough || c.WatchAllRecorded, recorded: c.WatchAllRecorded, alert: c.alert()}
}

// Name implements [collectors.Source].
func (t *threads) Name() string { return "threads" }

// Provides implements [collectors.Source].
func (t *threads) Provides() []string {
	return []string{"stallmark_process_threads", "stallmark_process_run_delay_seconds_total", "stallmark_blocked_threads"}
}

// Collect implements [collectors.Source].
func (t *threads) Collect(root collectors.Root, out *collectors.Out) error {
	procs := t.table.snapshot()
	t.procs.sync(procs, newThreadsOf, nil)
	if len(procs) == 0 {
		return errNothingWatched()
	}
	t.beat++
	t.visits = 0
	t.pressure.read(root, out.At())
	t.look.begin(out.At())
	var missing gaps
	for _, w := range procs {
		t.process(root, out, w, t.procs.states[w], &missing)
	}
	t.look.report(&missing)
	if t.visits > maxVisits && !t.recorded {
		missing.add(model.SourcePartial, fmt.Sprintf("more than %d threads to read in a beat: they take turns", maxVisits), "")
	}
	return missing.err()
}

// process reads the threads of one process and puts its series.
func (t *threads) process(root collectors.Root, out *collectors.Out, w *watched, p *threadsOf, missing *gaps) {
	if err := t.list(root, out.At(), w, p); err != nil {
		missing.readOf(root, w, "task", err, mendPtrace)
		return
	}
	names := p.names
	p.begin()
	from := t.begin(len(names))
	for i := range names {
		th := p.thread(w, names[(from+i)%len(names)])
		th.seen = t.beat
		if t.due(th) && t.afford() {
			t.visit(root, p, th, missing)
		}
		if wait := t.where(root, w, p, th); wait != "" {
			p.count(wait)
			t.look.event(out, w, th, wait)
		}
	}
	p.prune(t.beat, t.keep())
	p.put(out)
	if len(p.byName) > 0 {
		missing.got = true
		p.reportSight(missing)
	}
}

// list lists the threads of a process. Where beats are shorter than a second and
// nothing presses, the last list holds for a second: a thread that has ended
// since cannot be read, one that began is seen a little later.
func (t *threads) list(root collectors.Root, at time.Time, w *watched, p *threadsOf) error {
	if age := at.Sub(p.listed); !t.thorough && !t.tense() && age >= 0 && age < roundEvery {
		return nil
	}
	names, err := root.ReadDir(w.dir + "task")
	if err != nil {
		return err
	}
	p.names, p.listed = names, at
	return nil
}

// begin is where among its n threads a process is begun with, so that all have
// their turn when there are more than can be read in a beat.
func (t *threads) begin(n int) int {
	if n <= maxVisits {
		return 0
	}
	return int(t.beat*maxVisits) % n
}

// afford counts the visits of a beat.
func (t *threads) afford() bool {
	t.visits++
	return t.visits <= maxVisits || t.recorded
}

// keep is for how many beats a thread that is not listed is remembered: in a
// recording a thread that was not read is not listed, though it lives.
func (t *threads) keep() int64 {
	if t.recorded {
		return idleBeats
	}
	return 0
}

// due reports whether a thread is to be read in this beat.
func (t *threads) due(th *thread) bool {
	return t.thorough || t.beat >= th.next || t.tense() && t.beat >= th.next-idleBeats+tenseBeats
}

func (t *threads) tense() bool { return t.pressure.memory || t.pressure.heavy || t.alert() }

// visit reads schedstat and, if the thread may have moved, its state.
func (t *threads) visit(root collectors.Root, p *threadsOf, th *thread, missing *gaps) {
	var err error
	th.moved = true
	if t.buf, err = root.Read(th.schedstatName, t.buf); err == nil {
		if s, ok := parseSchedstat(t.buf); ok {
			th.moved = s.slices == 0 || s.slices != th.sched.slices
			p.delayed(th, s)
		}
	}
	if !th.moved && th.state == 'S' && !t.recorded {
		th.next = t.beat + idleBeats
		return
	}
	th.next = 0 // in every beat
	if t.buf, err = root.Read(th.statName, t.buf); err != nil {
		missing.read("/proc/PID/task/TID/stat", err, mendPtrace)
		th.state = 0
		return
	}
	if st, ok := parseStat(t.buf); ok {
		th.state = st.state
		if th.comm == "" || th.moved {
			th.rename(st.comm)
		}
	}
}

// where says in which group the thread waits, empty if in none.
func (t *threads) where(root collectors.Root, w *watched, p *threadsOf, th *thread) string {
	switch {
	case t.recorded:
		th.at = t.look.recorded(root, th, &p.sight)
	case th.state == 'D' && !th.moved && th.at.function != "":
		// It has not run since: it is where it was.
	case th.state == 'D':
		th.at = t.look.blocked(root, th, &p.sight)
	case th.state == 'R' && t.pressure.memory:
		th.at = t.look.running(root, th, &p.sight)
	default:
		th.at = verdict{}
		t.look.probe(root, th, &p.sight)
	}
	return th.at.waitOf(th.state)
}

// thread is what is remembered of one thread.
type thread struct {
	tid           string
	comm          string // printable
	state         byte   // 0 until it could be read
	sched         schedstat
	moved         bool // ran since the visit before, as far as can be told
	at            verdict
	seen          int64 // beat in which it was listed
	next          int64 // beat in which it is due
	told          map[string]time.Time
	statName      string
	schedstatName string
	dir           string
}

func (th *thread) rename(comm []byte) {
	if string(comm) != th.comm {
		th.comm = cleanName(string(comm))
	}
}

// threadsOf is what is remembered of the threads of one process.
type threadsOf struct {
	byName  map[string]*thread
	names   []string // as they were listed last
	listed  time.Time
	delay   uint64 // nanoseconds; goes on rising when a thread ends
	sched   bool   // schedstat counts
	sight   sight  // whether waits can be seen
	waiting [len(waitGroups)]int
	states  [len(threadStates)]int
	ever    [len(threadStates)]bool

	delaySeries   *model.Series
	stateSeries   [len(threadStates)]*model.Series
	blockedSeries [len(waitGroups)]*model.Series
}

// threadStates are the letters of task_state_array in fs/proc/array.c and those
// of older kernels.
const threadStates = "RSDTtZXIPKWx"

func newThreadsOf(w *watched) *threadsOf {
	p := &threadsOf{byName: map[string]*thread{}}
	p.delaySeries = w.series("stallmark_process_run_delay_seconds_total")
	for i, c := range threadStates {
		p.stateSeries[i] = w.series("stallmark_process_threads", "state", string(c))
		p.ever[i] = c == 'R' || c == 'S' || c == 'D'
	}
	for i, wait := range waitGroups {
		p.blockedSeries[i] = w.series("stallmark_blocked_threads", "wait", wait)
	}
	return p
}
