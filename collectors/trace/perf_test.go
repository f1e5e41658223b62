package trace

import (
	"errors"
	"fmt"
	"io/fs"
	"runtime"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"stallmark/collectors"
	"stallmark/storage/model"
)

func liveRoot() collectors.Root {
	return collectors.NewLiveRoot(collectors.Paths{Procfs: "/proc", Sysfs: "/sys", Rootfs: "/"})
}

// openLive opens sched_switch, which happens all the time and which nobody
// misses, or skips the test with the reason.
func openLive(t *testing.T) (*perf, format) {
	t.Helper()
	root := liveRoot()
	base, err := findTracefs(root)
	if err != nil {
		t.Skipf("no tracepoints here: %v", err)
	}
	data, err := root.Read(base+"/events/sched/sched_switch/format", nil)
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, fs.ErrPermission) {
		t.Skipf("no tracepoints here: %v", err)
	} else if err != nil {
		t.Fatal(err)
	}
	f, err := parseFormat(data)
	if err != nil {
		t.Fatal(err)
	}
	cpus, err := onlineCPUs(root)
	if err != nil {
		t.Fatal(err)
	}
	r, err := OpenPerf([]Probe{{ID: f.id, Filter: "prev_pid > 0"}, {ID: f.id, Filter: "prev_pid < 0"}}, cpus)
	if errors.Is(err, unix.EPERM) || errors.Is(err, unix.EACCES) || errors.Is(err, unix.ENOSYS) || errors.Is(err, unix.EMFILE) {
		t.Skipf("no perf events here: %v", openGap(root, err))
	}
	if err != nil {
		t.Fatal(err)
	}
	return r.(*perf), f
}

// switchThreads makes two threads wait for each other n times.
func switchThreads(n int) {
	a, b := make(chan int), make(chan int)
	go func() {
		runtime.LockOSThread()
		for v := range a {
			b <- v
		}
		close(b)
	}()
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	for i := range n {
		a <- i
		<-b
	}
	close(a)
	<-b
}

func TestLiveTracepoints(t *testing.T) {
	p, f := openLive(t)
	defer p.Close()
	prev, own, mine := f.fields["prev_pid"], unix.Getpid(), 0
	before := Monotonic()
	switchThreads(200)
	after := Monotonic()
	d := p.Drain(1_000_000, func(s *Sample) {
		id, ok := s.typeOf()
		if !ok || id != f.id {
			t.Errorf("event %d of %d bytes, want %d", id, len(s.Raw), f.id)
		}
		if pid, ok := prev.value(s.Raw); !ok || pid != int64(s.Tid) && s.Tid != -1 { // -1: the thread is ending
			t.Errorf("prev_pid %d, %v in a sample of thread %d", pid, ok, s.Tid)
		}
		if s.Pid == own && p.Clocked() && s.Time >= before && s.Time <= after {
			mine++
		}
	})
	t.Logf("%+v, %d of our threads, clocked %v", d, mine, p.Clocked())
	if d.Taken == 0 || p.Clocked() && mine == 0 {
		t.Errorf("no switch of our own threads among %+v", d)
	}
	if d.Damaged != 0 {
		t.Errorf("%d damaged records", d.Damaged)
	}
	if d := p.Drain(0, func(*Sample) { t.Error("a sample over the budget") }); d.Taken != 0 {
		t.Errorf("over the budget: %+v", d)
	}
}

// pressedRoot is the live host, but always under pressure.
type pressedRoot struct {
	collectors.Root
	us int
}

func (r *pressedRoot) Read(name string, buf []byte) ([]byte, error) {
	if !strings.HasPrefix(name, "proc/pressure/") {
		return r.Root.Read(name, buf)
	}
	r.us += 500_000
	return fmt.Appendf(buf[:0], "some avg10=0 total=%d\n", r.us), nil
}

// TestLiveSource runs the whole source on this host, with what it can do here.
func TestLiveSource(t *testing.T) {
	s := New(Config{Open: OpenPerf})
	defer s.Close()
	out, root := collectors.NewOut(s.Name()), &pressedRoot{Root: liveRoot()}
	for i := range 4 {
		out.Reset(time.Unix(1000+int64(i), 0))
		err := s.Collect(root, out)
		gap, ok := errors.AsType[*collectors.Gap](err)
		if !ok {
			t.Fatalf("coverage %v", err)
		}
		t.Logf("%s: %s, %d samples", gap.State, gap.Detail, len(out.Samples()))
		switch {
		case gap.State == model.SourceAbsent || gap.State == model.SourceDenied:
			t.Skipf("no tracepoints here: %v", err)
		case i > 1 && len(out.Samples()) < 4:
			t.Errorf("beat %d: %d samples although the tracepoints are open", i, len(out.Samples()))
		}
	}
}
