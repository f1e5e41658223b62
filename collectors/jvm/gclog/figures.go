package gclog

import "time"

// Figures are counts and sums over one log. Times are exact to what the log
// prints.
type Figures struct {
	Lines, Bytes int64
	JVMs         int
	Collector    string // "G1", "Parallel", ...; empty if it cannot be told
	Version      string // of the JVM, as its log says it
	Dropped      int64  // messages that -Xlog:async lost: all counts are lower bounds
	Damaged      int64  // pauses that begin and do not end
	asked        bool   // the log's options would print pauses

	Pauses           int64
	PauseTotal       time.Duration
	PauseMax         time.Duration
	Full             int64
	FullTotal        time.Duration
	Young            int64
	RemarkCleanup    int64
	Nested           int64 // full collections inside young ones, part of those
	Degenerated      int64
	HumongousCause   int64
	EvacuationFailed int64
	Cycles           int64 // of ZGC

	Stalls            int64
	StallTotal        time.Duration
	StallMax          time.Duration
	RelocationStalls  int64
	FailedAllocations int64 // Shenandoah: allocations that had to wait for a collection

	SafepointFigures
	rows SafepointFigures // of the table of statistics

	CPULines         int64
	User, Sys, Real  time.Duration
	Blocked          int64 // see [CPU.Blocked]
	SysHeavy         int64 // see [CPU.SysHeavy]
	Kinds            map[Kind]KindFigures
	First, Last      Moment // begin of the first and end of the last of all that was found
	collectorPrinted bool
}

// SafepointFigures are the figures of safepoints.
type SafepointFigures struct {
	Safepoints          int64
	SafepointTotal      time.Duration
	SafepointMax        time.Duration
	OtherSafepoints     int64 // not for a collector
	OtherSafepointTotal time.Duration
	ReachingKnown       int64 // safepoints that say how long it took to reach them
	ReachingTotal       time.Duration
	ReachingMax         time.Duration
	Reaching100         int64 // took 100 ms or more to reach
	Dominated           int64 // see [Safepoint.Dominated]
}

// Stops are the figures of the safepoints that the log has lines of, or else
// those of its table of statistics.
func (f *Figures) Stops() *SafepointFigures {
	if f.Safepoints == 0 {
		return &f.rows
	}
	return &f.SafepointFigures
}

// KindFigures are the figures of the pauses of one kind.
type KindFigures struct {
	Count      int64
	Total, Max time.Duration
}

// collector takes which collector runs; said reports that the log said so in
// words, or that its options would print pauses.
func (f *Figures) collector(name string, said bool) {
	if name == "" {
		return
	}
	if said {
		f.asked = true
	}
	if f.Collector == "" || said && !f.collectorPrinted {
		f.Collector, f.collectorPrinted = name, said
	}
}

func (f *Figures) pause(p *Pause) {
	f.Pauses++
	f.PauseTotal += p.Duration
	f.PauseMax = max(f.PauseMax, p.Duration)
	switch {
	case p.Kind == KindFull:
		f.Full++
		f.FullTotal += p.Duration
	case p.youngOnly():
		f.Young++
	case p.Kind == KindRemark, p.Kind == KindCleanup:
		f.RemarkCleanup++
	case p.Kind == KindDegenerated:
		f.Degenerated++
	}
	if p.Humongous() {
		f.HumongousCause++
	}
	if p.EvacuationFailed {
		f.EvacuationFailed++
	}
	if f.Kinds == nil {
		f.Kinds = map[Kind]KindFigures{}
	}
	k := f.Kinds[p.Label()]
	k.Count++
	k.Total += p.Duration
	k.Max = max(k.Max, p.Duration)
	f.Kinds[p.Label()] = k
	f.extent(p.Start, p.Duration)
}

// extent widens the time that the figures are of. Without the time of day the
// first and the last in the log count: uptimes of several JVMs cannot be compared.
func (f *Figures) extent(start Moment, d time.Duration) {
	if start.Clock == ClockNone {
		return
	}
	end := start.earlier(-d)
	if f.First.Clock == ClockNone || start.Wall.Before(f.First.Wall) {
		f.First = start
	}
	if f.Last.Clock == ClockNone || !end.Wall.Before(f.Last.Wall) {
		f.Last = end
	}
}

func (f *Figures) cpu(c CPU) {
	f.CPULines++
	f.User += c.User
	f.Sys += c.Sys
	f.Real += c.Real
	if c.Blocked() {
		f.Blocked++
	}
	if c.SysHeavy() {
		f.SysHeavy++
	}
}

func (f *Figures) safepoint(s *Safepoint) {
	f.add(s)
	f.extent(s.Start, s.Total)
}

func (f *SafepointFigures) add(s *Safepoint) {
	f.Safepoints++
	f.SafepointTotal += s.Total
	f.SafepointMax = max(f.SafepointMax, s.Total)
	if !s.GC {
		f.OtherSafepoints++
		f.OtherSafepointTotal += s.Total
	}
	if s.Reaching < 0 {
		return
	}
	f.ReachingKnown++
	f.ReachingTotal += s.Reaching
	f.ReachingMax = max(f.ReachingMax, s.Reaching)
	if s.Reaching >= 100*time.Millisecond {
		f.Reaching100++
	}
	if s.Dominated() {
		f.Dominated++
	}
}

func (f *Figures) stall(s *Stall) {
	f.extent(s.Start, s.Duration)
	if s.Relocation {
		f.RelocationStalls++
		return
	}
	f.Stalls++
	f.StallTotal += s.Duration
	f.StallMax = max(f.StallMax, s.Duration)
}

// PausesTold reports whether the log can say how many pauses there were: it
// printed some, or its options would have. ZGC prints its pauses with gc+phases
// only; a log of it with cycles and without pauses tells nothing about them.
func (f *Figures) PausesTold() bool {
	return f.Pauses > 0 || f.asked && (f.Collector != "ZGC" || f.Cycles == 0)
}

// StallsTold reports whether the log can say how many threads waited for memory.
// Only ZGC has such lines.
func (f *Figures) StallsTold() bool {
	return f.Stalls+f.RelocationStalls > 0 || f.asked || f.Cycles > 0 || f.Pauses > 0 && f.Collector != "ZGC"
}

// Recognised reports whether there was anything of a garbage collector's log.
func (f *Figures) Recognised() bool {
	return f.asked || f.Pauses+f.Stops().Safepoints+f.Stalls+f.RelocationStalls+f.CPULines+f.Cycles > 0
}
