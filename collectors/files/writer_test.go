package files

import (
	"archive/tar"
	"bytes"
	"errors"
	"io"
	"io/fs"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"stallmark/collectors"
	"stallmark/storage/model"
)

// start is the time of the first beat in these tests.
var testStart = time.Date(2026, 3, 1, 3, 12, 0, 123456789, time.UTC)

func testMeta() Meta {
	return Meta{
		Stallmark: "test", IntervalMS: 1000, Hostname: "broker-07", Kernel: "6.1.0",
		PageSize: 65536, ClockTicks: 100, Watch: []string{"java"},
	}
}

// testHost is a small host; its vmstat changes every beat.
func testHost(beat int) *collectors.MapRoot {
	return &collectors.MapRoot{
		Files: map[string][]byte{
			"proc/vmstat":             []byte("nr_dirty " + strings.Repeat("1", beat+1) + "\n"),
			"proc/sys/vm/dirty_bytes": []byte("0\n"),
			"proc/42/cmdline":         []byte("java\x00-Dpassword=hunter2\x00"),
			"proc/42/environ":         []byte("SECRET=hunter2\x00"),
			"root/etc/broker.conf":    []byte("accessKey=hunter2\n"),
			"proc/42/stat":            []byte("42 (java) S\n"),
			"proc/42/root/etc/x":      []byte("hunter2"),
			"sys/block/vda/size":      []byte("8\n"),
		},
		Links: map[string]string{"proc/42/exe": "/usr/bin/java"},
		Errs:  map[string]error{"proc/pressure/cpu": unix.EOPNOTSUPP, "proc/42/io": unix.EACCES},
	}
}

// readAll reads as sources would and fails the test on an unexpected error.
func readAllOf(t *testing.T, r collectors.Root, names ...string) {
	t.Helper()
	for _, name := range names {
		if _, err := r.Read(name, nil); err != nil {
			t.Fatal(err)
		}
	}
}

// record makes a recording of the small host, two beats or more.
func record(t *testing.T, beats int, filter func(string, []byte) []byte) []byte {
	t.Helper()
	var out bytes.Buffer
	w, err := NewWriter(&out, WriterConfig{Meta: testMeta(), Root: testHost(0), Filter: filter, Patient: true})
	if err != nil {
		t.Fatal(err)
	}
	for beat := range beats {
		w.SetRoot(testHost(beat))
		at := testStart.Add(time.Duration(beat) * time.Second)
		readAllOf(t, w, "proc/vmstat", "proc/42/cmdline", "proc/42/environ", "root/etc/broker.conf", "proc/42/root/etc/x", "proc/42/stat")
		if beat%5 == 0 {
			readAllOf(t, w, "proc/sys/vm/dirty_bytes")
			w.Fact(model.Fact{At: at, Key: "sysctl.vm.dirty_bytes", Value: strings.Repeat("0", beat+1)})
		}
		for _, name := range []string{"proc/pressure/cpu", "proc/42/io", "proc/none"} {
			if _, err := w.Read(name, nil); err == nil {
				t.Fatalf("%s: no error", name)
			}
		}
		if _, err := w.ReadDir("proc"); err != nil {
			t.Fatal(err)
		}
		if _, err := w.ReadLink("proc/42/exe"); err != nil {
			t.Fatal(err)
		}
		w.Commit(at)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

// replayed collects all ticks and fails the test on an error.
func replayed(t *testing.T, rec *Recording) []Tick {
	t.Helper()
	var ticks []Tick
	for tick, err := range rec.Ticks() {
		if err != nil {
			t.Fatal(err)
		}
		ticks = append(ticks, tick)
	}
	return ticks
}

func open(t *testing.T, data []byte) *Recording {
	t.Helper()
	rec, err := NewReader(bytes.NewReader(data), DefaultLimits())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { rec.Close() })
	return rec
}

func TestRecordingRoundTrip(t *testing.T) {
	rec := open(t, record(t, 7, nil))
	m := rec.Meta()
	if m.Format != FormatVersion || m.PageSize != 65536 || m.Interval() != time.Second || m.Hostname != "broker-07" || !m.Start.Equal(testStart) {
		t.Errorf("meta = %+v", m)
	}
	if m.Facts["sysctl.vm.dirty_bytes"] != "0" {
		t.Errorf("facts at the start = %v", m.Facts)
	}
	ticks := replayed(t, rec)
	if len(ticks) != 7 {
		t.Fatalf("%d ticks, want 7", len(ticks))
	}
	for i, tick := range ticks {
		if want := testStart.Add(time.Duration(i) * time.Second); !tick.At.Equal(want) || tick.Number != i {
			t.Errorf("tick %d at %v, number %d, want %v", i, tick.At, tick.Number, want)
		}
		for _, name := range []string{"proc/vmstat", "proc/42/stat"} {
			got, err := tick.Root.Read(name, nil)
			want, _ := testHost(i).Read(name, nil)
			if err != nil || !bytes.Equal(got, want) {
				t.Errorf("tick %d: %s = %q, %v, want %q", i, name, got, err, want)
			}
		}
	}
	if got := ticks[5].Facts["sysctl.vm.dirty_bytes"]; got != "000000" {
		t.Errorf("changed fact = %q", got)
	}
	if len(rec.Notes()) != 0 {
		t.Errorf("notes: %q", rec.Notes())
	}
}

func TestRecordingKeepsErrorsListsAndLinks(t *testing.T) {
	tick := replayed(t, open(t, record(t, 1, nil)))[0]
	for name, want := range map[string]error{
		"proc/pressure/cpu": unix.EOPNOTSUPP, "proc/42/io": fs.ErrPermission, "proc/none": fs.ErrNotExist,
		"proc/never_read": fs.ErrNotExist,
	} {
		if _, err := tick.Root.Read(name, nil); !errors.Is(err, want) {
			t.Errorf("%s: %v, want %v", name, err, want)
		}
	}
	list, err := tick.Root.ReadDir("proc")
	if err != nil || strings.Join(list, " ") != "42 pressure sys vmstat" {
		t.Errorf("proc = %q, %v", list, err)
	}
	if target, err := tick.Root.ReadLink("proc/42/exe"); err != nil || target != "/usr/bin/java" {
		t.Errorf("exe = %q, %v", target, err)
	}
}

func TestRecordingHoldsNoSecrets(t *testing.T) {
	mask := func(name string, data []byte) []byte {
		if strings.HasSuffix(name, "/cmdline") {
			return []byte("java\x00")
		}
		return data
	}
	for name, filter := range map[string]func(string, []byte) []byte{"no filter": nil, "filter": mask} {
		t.Run(name, func(t *testing.T) {
			z, err := newDecoder(bytes.NewReader(record(t, 3, filter)))
			if err != nil {
				t.Fatal(err)
			}
			defer z.Close()
			plain, err := io.ReadAll(z)
			if err != nil {
				t.Fatal(err)
			}
			if bytes.Contains(plain, []byte("hunter2")) {
				t.Error("a secret is in the recording")
			}
			if bytes.Contains(plain, []byte("42/cmdline")) != (filter != nil) {
				t.Error("the command line should be there exactly when it is filtered")
			}
		})
	}
}

func TestSlowFilesStandInForTenSeconds(t *testing.T) {
	ticks := replayed(t, open(t, record(t, 5, nil)))
	for i, tick := range ticks {
		if got, err := tick.Root.Read("proc/sys/vm/dirty_bytes", nil); err != nil || string(got) != "0\n" {
			t.Errorf("tick %d: %q, %v", i, got, err)
		}
	}
	old := newTree()
	old.at = testStart
	old.addFile("proc/sys/vm/dirty_bytes", []byte("0\n"))
	old.addFile("proc/42/limits", []byte("x"))
	old.addFile("proc/vmstat", []byte("nr_dirty 1\n"))
	for _, c := range []struct {
		after time.Duration
		name  string
		alive bool
		want  bool
	}{
		{10 * time.Second, "proc/sys/vm/dirty_bytes", false, true},
		{10*time.Second + 1, "proc/sys/vm/dirty_bytes", false, false},
		{time.Second, "proc/vmstat", false, false},
		{time.Second, "proc/42/limits", true, true},
		{time.Second, "proc/42/limits", false, false},
	} {
		next := newTree()
		next.at = testStart.Add(c.after)
		if c.alive {
			next.addFile("proc/42/stat", nil)
		}
		old.remember(next)
		if _, err := next.Read(c.name, nil); (err == nil) != c.want {
			t.Errorf("%s after %v: %v, want there: %v", c.name, c.after, err, c.want)
		}
	}
}

func TestRecordingIsATarOfFilesAndLinks(t *testing.T) {
	z, err := newDecoder(bytes.NewReader(record(t, 1, nil)))
	if err != nil {
		t.Fatal(err)
	}
	defer z.Close()
	var names []string
	for r := tar.NewReader(z); ; {
		h, err := r.Next()
		if err == io.EOF {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		names = append(names, h.Name)
	}
	want := "meta.json 000000/proc/42/stat 000000/proc/sys/vm/dirty_bytes 000000/proc/vmstat 000000/proc/42/exe " +
		"000000/.dirs 000000/.errors 000000/at"
	if got := strings.Join(names, " "); got != want {
		t.Errorf("entries:\n got %s\nwant %s", got, want)
	}
}
