package logs

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"stallmark/collectors"
	"stallmark/collectors/logs/match"
	"stallmark/collectors/process"
	"stallmark/storage/model"
)

func TestTargetsOf(t *testing.T) {
	id := process.ID{Pid: 42, Start: 7}
	for _, c := range []struct {
		name string
		proc process.Process
		want []string
	}{
		{"RocketMQ broker", process.Process{Role: "rocketmq-broker", Logs: "/home/r/logs/rocketmqlogs", GCLog: "/dev/shm/rmq_srv_gc_%p_%t.log", NSPid: 1}, []string{
			"text /home/r/logs/rocketmqlogs *.log", "gc /dev/shm rmq_srv_gc_1_*.log rmq_srv_gc_pid1_*.log",
		}},
		{"with folders of its own", process.Process{Role: "rocketmq-broker", Logs: "/h/logs/rocketmqlogs", LogDir: "broker-a_0"}, []string{
			"text /h/logs/rocketmqlogs *.log", "text /h/logs/rocketmqlogs/broker-a_0 *.log", "text /h/logs/rocketmqlogsbroker-a_0 *.log",
		}},
		{"name server", process.Process{Role: "rocketmq-namesrv", Logs: "/l"}, []string{"text /l namesrv*.log"}},
		{"Kafka", process.Process{Role: "kafka-broker", Logs: "/k", GCLog: "/k/kafkaServer-gc.log"}, []string{
			"text /k *.log", "text /k kafkaServer*.out", "gc /k kafkaServer-gc.log",
		}},
		{"in a container", process.Process{Role: "kafka-broker", Container: "c0ffee"}, []string{
			"text /var/lib/docker/containers/c0ffee c0ffee-json.log", "text /var/log/containers *-c0ffee.log",
		}},
		{"another program in a container", process.Process{Role: "jvm", Container: "c0ffee"}, nil},
		{"a GC log with odd characters", process.Process{Role: "jvm", GCLog: "/x/[a]*%%.log"}, []string{`gc /x \[a]\*%.log`}},
		{"nothing known", process.Process{Role: "kafka-broker"}, nil},
	} {
		c.proc.ID = id
		var got []string
		for _, target := range TargetsOf(c.proc) {
			got = append(got, strings.Join(append([]string{string(target.Kind), target.Folder}, target.Names...), " "))
			if (target.Owner != id) != strings.HasPrefix(target.Folder, "/var/") || target.Pid != 42 {
				t.Errorf("%s: owner %+v", c.name, target.Owner)
			}
		}
		if !slices.Equal(got, c.want) {
			t.Errorf("%s: got %q, want %q", c.name, got, c.want)
		}
	}
}

func TestProxyLogsAreTheBrokersUnlessAProxyRunsBeside(t *testing.T) {
	broker := process.Process{Role: "rocketmq-broker", Logs: "/l"}
	beside := process.Process{Role: "rocketmq-proxy", Logs: "/l"}
	if got := TargetsOf(broker, broker)[0].Except; slices.Contains(got, "proxy*.log") {
		t.Errorf("inside: without %q", got)
	}
	if got := TargetsOf(broker, broker, beside)[0].Except; !slices.Contains(got, "proxy*.log") {
		t.Errorf("beside: without %q", got)
	}
}

// jailed opens below a folder, as if that were a process's root.
type jailed struct{ root string }

func (j jailed) Open(_ process.ID, path string) (*os.File, error) {
	if strings.Contains(path, "secret") {
		return nil, fmt.Errorf("%w: the process may not read it", process.ErrRefused)
	}
	return os.Open(filepath.Join(j.root, path))
}

func (j jailed) OpenFolder(_ process.ID, path string) (*os.File, error) {
	return os.Open(filepath.Join(j.root, path))
}

// TestBrokerIsFollowedOverARestart runs follower, discovery and source together.
func TestBrokerIsFollowedOverARestart(t *testing.T) {
	root := t.TempDir()
	must(t, os.MkdirAll(filepath.Join(root, "logs"), 0o700))
	write := func(name, text string) {
		f, err := os.OpenFile(filepath.Join(root, "logs", name), os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
		must(t, err)
		_, err = f.WriteString(text)
		must(t, err)
		must(t, f.Close())
	}
	write("store.log", "")
	write("secret.log", "x\n")
	set, err := match.New([]model.LogPattern{inLock})
	must(t, err)
	now := time.Now
	source := NewSource(SourceConfig{Patterns: set, Known: []model.LogPattern{inLock}, Now: now})
	f := New(Config{Open: source.Open, Files: jailed{root}, Now: now})
	procs := []process.Process{{ID: process.ID{Pid: 42, Start: 1}, Name: "rocketmq-broker", Role: "rocketmq-broker", Logs: "/logs", GCLog: "/shm/gc.log"}}
	source.Follow(f, NewDiscovery(func() []process.Process { return procs }, nil))
	out := collectors.NewOut("logs")
	at := now()
	beat := func() { at = at.Add(time.Second); out.Reset(at); _ = source.Collect(nil, out) }
	go f.Run(t.Context())
	count := func(pid string) float64 {
		beat()
		total := 0.0
		for _, s := range out.Samples() {
			if s.Series.Name == "stallmark_log_matches_total" && s.Series.Get("source") == "/logs/store.log" && s.Series.Get("pid") == pid {
				total = s.Value
			}
		}
		return total
	}
	covered := func(name string) (state model.SourceState) {
		for _, c := range out.Covered() {
			if c.Source == name {
				state = c.State
			}
		}
		return state
	}
	until(t, func() bool { beat(); return covered("log /logs/store.log") == model.SourceOK })
	if covered("GC log of rocketmq-broker") != model.SourceAbsent || covered("log /logs/secret.log") != model.SourceDenied {
		t.Errorf("coverage %+v", out.Covered())
	}
	write("store.log", line(700))
	until(t, func() bool { return count("42") == 1 })
	if covered("logs of rocketmq-broker") != "" {
		t.Error("logs that are there are said to be missing")
	}
	procs = []process.Process{{ID: process.ID{Pid: 43, Start: 2}, Name: "rocketmq-broker", Role: "rocketmq-broker", Logs: "/logs"}}
	beat()
	beat()
	beat()
	time.Sleep(3 * pollFast)
	write("store.log", line(700)+line(800))
	until(t, func() bool { return count("43") == 2 })
}

// until waits for something that happens on other goroutines.
func until(t *testing.T, done func() bool) {
	t.Helper()
	for range 1000 {
		if done() {
			return
		}
		time.Sleep(10 * time.Millisecond)
	}
	t.Fatal("it does not happen")
}

func TestWhatCannotBeLookedForIsSaid(t *testing.T) {
	d := NewDiscovery(nil, nil)
	d.last = []process.Process{{Name: "kafka-broker", Role: "kafka-broker"}, {Name: "app", Role: "jvm"}}
	got := d.lacking()
	if len(got) != 2 || got[0].Source != "logs of kafka-broker" || got[1].Source != "GC log of kafka-broker" || got[1].Mend == "" {
		t.Errorf("%+v", got)
	}
}

// TestWhatIsPrintedTwiceIsReadOnce has a broker that writes the same lines into its own
// log and to its standard output, which is read only while the log is not written to.
func TestWhatIsPrintedTwiceIsReadOnce(t *testing.T) {
	root := t.TempDir()
	must(t, os.MkdirAll(filepath.Join(root, "k"), 0o700))
	must(t, os.WriteFile(filepath.Join(root, "k/kafkaServer.out"), nil, 0o600))
	got := &census{seen: map[string]int{}}
	f := New(Config{Open: func(*File) Consumer { return got }, Files: jailed{root}, Now: time.Now})
	procs := []process.Process{{ID: process.ID{Pid: 42, Start: 1}, Name: "kafka-broker", Role: "kafka-broker", Logs: "/k"}}
	d := NewDiscovery(func() []process.Process { return procs }, nil)
	at := time.Now()
	beat := func() { at = at.Add(discoverEvery); d.beat(f, at) }
	followed := func(want ...string) func() bool {
		return func() bool {
			beat()
			var names []string
			states, _ := f.Status()
			for _, s := range states {
				if s.Found {
					names = append(names, filepath.Base(s.File.Path))
				}
			}
			return slices.Equal(names, want)
		}
	}
	go f.Run(t.Context())
	until(t, followed("kafkaServer.out"))
	appendTo(t, filepath.Join(root, "k/kafkaServer.out"), "printed\n")
	until(t, func() bool { return got.count() == 1 })
	must(t, os.WriteFile(filepath.Join(root, "k/server.log"), []byte("written\n"), 0o600))
	until(t, followed("server.log"))
	appendTo(t, filepath.Join(root, "k/server.log"), "both\n")
	appendTo(t, filepath.Join(root, "k/kafkaServer.out"), "written\nboth\n")
	until(t, func() bool { return got.count() == 3 })
	for _, line := range []string{"printed", "written", "both"} {
		if got.seen[line] != 1 {
			t.Errorf("%q came %d times", line, got.seen[line])
		}
	}
	at = at.Add(2 * silentFor)
	until(t, followed("server.log", "kafkaServer.out"))
}
