package drill

import (
	"encoding/json"
	"io"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"stallmark/cmd/stalldrill/host"
)

func TestDrillRunsAndRestores(t *testing.T) {
	l := newLab(t)
	l.For = 300 * time.Millisecond
	cmd, _, out := l.start(t)
	rest, err := io.ReadAll(out)
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Wait(); err != nil {
		t.Fatalf("%v: %s", err, rest)
	}
	var res Result
	if err := json.Unmarshal(rest, &res); err != nil {
		t.Fatalf("%v: %s", err, rest)
	}
	if !res.Provoked || res.Cut != "" || len(res.Victim) == 0 || len(res.Errors)+len(res.Restored.Problems) > 0 {
		t.Errorf("result: %+v", res)
	}
	l.untouched(t)
}

func TestFreezeStopsTheVictimAndLetsItGo(t *testing.T) {
	l := newLab(t)
	l.For, l.Freeze = 1200*time.Millisecond, 500*time.Millisecond
	cmd, _, out := l.start(t)
	rest, err := io.ReadAll(out)
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Wait(); err != nil {
		t.Fatalf("%v: %s", err, rest)
	}
	var res Result
	if err := json.Unmarshal(rest, &res); err != nil {
		t.Fatalf("%v: %s", err, rest)
	}
	if !res.Provoked || res.Waits["stopped"] == 0 {
		t.Errorf("the victim was not stopped: %+v", res.Waits)
	}
	if len(res.Victim) == 0 || len(res.Errors) > 0 {
		t.Errorf("the victim did not go on: %+v, %v", res.Victim, res.Errors)
	}
	l.untouched(t)
}

func TestInterruptedDrillRestores(t *testing.T) {
	l := newLab(t)
	cmd, in, out := l.start(t)
	l.changed(t)
	in.Close() // as a signal does, it ends the context
	rest, err := io.ReadAll(out)
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Wait(); err != nil {
		t.Fatalf("%v: %s", err, rest)
	}
	if !strings.Contains(string(rest), `"cut":"interrupted"`) {
		t.Errorf("said: %s", rest)
	}
	l.untouched(t)
}

// children are the processes of a drill, the guard among them.
func children(t *testing.T, parent int) []int {
	t.Helper()
	text, err := host.Read(filepath.Join(host.Live().Process(parent, "task"), strconv.Itoa(parent), "children"))
	if err != nil {
		t.Skip("this kernel does not list children: ", err)
	}
	var pids []int
	for word := range strings.FieldsSeq(text) {
		pid, err := strconv.Atoi(word)
		if err != nil {
			t.Fatal(err)
		}
		pids = append(pids, pid)
	}
	return pids
}

func TestGuardRestoresAfterSIGKILL(t *testing.T) {
	l := newLab(t)
	cmd, _, out := l.start(t)
	l.changed(t)
	if err := cmd.Process.Signal(syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	rest, err := io.ReadAll(out) // until the guard is gone, and all workers
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Wait(); err == nil {
		t.Error("a killed drill ended well")
	}
	if !strings.Contains(string(rest), "the drill was killed; restored") {
		t.Errorf("the guard said: %s", rest)
	}
	l.untouched(t)
}

// A stopped worker reads nothing and cannot end by itself.
func TestGuardRestoresAfterSIGKILLWithAStoppedWorker(t *testing.T) {
	l := newLab(t)
	cmd, _, out := l.start(t)
	for _, pid := range children(t, cmd.Process.Pid) {
		if comm, _ := host.Read(l.Host.Process(pid, "comm")); comm == VictimName {
			if err := unix.Kill(pid, unix.SIGSTOP); err != nil {
				t.Fatal(err)
			}
		}
	}
	if err := cmd.Process.Signal(syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	if _, err := io.ReadAll(out); err != nil {
		t.Fatal(err)
	}
	_ = cmd.Wait()
	l.untouched(t)
}

func TestDrillEndsWithItsGuard(t *testing.T) {
	l := newLab(t)
	cmd, _, out := l.start(t)
	for _, pid := range children(t, cmd.Process.Pid) {
		if line, _ := host.Read(l.Host.Process(pid, "cmdline")); strings.Contains(line, GuardCommand) {
			if err := unix.Kill(pid, unix.SIGKILL); err != nil {
				t.Fatal(err)
			}
		}
	}
	rest, err := io.ReadAll(out)
	if err != nil {
		t.Fatal(err)
	}
	_ = cmd.Wait()
	if !strings.Contains(string(rest), "the guard is gone") {
		t.Errorf("said: %s", rest)
	}
	l.untouched(t)
}

func TestDrillEndsWithAWorker(t *testing.T) {
	l := newLab(t)
	cmd, _, out := l.start(t)
	for _, pid := range children(t, cmd.Process.Pid) {
		if comm, _ := host.Read(l.Host.Process(pid, "comm")); comm == LoadName {
			if err := unix.Kill(pid, unix.SIGKILL); err != nil {
				t.Fatal(err)
			}
		}
	}
	rest, err := io.ReadAll(out)
	if err != nil {
		t.Fatal(err)
	}
	_ = cmd.Wait()
	if !strings.Contains(string(rest), "drill-load ended too early") {
		t.Errorf("said: %s", rest)
	}
	l.untouched(t)
}
