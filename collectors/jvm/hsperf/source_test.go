package hsperf

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"stallmark/collectors"
	"stallmark/collectors/jvm"
	"stallmark/collectors/process"
	"stallmark/storage/model"
)

// fakeTmp opens files below a folder, as if it were a process's root.
type fakeTmp struct {
	dir    string
	opened int
}

func (f *fakeTmp) Open(_ process.ID, path string) (*os.File, error) {
	f.opened++
	return os.Open(filepath.Join(f.dir, path))
}

func (f *fakeTmp) ReadDir(_ process.ID, path string, limit int) ([]string, error) {
	d, err := os.Open(filepath.Join(f.dir, path))
	if err != nil {
		return nil, err
	}
	defer d.Close()
	names, err := d.Readdirnames(limit)
	if errors.Is(err, io.EOF) {
		err = nil
	}
	return names, err
}

// begunAt is when the JVM of the dump java-17-G1GC began, as Unix time.
const begunAt = 1796082673

// host is a host on which process 42 is pid 7 in its container.
func host(t *testing.T, files map[string][]byte) (*Root, *fakeTmp, *collectors.MapRoot) {
	t.Helper()
	tmp := &fakeTmp{dir: t.TempDir()}
	for name, b := range files {
		path := filepath.Join(tmp.dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, b, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.MkdirAll(filepath.Join(tmp.dir, "tmp"), 0o755); err != nil {
		t.Fatal(err)
	}
	kernel := &collectors.MapRoot{Files: map[string][]byte{
		"proc/stat":      fmt.Appendf(nil, "cpu 1 2\nbtime %d\n", begunAt-100),
		"proc/42/stat":   []byte("42 (java) S 1 1 1 0 -1 0 0 0 0 0 0 0 0 0 20 0 9 0 9900 0 0 0\n"),
		"proc/42/status": []byte("Name:\tjava\nNSpid:\t42\t7\n"),
	}}
	return NewRoot(kernel, tmp), tmp, kernel
}

func collect(t *testing.T, s *Source, root collectors.Root, out *collectors.Out, at time.Time) (map[string]float64, []model.Event, error) {
	t.Helper()
	out.Reset(at)
	err := s.Collect(root, out)
	values := map[string]float64{}
	for _, v := range out.Samples() {
		if v.Series.Get("process") != "kafka-broker" || v.Series.Get("pid") != "42" {
			t.Errorf("labels of %s: %v", v.Series.Name, v.Series.Labels)
		}
		values[strings.TrimSpace(v.Series.Name+" "+v.Series.Get("gc"))] = v.Value
	}
	return values, out.Events(), err
}

func newTestSource(role string) *Source {
	return New(Config{ClockTicks: 100, Processes: func() []process.Process {
		return []process.Process{{ID: process.ID{Pid: 42, Start: 9900}, Name: "kafka-broker", Role: role}}
	}})
}

func TestSource(t *testing.T) {
	root, tmp, _ := host(t, map[string][]byte{"tmp/hsperfdata_app/7": dump(t, "java-17-G1GC.bin"), "tmp/other": nil})
	s, out := newTestSource("kafka-broker"), collectors.NewOut("hsperf")
	values, events, err := collect(t, s, root, out, time.Unix(begunAt+10, 0))
	if err != nil || len(events) != 0 {
		t.Fatalf("%v, events %v", err, events)
	}
	for name, want := range map[string]float64{
		"jvm_gc_collection_seconds_sum G1 Young Generation":       0.220351723,
		"jvm_gc_collection_seconds_count G1 Young Generation":     8,
		"jvm_gc_collection_seconds_count G1 Concurrent GC":        2,
		"stallmark_jvm_safepoints_total":                          10,
		"stallmark_jvm_safepoint_seconds_total":                   0.222796095 + 0.000139207,
		"stallmark_jvm_safepoint_reaching_seconds_total":          0.000139207,
		"stallmark_jvm_gc_running":                                0,
		"stallmark_jvm_gc_last_pause_seconds G1 Young Generation": 0.003814775,
	} {
		if got, ok := values[name]; !ok || got < want-1e-9 || got > want+1e-9 {
			t.Errorf("%s = %v (%v), want %v", name, got, ok, want)
		}
	}
	facts := map[string]string{}
	for _, f := range out.Facts() {
		facts[f.Key] = f.Value
	}
	if facts["process.42.jvm_policy"] != "GarbageFirst" || facts["process.42.hsperf_fstype"] == "" {
		t.Errorf("facts: %v", facts)
	}
	before := tmp.opened
	if _, _, err := collect(t, s, root, out, time.Unix(begunAt+11, 0)); err != nil || tmp.opened != before+1 {
		t.Errorf("%v; the second beat opened %d files, want the one that is known", err, tmp.opened-before)
	}
	before = tmp.opened
	again, _, err := collect(t, s, root, out, time.Unix(begunAt+11, 1e8))
	if err != nil || tmp.opened != before || !maps.Equal(again, values) {
		t.Errorf("a beat 100 ms later opened %d files and has %v, %v", tmp.opened-before, again, err)
	}
}

// setNumber changes a counter in a dump.
func setNumber(t *testing.T, b []byte, name string, v int64) {
	t.Helper()
	found := false
	if _, err := Parse(b, func(e Entry) {
		if string(e.Name) == name {
			binary.LittleEndian.PutUint64(b[e.at:], uint64(v))
			found = true
		}
	}); err != nil || !found {
		t.Fatalf("no counter %s: %v", name, err)
	}
}

// A new long pause is an event with the pause's own times; one under way is told.
func TestPauses(t *testing.T) {
	root, tmp, _ := host(t, map[string][]byte{"tmp/hsperfdata_app/7": dump(t, "java-17-G1GC.bin")})
	s, out := newTestSource("jvm"), collectors.NewOut("hsperf")
	if _, _, err := collect(t, s, root, out, time.Unix(begunAt+10, 0)); err != nil {
		t.Fatal(err)
	}
	b := dump(t, "java-17-G1GC.bin")
	setNumber(t, b, "sun.gc.collector.1.invocations", 1)
	setNumber(t, b, "sun.gc.collector.1.lastEntryTime", 5e9)
	setNumber(t, b, "sun.gc.collector.1.lastExitTime", 0)
	path := filepath.Join(tmp.dir, "tmp/hsperfdata_app/7")
	write := func() {
		t.Helper()
		if err := os.WriteFile(path, b, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write()
	values, events, err := collect(t, s, root, out, time.Unix(begunAt+11, 0))
	if err != nil || values["stallmark_jvm_gc_running"] != 1 || len(events) != 0 {
		t.Errorf("under way: %v, %v, %v", values["stallmark_jvm_gc_running"], events, err)
	}
	setNumber(t, b, "sun.gc.collector.1.lastExitTime", 8e9)
	setNumber(t, b, "sun.gc.collector.0.lastEntryTime", 9e9)
	setNumber(t, b, "sun.gc.collector.0.lastExitTime", 9.5e9)
	write()
	_, events, err = collect(t, s, root, out, time.Unix(begunAt+12, 0))
	if err != nil || len(events) != 1 {
		t.Fatalf("%v, events %+v: the full collection was the first that was seen to end", err, events)
	}
	e := events[0]
	if want := time.UnixMilli(begunAt*1000 + 511 + 9000); !e.From.Equal(want) || e.To.Sub(e.From) != 500*time.Millisecond ||
		e.Kind != model.EventPause || e.Attrs["kind"] != "young" || e.Attrs["ms"] != "500" {
		t.Errorf("got %+v", e)
	}
}

// TestPausesOfTheLogAreTheLogs has a JVM whose GC log is followed: the event is the
// log's, and only what the log does not have in time is told.
func TestPausesOfTheLogAreTheLogs(t *testing.T) {
	begin := time.UnixMilli(begunAt*1000 + 511)
	for name, c := range map[string]struct {
		followed bool
		logged   time.Duration // when the log's pause began, since the JVM began; negative: it has none
		late     int           // beats until the log tells it
		want     int           // the beat of the event; negative: none
		says     string
	}{
		"no log":            {false, -1, 0, 0, ""},
		"in the log":        {true, 9001 * time.Millisecond, 0, -1, ""},
		"in the log, later": {true, 9001 * time.Millisecond, 3, -1, ""},
		"not in the log":    {true, -1, 0, 5, "no"},
		"another pause":     {true, 2 * time.Second, 0, 5, "no"},
	} {
		t.Run(name, func(t *testing.T) {
			root, tmp, _ := host(t, map[string][]byte{"tmp/hsperfdata_app/7": dump(t, "java-17-G1GC.bin")})
			s, out := newTestSource("jvm"), collectors.NewOut("hsperf")
			s.cfg.Pauses = jvm.NewPauseBook()
			if c.followed {
				s.cfg.Pauses.Follow("42")
			}
			collect(t, s, root, out, time.Unix(begunAt+10, 0))
			b := dump(t, "java-17-G1GC.bin")
			setNumber(t, b, "sun.gc.collector.0.lastEntryTime", 9e9)
			setNumber(t, b, "sun.gc.collector.0.lastExitTime", 9.5e9)
			if err := os.WriteFile(filepath.Join(tmp.dir, "tmp/hsperfdata_app/7"), b, 0o600); err != nil {
				t.Fatal(err)
			}
			got, says := -1, ""
			for beat := range 10 {
				if c.logged >= 0 && beat == c.late {
					from := begin.Add(c.logged)
					s.cfg.Pauses.Logged("42", jvm.Witnessed{From: from, To: from.Add(495 * time.Millisecond), Slack: time.Millisecond})
				}
				_, events, err := collect(t, s, root, out, time.Unix(begunAt+20+int64(beat), 0))
				if err != nil {
					t.Fatal(err)
				}
				for _, e := range events {
					got, says = beat, e.Attrs["logged"]
				}
			}
			if got != c.want || says != c.says {
				t.Errorf("event in beat %d (%q), want %d (%q)", got, says, c.want, c.says)
			}
		})
	}
}

func TestSourceStates(t *testing.T) {
	old := dump(t, "java-17-G1GC.bin")
	setNumber(t, old, "sun.rt.createVmBeginTime", (begunAt-3600)*1000)
	starting := dump(t, "java-17-G1GC.bin")
	starting[offAccessible] = 0
	for name, c := range map[string]struct {
		file  []byte
		role  string
		err   error
		state model.SourceState
		says  string
	}{
		"left over":  {old, "jvm", nil, model.SourceAbsent, "left over"},
		"no file":    {nil, "jvm", nil, model.SourceAbsent, "no counter file"},
		"no JVM":     {nil, "other", nil, model.SourceAbsent, "no watched JVM"},
		"not ready":  {starting, "jvm", nil, model.SourceOK, ""},
		"other file": {[]byte(strings.Repeat("x", 100)), "jvm", nil, model.SourceFailed, "not a HotSpot counter file"},
		"forbidden":  {nil, "jvm", unix.EACCES, model.SourceDenied, "permission denied"},
	} {
		t.Run(name, func(t *testing.T) {
			files := map[string][]byte{}
			if c.file != nil {
				files["tmp/hsperfdata_app/7"] = c.file
			}
			root, _, kernel := host(t, files)
			if c.err != nil {
				kernel.Errs = map[string]error{"proc/42/status": c.err}
			}
			_, _, err := collect(t, newTestSource(c.role), root, collectors.NewOut("hsperf"), time.Unix(begunAt+10, 0))
			state, detail := model.SourceOK, ""
			if gap, ok := errors.AsType[*collectors.Gap](err); ok {
				state, detail = gap.State, gap.Detail
			} else if err != nil {
				state, detail = model.SourceFailed, err.Error()
			}
			if state != c.state || !strings.Contains(detail, c.says) {
				t.Errorf("%s: %q, want %s: %q", state, detail, c.state, c.says)
			}
		})
	}
}

// What a recording holds is what the live root gave.
func TestRecorded(t *testing.T) {
	root, _, kernel := host(t, map[string][]byte{"tmp/hsperfdata_app/7": dump(t, "java-17-G1GC.bin")})
	for _, name := range []string{counterName(42), placeName(42)} {
		b, err := root.Read(name, nil)
		if err != nil {
			t.Fatal(err)
		}
		kernel.Files[name] = b
	}
	values, _, err := collect(t, newTestSource("jvm"), kernel, collectors.NewOut("hsperf"), time.Unix(begunAt+10, 0))
	if err != nil || values["stallmark_jvm_safepoints_total"] != 10 {
		t.Errorf("%v, %v", err, values)
	}
	if _, err := root.Read("proc/43/hsperfdata", nil); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a process that is not there: %v", err)
	}
}
