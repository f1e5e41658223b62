package gclog

import (
	"strconv"
	"time"

	"stallmark/collectors"
	"stallmark/collectors/jvm"
	"stallmark/storage/model"
)

// MeterConfig says whose log it is and what is worth an event.
type MeterConfig struct {
	Process, Pid string // labels; without them the series have the label source, the path of the log
	Log          string // path of the log, an attribute of events; may be empty
	// Least is how long a pause, another safepoint or a stall must last to be an
	// event [10 ms]. Samples count all of them.
	Least time.Duration
	// MaxEvents bounds the events of one beat [100]; the longest are kept.
	MaxEvents int
	// Pauses joins them with what the JVM's counters say; may be nil.
	Pauses *jvm.PauseBook
}

// Meter turns what a [Parser] finds into counters and events of one process:
// give [Meter.Handler] to the parser and call [Meter.Put] in every beat. Names
// and labels stand in collectors/SERIES.md. Not for several goroutines at once.
type Meter struct {
	cfg    MeterConfig
	pauses map[Kind]*tally
	kinds  []Kind // in the order in which they were first seen
	class  map[Class]*counter
	cpu    [2]counter // user, sys
	real   counter
	stops  [2]*stopTally // other, for a collector
	reach  counter
	stalls [2]*tally // for memory, for relocation
	union  union
	stood  counter // of union
	heap   gauge
	cap    gauge
	longer begun
	events []model.Event
	more   int // events that were left out
}

// counter and gauge are a series with its value.
type counter struct {
	series *model.Series
	v      float64
}

type gauge struct {
	series *model.Series
	v      int64
}

// tally is count, sum and the longest since the last beat.
type tally struct {
	sum, count, longest counter
}

type stopTally struct {
	tally
	reachMax counter
}

// begun is when the longest pause of the newest beat that had one began.
type begun struct {
	counter
	longest time.Duration
}

// NewMeter makes the meter of one log.
func NewMeter(cfg MeterConfig) *Meter {
	if cfg.Least <= 0 {
		cfg.Least = 10 * time.Millisecond
	}
	if cfg.MaxEvents <= 0 {
		cfg.MaxEvents = 100
	}
	m := &Meter{cfg: cfg, pauses: map[Kind]*tally{}, class: map[Class]*counter{}}
	for _, c := range classes() {
		m.class[c] = &counter{series: m.series("stallmark_gc_pause_class_seconds_total", "class", string(c))}
	}
	m.cpu[0].series = m.series("stallmark_gc_pause_cpu_seconds_total", "mode", "user")
	m.cpu[1].series = m.series("stallmark_gc_pause_cpu_seconds_total", "mode", "sys")
	m.real.series = m.series("stallmark_gc_pause_real_seconds_total")
	for i, gc := range []string{"no", "yes"} {
		m.stops[i] = &stopTally{m.tally("stallmark_safepoint", "gc", gc), counter{series: m.series("stallmark_safepoint_reaching_seconds_max", "gc", gc)}}
	}
	m.reach.series = m.series("stallmark_safepoint_reaching_seconds_total")
	for i, kind := range []string{"allocation", "relocation"} {
		t := m.tally("stallmark_gc_allocation_stall", "kind", kind)
		m.stalls[i] = &t
	}
	m.stood.series = m.series("stallmark_gc_allocation_stalled_seconds_total")
	m.heap = gauge{m.series("stallmark_jvm_heap_used_after_gc_bytes"), Unknown}
	m.cap = gauge{m.series("stallmark_jvm_heap_capacity_bytes"), Unknown}
	m.longer.series = m.series("stallmark_gc_pause_begin_time_seconds")
	return m
}

func classes() []Class {
	return []Class{ClassWork, ClassBlocked, ClassSys, ClassSafepoint, ClassUnknown}
}

func (m *Meter) series(name string, pairs ...string) *model.Series {
	whose := []string{"process", m.cfg.Process, "pid", m.cfg.Pid}
	if m.cfg.Process == "" && m.cfg.Pid == "" {
		whose = []string{"source", m.cfg.Log}
	}
	return model.NewSeries(name, append(whose, pairs...)...)
}

func (m *Meter) tally(name string, pairs ...string) tally {
	return tally{
		counter{series: m.series(name+"_seconds_sum", pairs...)},
		counter{series: m.series(name+"_seconds_count", pairs...)},
		counter{series: m.series(name+"_seconds_max", pairs...)},
	}
}

// Handler is to be given to the parser.
func (m *Meter) Handler() Handler {
	return Handler{Pause: m.pause, Safepoint: m.safepoint, Stall: m.stall, Cycle: m.cycle}
}

func (t *tally) add(d time.Duration) {
	t.sum.v += d.Seconds()
	t.count.v++
	t.longest.v = max(t.longest.v, d.Seconds())
}

func (m *Meter) pause(p *Pause) {
	label := p.Label()
	t := m.pauses[label]
	if t == nil {
		made := m.tally("stallmark_gc_pause", "kind", string(label))
		t = &made
		m.pauses[label] = t
		m.kinds = append(m.kinds, label)
	}
	t.add(p.Duration)
	m.class[p.Class()].v += p.Duration.Seconds()
	if p.CPU.Known {
		m.cpu[0].v += p.CPU.User.Seconds()
		m.cpu[1].v += p.CPU.Sys.Seconds()
		m.real.v += p.CPU.Real.Seconds()
	}
	m.used(p.Heap)
	if p.Duration > m.longer.longest && !p.Start.Wall.IsZero() {
		m.longer.longest, m.longer.v = p.Duration, float64(p.Start.Wall.UnixMilli())/1000
	}
	if p.Start.Wall.IsZero() {
		m.eventOf(p, 0, false)
		return
	}
	counted, ok := m.cfg.Pauses.Logged(m.cfg.Pid, jvm.Witnessed{From: p.Start.Wall, To: p.Start.Wall.Add(p.Duration), Slack: max(p.Start.Slack, stampSlack)})
	m.eventOf(p, counted.To.Sub(counted.From), ok)
}

// eventOf makes the event of a pause, with what the JVM's counters say of it.
func (m *Meter) eventOf(p *Pause, counted time.Duration, checked bool) {
	if p.Duration < m.cfg.Least {
		return
	}
	e := pauseEvent(p)
	if checked {
		e.Attrs["counted_ms"] = milliText(counted)
	}
	m.event(e)
}

func (m *Meter) used(h Heap) {
	if h.After != Unknown {
		m.heap.v = h.After
	}
	if h.Capacity != Unknown {
		m.cap.v = h.Capacity
	}
}

func (m *Meter) cycle(c *Cycle) { m.used(c.Heap) }

func (m *Meter) safepoint(s *Safepoint) {
	t := m.stops[0]
	if s.GC {
		t = m.stops[1]
	}
	t.add(s.Total)
	if s.Reaching >= 0 {
		m.reach.v += s.Reaching.Seconds()
		t.reachMax.v = max(t.reachMax.v, s.Reaching.Seconds())
	}
	// A stop for a collection has the event of its pause, unless most of it passed
	// before the collection began.
	if s.Total >= m.cfg.Least && (!s.GC || s.Dominated()) {
		m.event(safepointEvent(s))
	}
}

func (m *Meter) stall(s *Stall) {
	i := 0
	if s.Relocation {
		i = 1
	}
	m.stalls[i].add(s.Duration)
	if !s.Start.Wall.IsZero() {
		m.stood.v += m.union.add(s.Start.Wall, s.Start.Wall.Add(s.Duration)).Seconds()
	}
	if s.Duration >= m.cfg.Least {
		m.event(stallEvent(s))
	}
}

// event keeps the longest events of a beat.
func (m *Meter) event(e model.Event) {
	if m.cfg.Process != "" {
		e.Attrs["process"] = m.cfg.Process
	}
	if m.cfg.Pid != "" {
		e.Attrs["pid"] = m.cfg.Pid
	}
	if m.cfg.Log != "" {
		e.Attrs["log"] = m.cfg.Log
	}
	if len(m.events) < m.cfg.MaxEvents {
		m.events = append(m.events, e)
		return
	}
	m.more++
	shortest := 0
	for i := range m.events {
		if span(m.events[i]) < span(m.events[shortest]) {
			shortest = i
		}
	}
	if span(e) > span(m.events[shortest]) {
		m.events[shortest] = e
	}
}

func span(e model.Event) time.Duration { return e.To.Sub(e.From) }

// Put gives the samples of this beat and the events since the last one, each
// with the time of the pause itself.
func (m *Meter) Put(out *collectors.Out) {
	for _, k := range m.kinds {
		m.pauses[k].put(out)
	}
	for _, c := range classes() {
		m.class[c].put(out)
	}
	m.cpu[0].put(out)
	m.cpu[1].put(out)
	m.real.put(out)
	for _, s := range m.stops {
		s.put(out)
		s.reachMax.put(out)
		s.reachMax.v = 0
	}
	m.reach.put(out)
	for _, s := range m.stalls {
		s.put(out)
	}
	m.stood.put(out)
	m.heap.put(out)
	m.cap.put(out)
	if m.longer.v > 0 {
		m.longer.put(out)
	}
	m.longer.longest = 0
	for _, e := range m.events {
		out.Event(e)
	}
	m.events, m.more = m.events[:0], 0
}

func (c *counter) put(out *collectors.Out) { out.Add(c.series, c.v) }

func (g *gauge) put(out *collectors.Out) {
	if g.v != Unknown {
		out.Add(g.series, float64(g.v))
	}
}

func (t *tally) put(out *collectors.Out) {
	t.sum.put(out)
	t.count.put(out)
	t.longest.put(out)
	t.longest.v = 0
}

// union is the time in which at least one of several overlapping intervals ran.
// They come in the order of their ends, as a log has them.
type union struct{ spans []interval }

type interval struct{ from, to time.Time }

// maxSpans bounds how far back an interval can still overlap others.
const maxSpans = 64

// add takes an interval and returns by how much the union grew.
func (u *union) add(from, to time.Time) time.Duration {
	grown := to.Sub(from)
	n := len(u.spans)
	for n > 0 && u.spans[n-1].to.After(from) {
		last := u.spans[n-1]
		both := minTime(last.to, to).Sub(maxTime(last.from, from))
		grown -= max(0, both)
		from, to = minTime(from, last.from), maxTime(to, last.to)
		n--
	}
	u.spans = append(u.spans[:n], interval{from, to})
	if len(u.spans) > maxSpans {
		u.spans = append(u.spans[:0], u.spans[len(u.spans)-maxSpans:]...)
	}
	return max(0, grown)
}

func minTime(a, b time.Time) time.Time {
	if a.Before(b) {
		return a
	}
	return b
}

func maxTime(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}

// milliText is a duration in milliseconds for an attribute.
func milliText(d time.Duration) string {
	return strconv.FormatFloat(float64(d)/1e6, 'f', -1, 64)
}
