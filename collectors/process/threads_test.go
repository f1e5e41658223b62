package process

import (
	"io/fs"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"stallmark/collectors"
)

func blocked(wait string) string {
	return "stallmark_blocked_threads{pid=42,process=kafka-broker,wait=" + wait + "}"
}

func state(s string) string {
	return "stallmark_process_threads{pid=42,process=kafka-broker,state=" + s + "}"
}

const runDelay = "stallmark_process_run_delay_seconds_total{pid=42,process=kafka-broker}"

func TestThreads(t *testing.T) {
	tree := newBrokerTree()
	tree.thread(42, "java", 'S', 1e9, 5, futex...)
	tree.thread(43, "kafka-io-1", 'D', 2e9, 7, throttle...)
	tree.thread(44, "kafka-io-2", 'R', 0, 9)
	b := newBench(t, Config{Files: fakeFiles{}})
	got := b.beat(tree)
	for series, want := range map[string]float64{
		blocked(waitDirtyThrottle): 1, blocked(waitReclaim): 0, blocked(waitOther): 0, state("S"): 1, state("D"): 1, state("R"): 1, runDelay: 3,
	} {
		if v, ok := got.values[series]; !ok || v != want {
			t.Errorf("%s = %v %v, want %v", series, v, ok, want)
		}
	}
	if n := len(sortedKeys(got.values, "stallmark_blocked_threads")); n != len(waitGroups) {
		t.Errorf("%d groups, want %d", n, len(waitGroups))
	}
	if c := got.coverage["threads"]; c.State != "ok" {
		t.Errorf("coverage %+v", c)
	}
	told := blockedEvents(got)
	if len(told) != 1 || told[0]["thread"] != "kafka-io-1" || told[0]["wait"] != waitDirtyThrottle || told[0]["function"] != "balance_dirty_pages" ||
		told[0]["stack"] != strings.Join(throttle, " < ") || told[0]["tid"] != "43" || told[0]["pid"] != "42" || told[0]["process"] != roleKafkaBroker {
		t.Errorf("events %v", told)
	}
}

func blockedEvents(got beat) []map[string]string {
	var told []map[string]string
	for _, e := range got.events {
		if e.Kind == "blocked" {
			told = append(told, e.Attrs)
		}
	}
	return told
}

func TestOneEventInTenSeconds(t *testing.T) {
	tree := newBrokerTree()
	tree.thread(43, "io", 'D', 0, 7, throttle...)
	b := newBench(t, Config{Files: fakeFiles{}})
	events := 0
	for i := range 25 {
		tree.thread(43, "io", 'D', 0, 7+i, throttle...)
		events += len(blockedEvents(b.beat(tree)))
	}
	if events != 3 {
		t.Errorf("%d events in 25 s, want 3", events)
	}
	tree.thread(43, "io", 'D', 0, 99, "jbd2_log_wait_commit")
	if told := blockedEvents(b.beat(tree)); len(told) != 1 || told[0]["wait"] != waitJournal {
		t.Errorf("another wait: %v", told)
	}
}

func TestRunDelayGoesOnRising(t *testing.T) {
	tree := newBrokerTree()
	tree.thread(43, "a", 'R', 5e9, 5)
	tree.thread(44, "b", 'R', 1e9, 5)
	b := newBench(t, Config{Files: fakeFiles{}})
	b.beat(tree)
	tree.drop(43)
	tree.thread(44, "b", 'R', 2e9, 6)
	tree.thread(45, "new", 'R', 5e8, 1)
	if v := b.beat(tree).values[runDelay]; v != 7.5 {
		t.Errorf("%v after a thread ended, want 7.5", v)
	}
	tree.thread(44, "another under the number", 'R', 1e9, 1)
	if v := b.beat(tree).values[runDelay]; v != 8.5 {
		t.Errorf("%v after a number was used again, want 8.5", v)
	}
}

// counting counts the reads of each file.
type counting struct {
	collectors.Root
	reads map[string]int
}

func (c *counting) Read(name string, buf []byte) ([]byte, error) {
	c.reads[name]++
	return c.Root.Read(name, buf)
}

func TestSleepersAreReadRarely(t *testing.T) {
	tree := newBrokerTree()
	tree.thread(43, "idle", 'S', 0, 5, futex...)
	b := newBench(t, Config{Files: fakeFiles{}})
	b.beat(tree)
	c := &counting{tree, map[string]int{}}
	for i := range 16 {
		tree.thread(44, "busy", 'S', 0, 100+i, futex...)
		b.beat(c)
	}
	idle, busy := c.reads["proc/42/task/43/schedstat"], c.reads["proc/42/task/44/stat"]
	if idle > 5 || c.reads["proc/42/task/43/stat"] > 1 {
		t.Errorf("an idle thread was read %d times in 16 beats, its stat %d times", idle, c.reads["proc/42/task/43/stat"])
	}
	if busy != 16 {
		t.Errorf("a busy thread was read %d times in 16 beats", busy)
	}
	if c.reads["proc/42/task/43/stack"]+c.reads["proc/42/task/43/wchan"] > 0 {
		t.Error("the stack of a sleeper was read")
	}
}

func TestBlockedThreadIsNotReadAgain(t *testing.T) {
	tree := newBrokerTree()
	tree.thread(43, "io", 'D', 0, 5, throttle...)
	b := newBench(t, Config{Files: fakeFiles{}})
	b.beat(tree)
	c := &counting{tree, map[string]int{}}
	for range 5 {
		if v := b.beat(c).values[blocked(waitDirtyThrottle)]; v != 1 {
			t.Errorf("%v threads throttled", v)
		}
	}
	if n := c.reads["proc/42/task/43/stack"]; n != 0 {
		t.Errorf("its stack was read %d times although it has not run", n)
	}
	tree.thread(43, "io", 'D', 0, 6, "jbd2_log_wait_commit")
	if got := b.beat(c).values; got[blocked(waitJournal)] != 1 || got[blocked(waitDirtyThrottle)] != 0 {
		t.Error("it moved, unseen")
	}
}

func TestReclaimOfRunningThreads(t *testing.T) {
	tree := newBrokerTree()
	tree.thread(43, "io", 'R', 0, 5, reclaims...)
	b := newBench(t, Config{Files: fakeFiles{}})
	b.beat(tree)
	if v := b.beat(tree).values[blocked(waitReclaim)]; v != 0 {
		t.Errorf("%v without pressure", v)
	}
	tree.Files["proc/pressure/memory"] = psi(500)
	if v := b.beat(tree).values[blocked(waitReclaim)]; v != 1 {
		t.Errorf("%v under pressure, want 1", v)
	}
	delete(tree.Files, "proc/pressure/memory")
	tree.Files["proc/vmstat"] = []byte("allocstall_dma 1\nallocstall_normal 5\n")
	b.beat(tree)
	tree.Files["proc/vmstat"] = []byte("allocstall_dma 1\nallocstall_normal 6\n")
	if v := b.beat(tree).values[blocked(waitReclaim)]; v != 1 {
		t.Errorf("%v with allocstall rising, want 1", v)
	}
}

func TestWhatCannotBeSeen(t *testing.T) {
	deny := func(tree brokerTree, file string, err error) {
		for _, tid := range []string{"42", "43"} {
			tree.Errs["proc/42/task/"+tid+"/"+file] = err
		}
	}
	for name, c := range map[string]struct {
		change  func(brokerTree)
		visible bool
		state   string
		mend    string
	}{
		"stack denied": {func(r brokerTree) { deny(r, "stack", fs.ErrPermission) }, true, "partial", "CAP_SYS_ADMIN"},
		"stack denied, wchan prints 0": {func(r brokerTree) {
			deny(r, "stack", fs.ErrPermission)
			r.Files["proc/42/task/42/wchan"], r.Files["proc/42/task/43/wchan"] = []byte("0"), []byte("0")
		}, false, "partial", "CAP_SYS_PTRACE"},
		"neither in this kernel":   {func(r brokerTree) { deny(r, "stack", fs.ErrNotExist); deny(r, "wchan", fs.ErrNotExist) }, false, "partial", "CAP_SYS_ADMIN"},
		"no stacks in this kernel": {func(r brokerTree) { deny(r, "stack", unix.ENOENT) }, true, "partial", "CAP_SYS_ADMIN"},
	} {
		tree := newBrokerTree()
		tree.thread(42, "main", 'S', 0, 5, futex...)
		tree.thread(43, "io", 'D', 0, 5, throttle...)
		c.change(tree)
		b := newBench(t, Config{Files: fakeFiles{}})
		var got beat
		for range maxProbes + 1 {
			got = b.beat(tree)
		}
		if v, ok := got.values[blocked(waitDirtyThrottle)]; ok != c.visible || ok && v != 1 {
			t.Errorf("%s: %v threads throttled, there %v", name, v, ok)
		}
		if cov := got.coverage["threads"]; string(cov.State) != c.state || !strings.Contains(cov.Mend, c.mend) {
			t.Errorf("%s: coverage %+v", name, cov)
		}
	}
}

// vanishing makes threads end between the listing and the reads.
type vanishing struct{ brokerTree }

func (v vanishing) Read(name string, buf []byte) ([]byte, error) {
	if strings.Contains(name, "/task/43/") {
		return nil, &fs.PathError{Op: "read", Path: name, Err: unix.ESRCH}
	}
	return v.brokerTree.Read(name, buf)
}

func TestThreadsThatVanish(t *testing.T) {
	tree := newBrokerTree()
	tree.thread(42, "main", 'S', 1e9, 5, futex...)
	tree.thread(43, "short", 'D', 1e9, 5, throttle...)
	got := newBench(t, Config{Files: fakeFiles{}}).beat(vanishing{tree})
	if c := got.coverage["threads"]; c.State != "ok" {
		t.Errorf("coverage %+v", c)
	}
	if got.values[state("S")] != 1 || got.values[runDelay] != 1 || got.values[state("D")] != 0 {
		t.Errorf("%v", got.values)
	}
}

func TestRecordedThreadsCountByPlace(t *testing.T) {
	tree := newBrokerTree()
	delete(tree.Files, "proc/42/cmdline")
	tree.thread(43, "ran on", 'S', 0, 5, futex...)
	tree.Files["proc/42/task/43/wchan"] = []byte("balance_dirty_pages")
	b := newBench(t, Config{WatchAllRecorded: true})
	got := b.beat(tree)
	if v := got.values["stallmark_blocked_threads{pid=42,process=java,wait=dirty_throttle}"]; v != 1 {
		t.Errorf("%v threads throttled, want 1: %v", v, sortedKeys(got.values, "stallmark_blocked"))
	}
	if told := blockedEvents(got); len(told) != 1 || told[0]["function"] != "balance_dirty_pages" {
		t.Errorf("events %v", told)
	}
}

func TestHostileThreadNames(t *testing.T) {
	tree := newBrokerTree()
	tree.thread(43, "a) D\n<b>\x1b[31m\xff", 'D', 0, 5, throttle...)
	got := newBench(t, Config{Files: fakeFiles{}}).beat(tree)
	told := blockedEvents(got)
	if len(told) != 1 || told[0]["thread"] != "a) D?<b>?[31m?" {
		t.Errorf("%q", told)
	}
}

func TestManyThreadsTakeTurns(t *testing.T) {
	tree := newBrokerTree()
	for i := range maxVisits + 500 {
		tree.thread(100+i, "t", 'R', 0, 5)
	}
	b := newBench(t, Config{Files: fakeFiles{}})
	got := b.beat(tree)
	if c := got.coverage["threads"]; c.State != "partial" {
		t.Errorf("coverage %+v", c)
	}
	if v := b.beat(tree).values[state("R")]; v != maxVisits+500 {
		t.Errorf("%v threads known after two beats", v)
	}
}

// listings counts how often the threads were listed.
type listings struct {
	collectors.Root
	n int
}

func (l *listings) ReadDir(name string) ([]string, error) {
	if strings.HasSuffix(name, "/task") {
		l.n++
	}
	return l.Root.ReadDir(name)
}

func TestThreadsAreListedOnceASecondWhenCalm(t *testing.T) {
	tree := newBrokerTree()
	tree.thread(42, "java", 'S', 1e9, 5, futex...)
	for _, alert := range []bool{false, true} {
		root := &listings{Root: tree.MapRoot}
		source, out, at := watchedThreads(t, root)
		source.(*threads).alert = func() bool { return alert }
		root.n = 0
		for range 30 {
			out.Reset(at)
			if err := source.Collect(root, out); err != nil {
				t.Fatal(err)
			}
			at = at.Add(100 * time.Millisecond)
		}
		if want := map[bool]int{false: 4, true: 30}[alert]; root.n != want { // at 0, 0.9, 1.8 and 2.7 s
			t.Errorf("alert %v: listed %d times in 3 s, want %d", alert, root.n, want)
		}
	}
}
