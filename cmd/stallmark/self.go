package main

import (
	"bytes"
	"fmt"
	"strconv"
	"time"

	"golang.org/x/sys/unix"

	"stallmark/collectors"
	"stallmark/storage/model"
)

// selfEvery is how often our own processes are looked at.
const selfEvery = time.Second

// selfSource is the source "self": what the recorder costs, and what it lacks to
// outlive a storm.
type selfSource struct {
	root     collectors.Root // with the proc file system of our own processes
	cpu      func(pid int) (time.Duration, error)
	storePID func() int // 0 while it does not run
	lacks    protection
	pageSize float64

	parts []*selfPart
	next  time.Time
	buf   []byte
}

// selfPart is one of our processes.
type selfPart struct {
	name     string
	cpu, rss *model.Series
	written  *model.Series
	seconds  float64
	bytes    float64
	wrote    float64 // bytes, less than 0 where the kernel does not tell
	err      error   // why it could not be read, nil if it could
	gone     bool
}

func newSelfPart(name string) *selfPart {
	return &selfPart{
		name: name,
		cpu:  model.NewSeries("stallmark_self_cpu_seconds_total", "process", name),
		rss:  model.NewSeries("stallmark_self_resident_memory_bytes", "process", name),

		written: model.NewSeries("stallmark_self_written_bytes_total", "process", name),
	}
}

// newSelfSource makes the source for a recorder with a storing process.
func newSelfSource(pageSize int, lacks protection, storePID func() int) *selfSource {
	return &selfSource{
		// Not where --procfs says: in a container that is another pid namespace.
		root: collectors.NewLiveRoot(collectors.Paths{Procfs: "/proc"}),
		cpu:  cpuTime, storePID: storePID, lacks: lacks, pageSize: float64(pageSize),
		parts: []*selfPart{newSelfPart("recorder"), newSelfPart("storage")},
	}
}

// Name implements collectors.Source.
func (*selfSource) Name() string { return "self" }

// Provides implements collectors.Source.
func (*selfSource) Provides() []string { return []string{"stallmark_self_", "stallmark_sampler_"} }

// Collect implements collectors.Source. Between two looks it repeats itself.
func (s *selfSource) Collect(_ collectors.Root, out *collectors.Out) error {
	if !out.At().Before(s.next) || s.next.Sub(out.At()) > selfEvery {
		s.next = out.At().Truncate(selfEvery).Add(selfEvery) // beats are never early, but late by more or less
		s.look(s.parts[0], 0)
		s.look(s.parts[1], s.storePID())
	}
	detail, mend := s.lacks.gap()
	for _, p := range s.parts {
		switch {
		case p.gone:
		case p.err != nil:
			detail = fmt.Sprintf("%s: %v", p.name, p.err)
		default:
			out.Add(p.cpu, p.seconds)
			out.Add(p.rss, p.bytes)
			if p.wrote >= 0 {
				out.Add(p.written, p.wrote)
			}
		}
	}
	if detail != "" {
		return collectors.Partial(detail, mend)
	}
	return nil
}

// look reads one process; pid 0 is this one.
func (s *selfSource) look(p *selfPart, pid int) {
	dir := "proc/self/"
	if p != s.parts[0] {
		dir = "proc/" + strconv.Itoa(pid) + "/"
		if p.gone = pid == 0; p.gone {
			return
		}
	}
	var cpu time.Duration
	var err error
	if cpu, p.err = s.cpu(pid); p.err != nil {
		return
	}
	if s.buf, p.err = s.root.Read(dir+"statm", s.buf); p.err != nil {
		return
	}
	p.seconds = cpu.Seconds()
	p.bytes, p.err = residentPages(s.buf)
	p.bytes *= s.pageSize
	if s.buf, err = s.root.Read(dir+"io", s.buf); err != nil {
		s.buf, p.wrote = s.buf[:0], -1
		return
	}
	p.wrote = writtenBytes(s.buf)
}

// writtenBytes is write_bytes of /proc/PID/io, the bytes that were sent to a disk or
// are to be (proc_pid_io(5)); less than 0 if it is not there.
func writtenBytes(io []byte) float64 {
	for line := range bytes.Lines(io) {
		if rest, ok := bytes.CutPrefix(line, []byte("write_bytes: ")); ok {
			if n, err := strconv.ParseUint(string(bytes.TrimSpace(rest)), 10, 64); err == nil {
				return float64(n)
			}
		}
	}
	return -1
}

// residentPages is the second number of /proc/PID/statm.
func residentPages(statm []byte) (float64, error) {
	fields := bytes.Fields(statm)
	if len(fields) < 2 {
		return 0, fmt.Errorf("statm: %.40q", statm)
	}
	n, err := strconv.ParseUint(string(fields[1]), 10, 64)
	if err != nil {
		return 0, fmt.Errorf("statm: %.40q", statm)
	}
	return float64(n), nil
}

// cpuTime is what a process has spent so far, 0 for this one. The clock of
// another process is named by its pid (include/linux/posix-timers_types.h).
func cpuTime(pid int) (time.Duration, error) {
	const cpuClockSched = 2
	clock := int32(unix.CLOCK_PROCESS_CPUTIME_ID)
	if pid != 0 {
		clock = int32(^pid)<<3 | cpuClockSched
	}
	var ts unix.Timespec
	if err := unix.ClockGettime(clock, &ts); err != nil {
		return 0, fmt.Errorf("CPU time: %w", err)
	}
	return time.Duration(ts.Nano()), nil
}
