package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"stallmark/collectors"
	"stallmark/storage/model"
)

// selfLab is the source "self" on canned processes.
type selfLab struct {
	source *selfSource
	root   *collectors.MapRoot
	cpu    map[int]time.Duration
	pid    int
	looks  int
	out    *collectors.Out
}

func newSelfLab(lacks protection) *selfLab {
	l := &selfLab{
		root: &collectors.MapRoot{Files: map[string][]byte{
			"proc/self/statm": []byte("9000 1000 500 1 0 2 0\n"), "proc/77/statm": []byte("9000 2000 500 1 0 2 0\n"),
		}},
		cpu: map[int]time.Duration{0: time.Second, 77: 2 * time.Second}, pid: 77, out: collectors.NewOut("self"),
	}
	l.source = newSelfSource(4096, lacks, func() int { return l.pid })
	l.source.root = l.root
	l.source.cpu = func(pid int) (time.Duration, error) {
		l.looks++
		if d, ok := l.cpu[pid]; ok {
			return d, nil
		}
		return 0, errors.New("no such process")
	}
	return l
}

// beat gives the values by name and process, and the coverage.
func (l *selfLab) beat(at time.Time) (string, *collectors.Gap) {
	l.out.Reset(at)
	err := l.source.Collect(nil, l.out)
	var parts []string
	for _, s := range l.out.Samples() {
		name := strings.TrimSuffix(strings.TrimPrefix(s.Series.Name, "stallmark_self_"), "_total")
		parts = append(parts, fmt.Sprintf("%s %s %v", s.Series.Get("process"), name, s.Value))
	}
	gap := &collectors.Gap{}
	errors.As(err, &gap)
	return strings.Join(parts, ", "), gap
}

func TestSelf(t *testing.T) {
	l := newSelfLab(protection{})
	const both = "recorder cpu_seconds 1, recorder resident_memory_bytes 4.096e+06, storage cpu_seconds 2, storage resident_memory_bytes 8.192e+06"
	got, gap := l.beat(epoch)
	if got != both || gap.Detail != "" {
		t.Errorf("%s; %v", got, gap)
	}
	l.cpu[0] = 5 * time.Second
	if got, _ := l.beat(epoch.Add(100 * time.Millisecond)); got != both || l.looks != 2 {
		t.Errorf("within a second: %s after %d looks, want the same", got, l.looks)
	}
	if got, _ := l.beat(epoch.Add(time.Second)); !strings.HasPrefix(got, "recorder cpu_seconds 5,") {
		t.Errorf("a second later: %s", got)
	}
	if got, _ := l.beat(epoch.Add(-time.Hour)); l.looks != 6 {
		t.Errorf("after the clock went back: %s after %d looks", got, l.looks)
	}
}

func TestSelfWithoutTheStoringProcess(t *testing.T) {
	l := newSelfLab(protection{})
	l.pid = 0
	const alone = "recorder cpu_seconds 1, recorder resident_memory_bytes 4.096e+06"
	if got, gap := l.beat(epoch); got != alone || gap.Detail != "" {
		t.Errorf("%s; %v: that it does not run is the store's to say", got, gap)
	}
	l.pid = 78
	if got, gap := l.beat(epoch.Add(time.Second)); got != alone || gap.State != model.SourcePartial || !strings.Contains(gap.Detail, "storage: no such process") {
		t.Errorf("%s; %v", got, gap)
	}
	l.root.Files["proc/self/statm"] = []byte("garbage")
	if _, gap := l.beat(epoch.Add(2 * time.Second)); gap.State != model.SourcePartial {
		t.Errorf("%v", gap)
	}
}

func TestWrittenBytes(t *testing.T) {
	for text, want := range map[string]float64{
		"rchar: 9\nwrite_bytes: 4096\ncancelled_write_bytes: 12\n": 4096,
		"cancelled_write_bytes: 12\n":                              -1,
		"write_bytes: x\n":                                         -1,
		"":                                                         -1,
	} {
		if got := writtenBytes([]byte(text)); got != want {
			t.Errorf("%q: %v, want %v", text, got, want)
		}
	}
}

func TestSelfSaysWhatItLacks(t *testing.T) {
	_, gap := newSelfLab(protection{pageable: "pages", killable: "score"}).beat(epoch)
	if gap.State != model.SourcePartial || gap.Detail != "pages; score" || !strings.Contains(gap.Mend, "LimitMEMLOCK=infinity") || !strings.Contains(gap.Mend, "OOMScoreAdjust=-900") {
		t.Errorf("%+v", gap)
	}
	_, gap = newSelfLab(protection{killable: "score"}).beat(epoch)
	if gap.Detail != "score" || strings.Contains(gap.Mend, "MEMLOCK") {
		t.Errorf("%+v", gap)
	}
}

func TestSelfIsThisProcess(t *testing.T) {
	l := newSelfSource(os.Getpagesize(), protection{}, os.Getpid)
	out := collectors.NewOut("self")
	out.Reset(epoch)
	if err := l.Collect(nil, out); err != nil {
		t.Fatal(err)
	}
	if n := len(out.Samples()); n != 6 {
		t.Fatalf("%d samples, want 6", n)
	}
	for _, s := range out.Samples() {
		if s.Value < 0 || s.Value == 0 && s.Series.Name != "stallmark_self_written_bytes_total" {
			t.Errorf("%v = %v", s.Series, s.Value)
		}
	}
	own, other := out.Samples()[0].Value, out.Samples()[3].Value
	if other < own || other > own+5 {
		t.Errorf("by its own clock %v s, by that of its pid %v s", own, other)
	}
	if _, err := cpuTime(1<<22 + 5); err == nil {
		t.Error("a process that cannot be has CPU time")
	}
}

func TestGoBefore(t *testing.T) {
	cmd := exec.Command("sleep", "600")
	if err := cmd.Start(); err != nil {
		t.Skip(err)
	}
	defer func() { _ = cmd.Process.Kill(); _ = cmd.Wait() }()
	folder := filepath.Join("/proc", strconv.Itoa(cmd.Process.Pid), "task")
	for range 2 { // the second time nothing is to be done
		why := goBefore(folder)
		now, err := unix.Getpriority(unix.PRIO_PROCESS, cmd.Process.Pid)
		if err != nil || (20-now == niceness) != (why == "") {
			t.Errorf("niceness %d, %v, %q", 20-now, err, why)
		}
	}
	if why := goBefore(filepath.Join(t.TempDir(), "none")); why == "" {
		t.Error("threads that cannot be listed are fine")
	}
	if detail, mend := (protection{waiting: "slow"}).gap(); detail != "slow" || !strings.Contains(mend, "Nice=-10") {
		t.Errorf("%q, %q", detail, mend)
	}
}

func TestLowerOOMScore(t *testing.T) {
	file := filepath.Join(t.TempDir(), "oom_score_adj")
	write := func(text string) {
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for before, after := range map[string]string{"0\n": "-900", "500": "-900", "-900\n": "-900\n", "-1000\n": "-1000\n"} {
		write(before)
		why := lowerOOMScore(file)
		if got, err := os.ReadFile(file); err != nil || string(got) != after || why != "" {
			t.Errorf("%q: became %q, %v, %q; want %q", before, got, err, why, after)
		}
	}
	write("x")
	if why := lowerOOMScore(file); why == "" {
		t.Error("a score that is no number is fine")
	}
	if why := lowerOOMScore(t.TempDir()); why == "" {
		t.Error("a score that cannot be read is fine")
	}
}

// TestFavourSession writes what the kernel wants, and makes no file where it has none.
func TestFavourSession(t *testing.T) {
	file := filepath.Join(t.TempDir(), "autogroup")
	favourSession(file)
	if _, err := os.Stat(file); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a file was made: %v", err)
	}
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	favourSession(file)
	if got, err := os.ReadFile(file); string(got) != "-10" || err != nil {
		t.Errorf("%q, %v", got, err)
	}
}
