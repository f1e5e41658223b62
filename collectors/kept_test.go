package collectors

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"sync"
	"testing"

	"golang.org/x/sys/unix"
)

func liveProc() *LiveRoot { return NewLiveRoot(Paths{Procfs: "/proc", Sysfs: "/sys", Rootfs: "/"}) }

func TestKeptFilesAreReadAnew(t *testing.T) {
	r := liveProc()
	name := fmt.Sprintf("proc/%d/stat", os.Getpid())
	var last string
	changed := false
	for range 10 {
		got, err := r.Read(name, nil)
		if err != nil || len(got) == 0 || got[len(got)-1] != '\n' {
			t.Fatalf("%q, %v", got, err)
		}
		changed = changed || last != "" && last != string(got)
		last = string(got)
		for range 100_000 { // CPU time passes
			_ = unix.Getpid()
		}
	}
	if r.kept.open != 1 {
		t.Errorf("%d files are kept open, want one", r.kept.open)
	}
	if !changed {
		t.Error("all readings were the same")
	}
}

func TestKeptFileOfAProcessThatEnds(t *testing.T) {
	cmd := exec.Command("sleep", "600")
	if err := cmd.Start(); err != nil {
		t.Skip(err)
	}
	r := liveProc()
	name := "proc/" + strconv.Itoa(cmd.Process.Pid) + "/stat"
	for range 3 {
		if _, err := r.Read(name, nil); err != nil {
			t.Fatal(err)
		}
	}
	if err := cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = cmd.Wait()
	if got, err := r.Read(name, nil); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("after its end: %q, %v; want fs.ErrNotExist", got, err)
	}
	if r.kept.open != 0 {
		t.Errorf("%d files are kept open, want none", r.kept.open)
	}
}

func TestFilesElsewhereAreNotKept(t *testing.T) {
	dir := t.TempDir()
	r := NewLiveRoot(Paths{Procfs: dir})
	path := filepath.Join(dir, "loadavg")
	for i := range 4 { // each time another file under the name
		_ = os.Remove(path)
		if err := os.WriteFile(path, []byte(strconv.Itoa(i)), 0o600); err != nil {
			t.Fatal(err)
		}
		if got, err := r.Read("proc/loadavg", nil); err != nil || string(got) != strconv.Itoa(i) {
			t.Errorf("reading %d: %q, %v", i, got, err)
		}
	}
}

func TestKeptIsBounded(t *testing.T) {
	var k kept
	open := func() int {
		fd, err := unix.Open(os.DevNull, unix.O_RDONLY|unix.O_CLOEXEC, 0)
		if err != nil {
			t.Fatal(err)
		}
		return fd
	}
	for i := range maxKept + 10 {
		name := strconv.Itoa(i)
		k.take(name)
		k.put(name, open())
	}
	if k.open != maxKept {
		t.Errorf("%d are open, want %d", k.open, maxKept)
	}
	for range 2 * sweepEvery {
		if fd, _ := k.take("0"); fd >= 0 {
			k.put("0", fd)
		}
	}
	if k.open != 1 || len(k.files) != 1 {
		t.Errorf("after two sweeps %d are open of %d, want the one that is read", k.open, len(k.files))
	}
	if fd, _ := k.take("0"); fd < 0 {
		t.Error("the one that is read was closed")
	}
}

func TestKeptFilesAreNotShared(t *testing.T) {
	r := liveProc()
	var all sync.WaitGroup
	for range 8 {
		all.Go(func() {
			var buf []byte
			var err error
			for range 200 {
				if buf, err = r.Read("proc/vmstat", buf); err != nil || buf[len(buf)-1] != '\n' {
					t.Errorf("%d bytes, %v", len(buf), err)
				}
			}
		})
	}
	all.Wait()
	if r.kept.open != 1 {
		t.Errorf("%d files are kept open, want one", r.kept.open)
	}
}

func TestKeepable(t *testing.T) {
	for name, want := range map[string]bool{
		"proc/vmstat":                         true,
		"proc/pressure/io":                    true,
		"proc/12/stat":                        true,
		"proc/self/statm":                     true,
		"proc/12/task/13/schedstat":           true,
		"proc/sys/vm/swappiness":              true,
		"sys/fs/cgroup/memory/x/memory.stat":  true,
		"proc/12/maps":                        false,
		"proc/12/mountinfo":                   false,
		"proc/12/environ":                     false,
		"proc/12/task/13/stack":               false,
		"proc/mounts":                         false,
		"proc/self/mounts":                    false,
		"sys/block/vda/size":                  false,
		"root/etc/os-release":                 false,
		"proc/":                               true, // no file: opening it fails
		"":                                    false,
		"proc/net/dev":                        false,
		"proc/sys/kernel/random/uuid":         false,
		"sys/kernel/debug/tracing/trace_pipe": false,
	} {
		if got := keepable(name); got != want {
			t.Errorf("%q: %v, want %v", name, got, want)
		}
	}
}
