package gclog

import "time"

// Kind is what a stop-the-world pause did.
type Kind string

// The kinds of pauses.
const (
	KindYoung           Kind = "young"
	KindMixed           Kind = "mixed"            // G1: young and some old regions
	KindConcurrentStart Kind = "concurrent-start" // G1: young, begins a marking ("initial-mark" up to JDK 10)
	KindFull            Kind = "full"
	KindInitialMark     Kind = "initial-mark" // CMS
	KindRemark          Kind = "remark"       // G1, CMS
	KindCleanup         Kind = "cleanup"      // G1
	KindDegenerated     Kind = "degenerated"  // Shenandoah: finishes a cycle with the application stopped
	KindMarkStart       Kind = "mark-start"   // ZGC; Shenandoah's init mark
	KindMarkEnd         Kind = "mark-end"     // ZGC; Shenandoah's final mark
	KindRelocateStart   Kind = "relocate-start"
	KindUpdateRefs      Kind = "update-refs" // Shenandoah
	KindFinalRoots      Kind = "final-roots" // Shenandoah, of a cycle that found only garbage
	KindOther           Kind = "other"
	kindEvacFailure     Kind = "evacuation-failure" // labels only
	kindHumongous       Kind = "humongous"          // labels only
)

// Class says where the time of a pause went.
type Class string

// The classes of pauses, by the processor times that the log has for them.
const (
	// ClassWork: the collector worked.
	ClassWork Class = "work"
	// ClassBlocked: 100 ms or more, and more than twice the processor time: the
	// collector waited, for a disk, for swap or for a processor.
	ClassBlocked Class = "blocked"
	// ClassSys: 50 ms of processor time or more, most of it in the kernel: page
	// faults, huge pages, reclaim.
	ClassSys Class = "sys-heavy"
	// ClassSafepoint: the stop lasted 10 ms or more and more than half of it passed
	// before the threads stood.
	ClassSafepoint Class = "safepoint"
	// ClassUnknown: the log has no processor times for it.
	ClassUnknown Class = "unknown"
)

// Clock says where the time of a moment comes from.
type Clock string

// The sources of times.
const (
	ClockNone    Clock = ""        // the log has no times
	ClockUptime  Clock = "uptime"  // since the JVM's start only
	ClockWall    Clock = "wall"    // printed, with the offset from UTC
	ClockDerived Clock = "derived" // uptime, and when the JVM started
	ClockArrival Clock = "arrival" // when the line was read
)

// Moment is a point in time as far as a log tells it.
type Moment struct {
	Clock  Clock
	Wall   time.Time     // UTC; zero with ClockNone and ClockUptime
	Uptime time.Duration // since the JVM's start; negative if not known
	Slack  time.Duration // the moment is at most this far from Wall or Uptime, either way
}

// earlier is the moment d before m.
func (m Moment) earlier(d time.Duration) Moment {
	if !m.Wall.IsZero() {
		m.Wall = m.Wall.Add(-d)
	}
	if m.Uptime >= 0 {
		m.Uptime = max(0, m.Uptime-d)
	}
	return m
}

// CPU is the processor time of a pause and the time on the clock beside it, each
// in steps of 10 ms.
type CPU struct {
	Known           bool
	User, Sys, Real time.Duration
}

// Blocked reports real >= 0.1 s and real > 2*(user+sys): below 0.1 s the steps
// of 10 ms decide nothing.
func (c CPU) Blocked() bool {
	return c.Known && c.Real >= 100*time.Millisecond && c.Real > 2*(c.User+c.Sys)
}

// SysHeavy reports user+sys >= 0.05 s and sys > user.
func (c CPU) SysHeavy() bool {
	return c.Known && c.User+c.Sys >= 50*time.Millisecond && c.Sys > c.User
}

// Pause is one stop-the-world pause of a collector. Pauses inside another one
// (the full collection inside a young one of the Serial collector up to JDK 13)
// are part of that one.
type Pause struct {
	Line     int64 // that ended it, 1 for the first
	JVM      int   // 1 for the first run of a JVM in this log
	ID       int64 // GC(n); -1 if not printed
	Start    Moment
	Duration time.Duration
	Kind     Kind
	Cause    string // "Allocation Failure", "System.gc()"; may be empty
	Detail   string // what else stood in parentheses
	Heap     Heap
	CPU      CPU

	EvacuationFailed bool // G1: to-space exhausted, evacuation failure
	PromotionFailed  bool // the old generation had no room
	Upgraded         bool // degenerated, and finished as a full collection
	ConcurrentFailed bool // CMS: concurrent mode failure or interrupted

	// The safepoint that it was in, zero if the log does not say: how long all of
	// it lasted and how long it took until the threads stood. Several pauses may
	// share one.
	Stopped  time.Duration
	Reaching time.Duration
}

// Humongous reports whether a humongous allocation of G1 asked for it.
func (p *Pause) Humongous() bool { return p.Cause == "G1 Humongous Allocation" }

// Label is the kind that matters most to whoever asks why: full, degenerated,
// evacuation-failure, humongous, or Kind.
func (p *Pause) Label() Kind {
	switch {
	case p.Kind == KindFull || p.Kind == KindDegenerated:
		return p.Kind
	case p.EvacuationFailed, p.PromotionFailed:
		return kindEvacFailure
	case p.Humongous():
		return kindHumongous
	}
	return p.Kind
}

// Class says where its time went.
func (p *Pause) Class() Class {
	switch {
	case dominated(p.Stopped, p.Reaching):
		return ClassSafepoint
	case p.CPU.Blocked():
		return ClassBlocked
	case p.CPU.SysHeavy():
		return ClassSys
	case p.CPU.Known:
		return ClassWork
	}
	return ClassUnknown
}

// youngOnly reports whether it is counted among the young collections.
func (p *Pause) youngOnly() bool {
	return p.Kind == KindYoung || p.Kind == KindMixed || p.Kind == KindConcurrentStart
}

// dominated reports a stop of 10 ms or more of which more than half passed
// before the threads stood.
func dominated(total, reaching time.Duration) bool {
	return total >= 10*time.Millisecond && 2*reaching > total
}

// Safepoint is one stop of all application threads, for a collection or for
// anything else.
type Safepoint struct {
	Line      int64
	JVM       int
	Operation string // "G1CollectForAllocation", "Deoptimize"; empty where it is not printed
	Start     Moment
	Total     time.Duration
	Reaching  time.Duration // until all threads stood; -1 if not printed (JDK 6 and 7)
	GC        bool          // it was for a collector
}

// Dominated reports a stop of 10 ms or more of which more than half passed
// before the threads stood.
func (s *Safepoint) Dominated() bool { return dominated(s.Total, s.Reaching) }

// Stall is one thread that waited for memory while the others went on. Stalls
// overlap in time: their sum is not a time that anything stood still.
type Stall struct {
	Line       int64
	JVM        int
	Thread     string
	Relocation bool // waited for an object to be moved, not for memory
	Start      Moment
	Duration   time.Duration
}

// Cycle is one collection of a concurrent collector from begin to end; the
// application ran meanwhile.
type Cycle struct {
	Line   int64
	JVM    int
	ID     int64
	Minor  bool
	Cause  string
	Heap   Heap
	Finish Moment
}

// Handler takes what a parser finds, in the order in which it is complete. What
// the pointers point to is the parser's and changes with the next one: copy what
// is kept. A nil function is not called.
type Handler struct {
	Pause     func(*Pause)
	Safepoint func(*Safepoint)
	Stall     func(*Stall)
	Cycle     func(*Cycle)
}
