package work

import (
	"bufio"
	"encoding/json"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"stallmark/cmd/stalldrill/host"
)

// asWorker makes this test binary a worker: a worker sets what concerns its
// whole process.
const asWorker = "STALLDRILL_TEST_WORKER"

func TestMain(m *testing.M) {
	if os.Getenv(asWorker) != "" {
		runtime.LockOSThread() // as main does: the first thread has the process's name
		if err := Run(host.Live(), os.Stdin, os.Stdout, os.Stderr); err != nil {
			os.Stderr.WriteString(err.Error())
			os.Exit(1)
		}
		os.Exit(0)
	}
	os.Exit(m.Run())
}

// process is a worker under test.
type process struct {
	cmd *exec.Cmd
	in  io.WriteCloser
	out *bufio.Reader
	err strings.Builder
}

func startWorker(t *testing.T, spec Spec) *process {
	t.Helper()
	p := &process{cmd: exec.Command("/proc/self/exe")}
	p.cmd.Env = append(os.Environ(), asWorker+"=1")
	p.cmd.Stderr = &p.err
	var err error
	if p.in, err = p.cmd.StdinPipe(); err != nil {
		t.Fatal(err)
	}
	out, err := p.cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	p.out = bufio.NewReader(out)
	if err := p.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	line, err := json.Marshal(spec)
	if err != nil {
		t.Fatal(err)
	}
	p.say(t, string(line))
	return p
}

func (p *process) say(t *testing.T, word string) {
	t.Helper()
	if _, err := io.WriteString(p.in, word+"\n"); err != nil {
		t.Fatal(err)
	}
}

func (p *process) hear(t *testing.T) string {
	t.Helper()
	line, err := p.out.ReadString('\n')
	if err != nil {
		t.Fatalf("%v: %s", err, p.err.String())
	}
	return strings.TrimSpace(line)
}

func TestWorkerMeasuresBothPhases(t *testing.T) {
	log := filepath.Join(t.TempDir(), "log")
	late := log + ".late"
	p := startWorker(t, Spec{Name: "drill-test", OOM: 1000, Tasks: []Task{
		{Name: "append", Do: Append, Path: log, Size: 1 << 20, Bytes: 4096},
		{Name: "late", Do: Append, Path: late, Size: 1 << 20, Bytes: 4096, Late: true},
	}})
	if got := p.hear(t); got != WordReady {
		t.Fatalf("got %q", got)
	}
	comm, err := host.Read(filepath.Join("/proc", "self", "comm"))
	if err != nil || comm == "drill-test" {
		t.Errorf("our own name is %q, %v", comm, err)
	}
	h := host.Live()
	if name, _ := host.Read(h.Process(p.cmd.Process.Pid, "comm")); name != "drill-test" {
		t.Errorf("the worker's name is %q", name)
	}
	if score, _ := host.Read(h.Process(p.cmd.Process.Pid, "oom_score_adj")); score != "1000" {
		t.Errorf("the worker's oom_score_adj is %q", score)
	}
	written := func(path string) func() bool {
		return func() bool { st, err := os.Stat(path); return err == nil && st.Size() > 0 }
	}
	waitFor(t, written(log))
	if written(late)() {
		t.Error("a late task has begun before the drill")
	}
	p.say(t, WordPrepare)
	p.say(t, WordDrill)
	waitFor(t, written(late))
	p.in.Close()
	var res Results
	if err := json.Unmarshal([]byte(p.hear(t)), &res); err != nil {
		t.Fatal(err)
	}
	if err := p.cmd.Wait(); err != nil {
		t.Error(err)
	}
	seen := map[string]bool{}
	for _, r := range res.Rows {
		seen[r.Operation+" "+r.Phase] = r.Count > 0 && r.Wait.Max >= r.Wait.P50
	}
	if !seen["append before"] || !seen["late drill"] || seen["late before"] {
		t.Errorf("rows: %v", seen)
	}
}

// waitFor polls what another process does; the test's own deadline bounds it.
func waitFor(t *testing.T, done func() bool) {
	t.Helper()
	for beat := time.NewTicker(5 * time.Millisecond); !done(); <-beat.C {
		if d, ok := t.Deadline(); ok && time.Until(d) < 5*time.Second {
			t.Fatal("it did not happen")
		}
	}
}

func TestWorkerEndsWithItsInput(t *testing.T) {
	p := startWorker(t, Spec{Name: "drill-test", Tasks: []Task{{Name: "tick", Do: Tick, Rate: 100}}})
	p.hear(t)
	p.in.Close()
	if err := p.cmd.Wait(); err != nil {
		t.Error(err)
	}
}

func TestWorkerTellsWhatItCannotPrepare(t *testing.T) {
	p := startWorker(t, Spec{Name: "drill-test", Tasks: []Task{{Name: "bad", Do: "dance"}}})
	if err := p.cmd.Wait(); err == nil || !strings.Contains(p.err.String(), "dance") {
		t.Errorf("got %v, %q", err, p.err.String())
	}
}

func TestUnservedStartsCount(t *testing.T) {
	th := &thread{}
	now := time.Now()
	th.unserved(drill, now.Add(-time.Second), 100*time.Millisecond)
	if n := th.wait[drill].Count(); n < 10 {
		t.Errorf("%d starts were missed in a second, want at least 10", n)
	}
	if got := th.wait[drill].Max(); got < time.Second {
		t.Errorf("the longest wait is %v, want a second at least", got)
	}
	if th.call[drill].Count() != 0 {
		t.Error("a call that never was is counted")
	}
}

func TestThreadsOfOneNameAreOneRow(t *testing.T) {
	a, b := &thread{task: Task{Name: "x"}}, &thread{task: Task{Name: "x"}}
	a.wait[drill].Add(1)
	b.wait[drill].Add(2)
	got := rows([]*thread{a, b, {task: Task{Name: "idle"}}})
	if len(got) != 1 || got[0].Count != 2 || got[0].Phase != "drill" {
		t.Errorf("got %+v", got)
	}
}
