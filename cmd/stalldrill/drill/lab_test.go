package drill

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"runtime"
	"strconv"
	"strings"
	"testing"
	"time"

	"stallmark/cmd/stalldrill/host"
	"stallmark/cmd/stalldrill/undo"
	"stallmark/cmd/stalldrill/work"
)

// asDrill makes this test binary a whole drill, with what it needs as JSON.
const asDrill = "STALLDRILL_TEST_DRILL"

// lab is a machine of which only the settings are made up.
type lab struct {
	Host   host.Host
	Dir    string
	For    time.Duration
	Freeze time.Duration
}

func TestMain(m *testing.M) {
	text := os.Getenv(asDrill)
	if text == "" {
		os.Exit(m.Run())
	}
	runtime.LockOSThread()
	var l lab
	err := json.Unmarshal([]byte(text), &l)
	switch {
	case err != nil:
	case len(os.Args) > 1 && os.Args[1] == WorkCommand:
		err = work.Run(l.Host, os.Stdin, os.Stdout, os.Stderr)
	case len(os.Args) > 2 && os.Args[1] == GuardCommand:
		err = undo.RunGuard(l.Host, os.Args[2], os.Stderr)
	default:
		err = l.drill()
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	os.Exit(0)
}

// mode changes two made-up settings and writes a little.
func (l lab) mode() Mode {
	return Mode{
		Name: "lab", Disk: 1 * mib, Signs: []Sign{{Counter: "wait.stopped", None: l.Freeze == 0, AtLeast: 0.1}},
		Plan: func(f Facts) Plan {
			log := work.Task{Name: "append", Do: work.Append, Path: f.file("log"), Size: 64 * kib, Bytes: 4 * kib, Rate: 200}
			return Plan{
				Victim:   []work.Task{log},
				Freeze:   l.Freeze,
				Loads:    []work.Spec{load(work.Task{Name: "tick", Do: work.Tick, Rate: 100})},
				Settings: []Setting{f.sysctl("vm/dirty_bytes", "4096"), f.sysctl("vm/swappiness", "1")},
			}
		},
	}
}

// drill runs until it is told to stop, or its time is over, and prints its
// result.
func (l lab) drill() error {
	lock, err := undo.Lock(l.Host.Lock)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithCancel(context.Background())
	go func() {
		_, _ = io.ReadAll(os.Stdin)
		cancel()
	}()
	res, err := Run(ctx, Config{
		Host: l.Host, Dir: l.Dir, For: l.For, Program: "/proc/self/exe", Lock: lock, Limits: Limits{AnyDisk: true},
		Log: func(format string, args ...any) { fmt.Printf(format+"\n", args...) },
	}, l.mode())
	if err != nil {
		return err
	}
	return json.NewEncoder(os.Stdout).Encode(res)
}

// newLab makes a folder of settings and one for the drill.
func newLab(t *testing.T) lab {
	t.Helper()
	l := lab{Host: host.Live(), Dir: t.TempDir(), For: time.Hour}
	l.Host.Sysctls = t.TempDir()
	l.Host.Lock = "@stalldrill-test-" + strconv.Itoa(os.Getpid()) + t.Name()
	if err := os.Mkdir(l.Host.Sysctl("vm"), 0o755); err != nil {
		t.Fatal(err)
	}
	for name, v := range l.settings() {
		if err := os.WriteFile(l.Host.Sysctl(name), []byte(v), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return l
}

// settings are those of the machine before the drill.
func (l lab) settings() map[string]string {
	return map[string]string{"vm/dirty_bytes": "1048576", "vm/dirty_ratio": "0", "vm/swappiness": "60"}
}

// start runs the drill as a process and waits until it has begun. The reader is
// at its end only when the drill, its workers and its guard are all gone.
func (l lab) start(t *testing.T) (*exec.Cmd, io.Closer, *bufio.Reader) {
	t.Helper()
	text, err := json.Marshal(l)
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command("/proc/self/exe")
	cmd.Env = append(os.Environ(), asDrill+"="+string(text))
	ours, theirs, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { ours.Close() })
	cmd.Stdout, cmd.Stderr = theirs, theirs
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	theirs.Close()
	out := bufio.NewReader(ours)
	for line := ""; !strings.Contains(line, "begins"); {
		if line, err = out.ReadString('\n'); err != nil {
			t.Fatalf("the drill did not begin: %v", err)
		}
	}
	return cmd, in, out
}

// untouched tells what the drill has left behind.
func (l lab) untouched(t *testing.T) {
	t.Helper()
	for name, want := range l.settings() {
		if got, err := host.Read(l.Host.Sysctl(name)); err != nil || got != want {
			t.Errorf("%s is %s, %v, want %s", name, got, err, want)
		}
	}
	left, err := os.ReadDir(l.Dir)
	if err != nil || len(left) > 0 {
		t.Errorf("left behind: %v, %v", left, err)
	}
	if lock, err := undo.Lock(l.Host.Lock); err != nil {
		t.Errorf("the lock is held: %v", err)
	} else {
		lock.Close()
	}
}

func (l lab) changed(t *testing.T) {
	t.Helper()
	if got, err := host.Read(l.Host.Sysctl("vm/dirty_bytes")); err != nil || got != "4096" {
		t.Fatalf("the drill has not changed its setting: %s, %v", got, err)
	}
}
