package process

import (
	"fmt"
	"io/fs"
	"strings"
	"testing"
	"time"

	"stallmark/collectors"
)

// pressed is a host on which tasks are held up by I/O.
type pressed struct {
	hostTree
	total int
}

func newPressed() *pressed {
	p := &pressed{hostTree: newHostTree()}
	p.more()
	return p
}

// more adds half a second of pressure.
func (p *pressed) more() {
	p.total += 500_000
	p.Files["proc/pressure/memory"] = psi(0)
	p.Files["proc/pressure/io"] = psi(p.total)
}

// task puts a process or, with tid, a thread of it that has a stack.
func (p *pressed) task(pid, tid int, comm string, state byte, threads int, function string) {
	dir := fmt.Sprintf("proc/%d/", pid)
	line := strings.Replace(statOf(tid, comm, state, 10), " 20 0 1 0 ", fmt.Sprintf(" 20 0 %d 0 ", threads), 1)
	if tid != pid || threads > 1 {
		dir += fmt.Sprintf("task/%d/", tid)
	}
	if tid == pid {
		p.Files[fmt.Sprintf("proc/%d/stat", pid)] = []byte(line)
	}
	p.Files[dir+"stat"] = []byte(line)
	p.Files[dir+"stack"] = []byte("[<0>] " + function + "+0x1/0x2\n")
	p.Files[dir+"wchan"] = []byte(function)
}

func onHost(wait string) string { return "stallmark_host_blocked_tasks{wait=" + wait + "}" }

func TestHostTasks(t *testing.T) {
	p := newPressed()
	p.process(42, 10, "java", broker("/a")...)
	p.Files["proc/42/task/42/stat"] = []byte(statOf(42, "java", 'D', 10))
	p.Files["proc/42/task/42/stack"] = []byte("[<0>] balance_dirty_pages+0x1/0x2\n")
	p.task(50, 50, "dd", 'D', 1, "balance_dirty_pages")
	p.task(60, 60, "mysqld", 'S', 2, "futex_wait")
	p.task(60, 61, "flusher", 'D', 2, "jbd2_log_wait_commit")
	p.Files["proc/60/comm"] = []byte("mysqld\n")
	p.task(70, 70, "idle", 'S', 1, "hrtimer_nanosleep")
	b := newBench(t, Config{Files: fakeFiles{"/a": ""}})
	got := b.beat(p)
	if keys := sortedKeys(got.values, "stallmark_host_blocked"); len(keys) > 0 {
		t.Errorf("without pressure: %v", keys)
	}
	p.more()
	got = b.beat(p)
	for wait, want := range map[string]float64{waitDirtyThrottle: 1, waitJournal: 1, waitReclaim: 0, waitOther: 0} {
		if v, ok := got.values[onHost(wait)]; !ok || v != want {
			t.Errorf("%s: %v %v, want %v", wait, v, ok, want)
		}
	}
	if c := got.coverage["host-tasks"]; c.State != "ok" {
		t.Errorf("coverage %+v", c)
	}
	var told []string
	for _, e := range got.events {
		if e.Source == "host-tasks" {
			told = append(told, e.Attrs["thread"]+" of "+e.Attrs["process"]+" "+e.Attrs["pid"]+" "+e.Attrs["tid"]+" "+e.Attrs["wait"])
		}
	}
	if s := strings.Join(told, ", "); s != "dd of dd 50 50 dirty_throttle, flusher of mysqld 60 61 journal" {
		t.Errorf("events: %s", s)
	}
	if got = b.beat(p); len(sortedKeys(got.values, "stallmark_host_blocked")) > 0 {
		t.Error("looked at after the pressure")
	}
}

func TestHostTasksWithoutPSI(t *testing.T) {
	p := newPressed()
	delete(p.Files, "proc/pressure/memory")
	delete(p.Files, "proc/pressure/io")
	p.Files["proc/stat"] = []byte("cpu 1 2 3\nprocs_running 1\nprocs_blocked 2\n")
	p.task(50, 50, "dd", 'D', 1, "sync_page")
	if v := newBench(t, Config{Files: fakeFiles{}}).beat(p).values[onHost(waitPage)]; v != 1 {
		t.Errorf("%v tasks wait for a page", v)
	}
}

// A pressure file that is there and says nothing is no pressure file.
func TestHostTasksWithEmptyPSI(t *testing.T) {
	p := newPressed()
	p.Files["proc/pressure/memory"], p.Files["proc/pressure/io"] = nil, nil
	p.Files["proc/stat"] = []byte("procs_blocked 2\n")
	p.task(50, 50, "dd", 'D', 1, "sync_page")
	if v := newBench(t, Config{Files: fakeFiles{}}).beat(p).values[onHost(waitPage)]; v != 1 {
		t.Errorf("%v tasks wait for a page", v)
	}
}

func TestHostTasksWhenNothingTellsWhenToLook(t *testing.T) {
	p := newPressed()
	for _, name := range []string{"proc/pressure/memory", "proc/pressure/io", "proc/vmstat", "proc/stat"} {
		delete(p.Files, name)
	}
	if c := newBench(t, Config{Files: fakeFiles{}}).beat(p).coverage["host-tasks"]; c.State != "absent" {
		t.Errorf("coverage %+v", c)
	}
}

func TestHostTasksAreCapped(t *testing.T) {
	p := newPressed()
	for i := range maxTaskReads + 100 {
		p.Files[fmt.Sprintf("proc/%d/stat", 1000+i)] = []byte(statOf(1000+i, "x", 'S', 5))
	}
	last := 1000 + maxTaskReads + 99
	p.task(last, last, "last", 'D', 1, "blk_mq_get_tag")
	b := newBench(t, Config{Files: fakeFiles{}})
	b.sampler, _ = collectors.New(collectors.Config{Sources: []collectors.Source{newHostTasks(Config{}, &table{})}, Sink: b, Interval: collectors.MinInterval})
	b.beat(p)
	p.more()
	got := b.beat(p)
	if c := got.coverage["host-tasks"]; c.State != "partial" {
		t.Errorf("coverage %+v", c)
	}
	if v := got.values[onHost(waitBlockQueue)]; v != 0 {
		t.Errorf("%v seen within the bound", v)
	}
	p.more()
	if v := b.beat(p).values[onHost(waitBlockQueue)]; v != 1 {
		t.Errorf("%v seen in the second round, want 1", v)
	}
	for i := range maxTaskStacks + 10 {
		p.task(1000+i, 1000+i, "x", 'D', 1, "blk_mq_get_tag")
	}
	p.more()
	if v := b.beat(p).values[onHost(waitBlockQueue)]; v != maxTaskStacks {
		t.Errorf("%v stacks read, want %d", v, maxTaskStacks)
	}
}

func TestHostTasksDenied(t *testing.T) {
	p := newPressed()
	p.task(50, 50, "dd", 'D', 1, "balance_dirty_pages")
	p.Errs["proc/50/stack"] = fs.ErrPermission
	p.Files["proc/50/wchan"] = []byte("0")
	b := newBench(t, Config{Files: fakeFiles{}})
	b.beat(p)
	p.more()
	got := b.beat(p)
	if keys := sortedKeys(got.values, "stallmark_host_blocked"); len(keys) > 0 {
		t.Errorf("%v, though nothing could be seen", keys)
	}
	if c := got.coverage["host-tasks"]; c.State != "denied" || !strings.Contains(c.Mend, "CAP_SYS_ADMIN") {
		t.Errorf("coverage %+v", c)
	}
}

func TestHostTasksBetweenSeconds(t *testing.T) {
	p := newPressed()
	p.task(50, 50, "dd", 'D', 1, "balance_dirty_pages")
	p.task(70, 70, "idle", 'S', 1, "hrtimer_nanosleep")
	alert := false
	b := newBench(t, Config{Files: fakeFiles{}, Alert: func() bool { return alert }})
	b.step = 100 * time.Millisecond
	b.beat(p)
	if keys := sortedKeys(b.beat(p).values, "stallmark_host_blocked"); len(keys) > 0 {
		t.Errorf("without pressure and alert: %v", keys)
	}
	alert = true
	if v := b.beat(p).values[onHost(waitDirtyThrottle)]; v != 1 {
		t.Errorf("first look: %v, want 1", v)
	}
	c := &counting{p, map[string]int{}}
	p.task(80, 80, "late", 'D', 1, "balance_dirty_pages")
	if v := b.beat(c).values[onHost(waitDirtyThrottle)]; v != 1 || c.reads["proc/70/stat"] != 0 {
		t.Errorf("%v, with %d looks at a task that was not blocked; want 1 and none", v, c.reads["proc/70/stat"])
	}
	p.task(50, 50, "dd", 'R', 1, "")
	if v := b.beat(p).values[onHost(waitDirtyThrottle)]; v != 0 {
		t.Errorf("%v after the task went on, want 0", v)
	}
	b.at = b.at.Add(time.Second)
	if v := b.beat(p).values[onHost(waitDirtyThrottle)]; v != 1 {
		t.Errorf("%v at the next whole look, want 1", v)
	}
	b.at = b.at.Add(-time.Minute)
	if v := b.beat(p).values[onHost(waitDirtyThrottle)]; v != 1 {
		t.Errorf("%v after the clock went back, want 1", v)
	}
}
