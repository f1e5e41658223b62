package logs

import (
	"sync"
	"time"

	"stallmark/collectors"
	"stallmark/collectors/jvm/gclog"
)

// gcLog is the consumer of a JVM's GC log: what the parser finds in it goes into
// the meter, which tells it on each beat.
type gcLog struct {
	now func() time.Time

	mu     sync.Mutex
	file   *File
	parser *gclog.Parser
	meter  *gclog.Meter
	begin  func(*File) (*gclog.Parser, *gclog.Meter)
	leave  func(pid string)
}

// startSlack is how far the start of a process may be from what the kernel says:
// its clock ticks, and the drift of the wall clock since boot.
const startSlack = time.Second

// newGCLog makes the consumer of one log.
func newGCLog(s *Source, file *File) *gcLog {
	g := &gcLog{now: s.now, file: file}
	g.leave = s.cfg.Pauses.Leave
	g.begin = func(f *File) (*gclog.Parser, *gclog.Meter) {
		meter := gclog.NewMeter(gclog.MeterConfig{Process: f.Process, Pid: pidText(f), Log: f.Path, Pauses: s.cfg.Pauses})
		s.cfg.Pauses.Follow(pidText(f))
		var options []gclog.Option
		if s.cfg.ClockTicks > 0 && f.Start > 0 && !s.cfg.Boot.IsZero() {
			up := time.Duration(float64(f.Start) / float64(s.cfg.ClockTicks) * float64(time.Second))
			options = append(options, gclog.StartedAt(s.cfg.Boot.Add(up), startSlack))
		}
		if !f.Began.IsZero() {
			options = append(options, gclog.StartedAt(f.Began, startSlack))
		}
		return gclog.NewParser(meter.Handler(), options...), meter
	}
	g.parser, g.meter = g.begin(file)
	return g
}

// Line implements Consumer.
func (g *gcLog) Line(l *Line) {
	var read time.Time // zero for what was written long before it is read
	if l.live {
		read = g.now()
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	if l.File != g.file { // another process writes it now
		g.leave(pidText(g.file))
		g.file = l.File
		g.parser, g.meter = g.begin(l.File)
	}
	g.parser.Feed(l.Text, read)
}

// Report implements Reporter.
func (g *gcLog) Report(out *collectors.Out) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.parser.Tick(out.At())
	g.meter.Put(out)
}

// pid is that of the process that writes the log.
func (g *gcLog) pid() string {
	g.mu.Lock()
	defer g.mu.Unlock()
	return pidText(g.file)
}
