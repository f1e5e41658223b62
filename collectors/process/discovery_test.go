package process

import (
	"io/fs"
	"maps"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"stallmark/collectors"
)

// names lists the watched processes with their pids.
func names(got beat) string {
	var out []string
	for _, k := range sortedKeys(got.values, "stallmark_process_info") {
		pid := k[strings.Index(k, "pid=")+4:]
		pid, rest, _ := strings.Cut(pid, ",")
		name, _, _ := strings.Cut(rest[len("process="):], ",")
		out = append(out, name+":"+pid)
	}
	return strings.Join(out, " ")
}

// beats runs n beats and returns the last.
func (b *bench) beats(root collectors.Root, n int) (got beat) {
	for range n {
		got = b.beat(root)
	}
	return got
}

func TestNamesAreStable(t *testing.T) {
	h := newHostTree()
	h.process(900, 10, "java", broker("/a")...)
	h.process(300, 20, "java", broker("/b")...)
	b := newBench(t, Config{Files: fakeFiles{}})
	if got := names(b.beat(h)); got != "rocketmq-broker-2:300 rocketmq-broker:900" {
		t.Errorf("%s: the older one has the plain name", got)
	}
	h.end(900)
	if got := names(b.beat(h)); got != "rocketmq-broker-2:300" {
		t.Errorf("%s after one ended", got)
	}
	h.process(901, 500, "java", broker("/a")...)
	if got := names(b.beats(h, 6)); got != "rocketmq-broker-2:300 rocketmq-broker:901" {
		t.Errorf("%s after it came back", got)
	}
}

func TestStartAndStop(t *testing.T) {
	h := newHostTree()
	h.process(42, 10, "java", broker("/a")...)
	b := newBench(t, Config{Files: fakeFiles{"/a": "brokerName=one\n"}})
	change := func(got beat) string {
		var out []string
		for _, e := range got.events {
			if e.Kind == "process" {
				out = append(out, e.Attrs["change"]+" "+e.Attrs["process"]+" "+e.Attrs["pid"])
			}
			if e.Kind == "setting" {
				out = append(out, "setting "+e.Attrs["key"])
			}
		}
		return strings.Join(out, ", ")
	}
	if got := change(b.beat(h)); got != "start rocketmq-broker 42" {
		t.Error(got)
	}
	h.process(42, 77, "java", "java", "kafka.Kafka", "/k") // the pid again, another process
	if got := change(b.beat(h)); got != "stop rocketmq-broker 42" {
		t.Error(got)
	}
	if got := change(b.beats(h, 4)); got != "start kafka-broker 42" {
		t.Errorf("%q: facts of the new process are no changes", got)
	}
	h.Files["proc/42/stat"] = []byte(strings.Replace(statOf(42, "java", 'Z', 77), " 1 0 77", " 1 0 77", 1))
	if got := change(b.beat(h)); got != "stop kafka-broker 42" {
		t.Errorf("a zombie: %q", got)
	}
}

func TestBrokerByExec(t *testing.T) {
	h := newHostTree()
	h.process(42, 10, "kafka-server-st", "/bin/bash", "/opt/kafka/bin/kafka-server-start.sh", "/k")
	b := newBench(t, Config{Files: fakeFiles{}})
	if got := names(b.beat(h)); got != "" {
		t.Fatalf("the script is watched: %s", got)
	}
	h.process(42, 10, "java", "java", "kafka.Kafka", "/k")
	if got := names(b.beats(h, 6)); got != "kafka-broker:42" {
		t.Errorf("%q after exec", got)
	}
	// Long after, by another command name.
	h.process(50, 11, "sh", "sh")
	b.beats(h, 30)
	h.process(50, 11, "java", "java", "kafka.Kafka", "/k2")
	if got := names(b.beats(h, 10)); got != "kafka-broker:42 kafka-broker-2:50" {
		t.Errorf("%q after a late exec", got)
	}
}

func TestWatchByName(t *testing.T) {
	h := newHostTree()
	h.process(50, 5, "redis-server", "/usr/bin/redis-server *:6379")
	h.process(51, 6, "java", "java", "-jar", "/srv/app.jar", "--password", "MARKER")
	h.process(52, 7, "x", "/opt/bin/etcd", "--name", "MARKER")
	h.process(53, 8, "nginx", "nginx")
	h.Files["proc/2/stat"] = []byte("2 (etcd) S 0 0 0 0 -1 2129984 0 0 0 0 0 0 0 0 20 0 1 0 1 0 0\n")
	b := newBench(t, Config{Files: fakeFiles{}, Watch: []string{"redis-server", "51", "etcd", ""}})
	got := b.beat(h)
	if n := names(got); n != "redis-server:50 java:51 x:52" {
		t.Errorf("watched: %s", n)
	}
	if r := got.facts["process.51.role"] + got.facts["process.50.role"]; r != "jvmother" {
		t.Errorf("roles %s", r)
	}
	noMarker(t, got)
}

func TestHostileCommandNames(t *testing.T) {
	h := newHostTree()
	h.process(50, 5, "x\n) S <script>", "a\x1b[2J")
	b := newBench(t, Config{Files: fakeFiles{}, Watch: []string{"50"}})
	if n := names(b.beat(h)); n != "x?) S <script>:50" {
		t.Errorf("%q", n)
	}
}

func TestTooManyBrokers(t *testing.T) {
	h := newHostTree()
	for i := range maxWatched + 5 {
		h.process(100+i, 10+i, "java", broker("/a")...)
	}
	got := newBench(t, Config{Files: fakeFiles{"/a": ""}}).beat(h)
	if n := len(sortedKeys(got.values, "stallmark_process_info")); n != maxWatched {
		t.Errorf("%d watched", n)
	}
	if c := got.coverage["brokers"]; c.State != "partial" {
		t.Errorf("coverage %+v", c)
	}
}

func TestHiddenProcesses(t *testing.T) {
	h := newHostTree()
	h.end(1)
	h.process(42, 10, "java", broker("")[:4]...)
	got := newBench(t, Config{Files: fakeFiles{}}).beat(h)
	if c := got.coverage["brokers"]; c.State != "partial" || !strings.Contains(c.Detail, "hidden") {
		t.Errorf("coverage %+v", c)
	}
}

func TestNothingToWatch(t *testing.T) {
	got := newBench(t, Config{Files: fakeFiles{}}).beat(newHostTree())
	for _, source := range []string{"brokers", "process", "process-limits", "cgroup", "threads"} {
		if c := got.coverage[source]; c.State != "absent" || c.Mend == "" {
			t.Errorf("%s: %+v", source, c)
		}
	}
	if n := len(sortedKeys(got.values, "stallmark_process")); n != 0 {
		t.Errorf("%d series of nothing", n)
	}
}

func TestChangedConfigurationIsRead(t *testing.T) {
	h := newHostTree()
	h.process(42, 10, "java", broker("/a")...)
	files := fakeFiles{"/a": "flushDiskType=ASYNC_FLUSH\n"}
	b := newBench(t, Config{Files: files})
	b.beat(h)
	files["/a"] = "flushDiskType=SYNC_FLUSH\n"
	if got := b.beats(h, 62); got.facts["process.42.config.flushDiskType"] != "SYNC_FLUSH" {
		t.Errorf("%v", got.facts)
	}
}

// TestHangingCommandLine: the read of one process's command line waits for its
// memory map for ever; the others are found, and it is when it answers.
func TestHangingCommandLine(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newHostTree()
		h.process(40, 9, "java", "java", "kafka.Kafka", "/k")
		h.process(42, 10, "java", broker("/a")...)
		root := &hanging{MapRoot: h.MapRoot, name: "proc/40/cmdline", release: make(chan struct{})}
		b := newBench(t, Config{Files: fakeFiles{"/k": "", "/a": ""}})
		got := b.beat(root)
		if n := names(got); n != "rocketmq-broker:42" {
			t.Errorf("watched: %q", n)
		}
		if c := got.coverage["brokers"]; c.State != "partial" || !strings.Contains(c.Detail, "hangs") {
			t.Errorf("coverage %+v", c)
		}
		if b.beats(root, 20); root.reads.Load() != 1 {
			t.Errorf("%d reads hang", root.reads.Load())
		}
		close(root.release)
		synctest.Wait()
		got = b.beat(root)
		if n := names(got); n != "kafka-broker:40 rocketmq-broker:42" {
			t.Errorf("watched: %q when it answered", n)
		}
		if c := got.coverage["brokers"]; c.State != "ok" {
			t.Errorf("coverage %+v", c)
		}
	})
}

// hanging is a root on which reading one file waits.
type hanging struct {
	*collectors.MapRoot
	name    string
	release chan struct{}
	reads   atomic.Int32
}

func (h *hanging) Read(name string, buf []byte) ([]byte, error) {
	if name == h.name {
		h.reads.Add(1)
		<-h.release
	}
	return h.MapRoot.Read(name, buf)
}

func TestRecordingWithoutCommandLines(t *testing.T) {
	h := newHostTree()
	h.process(50, 5, "inj", "x")
	h.process(51, 6, "inj", "x")
	h.process(52, 7, "no threads", "x")
	for _, pid := range []string{"50", "51", "52"} {
		delete(h.Files, "proc/"+pid+"/cmdline")
	}
	h.Files["proc/50/task/50/wchan"] = []byte("0")
	h.Files["proc/51/task/51/wchan"] = []byte("0")
	h.Files["proc/45/stat"] = []byte("45 (kswapd0) S 2 0 0 0 -1 2230336 0 0 0 0 0 456 0 0 20 0 1 0 40 0 0\n")
	h.Files["proc/45/task/45/wchan"] = []byte("kswapd")
	b := newBench(t, Config{WatchAllRecorded: true})
	if n := names(b.beat(h)); n != "inj:50 inj-2:51" {
		t.Errorf("watched: %q", n)
	}
	whole := maps.Clone(h.Files)
	h.end(50) // a tick lacks its files
	if n := names(b.beat(h)); n != "inj:50 inj-2:51" {
		t.Errorf("watched: %q in a beat without its files", n)
	}
	if n := names(b.beats(h, goneBeats)); n != "inj-2:51" {
		t.Errorf("watched: %q long after", n)
	}
	h.Files = whole
	if n := names(b.beat(h)); n != "inj:50 inj-2:51" {
		t.Errorf("watched: %q when it came back", n)
	}
}

// TestRecordingWithCommandLines: only what was watched live is in replay too,
// though other processes' threads are recorded.
func TestRecordingWithCommandLines(t *testing.T) {
	h := newHostTree()
	h.process(42, 10, "java", "java", "kafka.Kafka", "/k")
	h.process(50, 5, "dd", "dd")
	h.Files["proc/50/task/50/stat"] = h.Files["proc/50/stat"]
	facts := map[string]string{"process.42.config.process.roles": "controller", "process.42.store": "/meta", "process.42.config.secret": "MARKER"}
	b := newBench(t, Config{WatchAllRecorded: true, Recorded: facts})
	b.beat(h)
	h.process(60, 20, "late", "late")
	delete(h.Files, "proc/60/cmdline") // read in another beat
	h.Files["proc/60/task/60/stat"] = h.Files["proc/60/stat"]
	got := b.beats(h, 3)
	if n := names(got); n != "kafka-controller:42" {
		t.Errorf("watched: %q", n)
	}
	if got.facts["process.42.store"] != "/meta" {
		t.Errorf("%v", got.facts)
	}
	noMarker(t, got)
}

func TestProcIsMissing(t *testing.T) {
	root := &collectors.MapRoot{Errs: map[string]error{"proc": fs.ErrPermission}}
	got := newBench(t, Config{Files: fakeFiles{}}).beat(root)
	if c := got.coverage["brokers"]; c.State != "denied" || c.Since != epoch.Add(0*time.Second) {
		t.Errorf("coverage %+v", c)
	}
}
