package files

import (
	"archive/tar"
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/klauspost/compress/zstd"
)

// file is one entry of an archive that a test makes.
type file struct{ name, body string }

// tarOf makes a tar of files.
func tarOf(t testing.TB, list ...file) []byte {
	t.Helper()
	var out bytes.Buffer
	w := tar.NewWriter(&out)
	for _, f := range list {
		h := &tar.Header{Typeflag: tar.TypeReg, Name: f.name, Mode: 0o400, Size: int64(len(f.body))}
		if err := w.WriteHeader(h); err != nil {
			t.Fatal(err)
		}
		if _, err := w.Write([]byte(f.body)); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

const goodMeta = `{"format":1,"interval_ms":1000,"page_size":4096,"clock_ticks":100}`

// good is a small recording in our layout, as files.
func good() []file {
	return []file{
		{"meta.json", goodMeta},
		{"000000/at", "2026-03-01T03:12:00Z"},
		{"000000/proc/vmstat", "nr_dirty 1\n"},
		{"000001/at", "2026-03-01T03:12:01Z"},
		{"000001/proc/vmstat", "nr_dirty 2\n"},
	}
}

func TestOlderLayout(t *testing.T) {
	rec, err := Open(filepath.Join("testdata", "old.tar.zst"), DefaultLimits())
	if err != nil {
		t.Fatal(err)
	}
	defer rec.Close()
	m := rec.Meta()
	if m.Format != 0 || m.Interval() != time.Second || m.PageSize != 4096 || m.ClockTicks != 100 {
		t.Errorf("meta = %+v", m)
	}
	ticks := replayed(t, rec)
	if len(ticks) != 14 {
		t.Fatalf("%d ticks, want 14", len(ticks))
	}
	if got, want := ticks[0].At.Format(time.RFC3339Nano), "2026-11-30T23:50:53.358571429Z"; got != want {
		t.Errorf("first tick at %s, want %s", got, want)
	}
	for _, i := range []int{0, 9, 13} {
		if _, err := ticks[i].Root.Read("proc/sys/vm/dirty_ratio", nil); err != nil {
			t.Errorf("tick %d: a slow file of every tenth tick: %v", i, err)
		}
	}
	list, err := ticks[3].Root.ReadDir("proc")
	if err != nil || !strings.Contains(strings.Join(list, " "), "11822") {
		t.Errorf("proc = %q, %v", list, err)
	}
}

func TestOpenKnowsFoldersAndPlainTars(t *testing.T) {
	dir := t.TempDir()
	write := func(name string, data []byte) string {
		full := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(full), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(full, data, 0o600); err != nil {
			t.Fatal(err)
		}
		return full
	}
	for _, f := range good() {
		write("extracted/"+f.name, []byte(f.body))
		write("nested/some-host/"+f.name, []byte(f.body))
	}
	z, err := zstd.NewWriter(nil)
	if err != nil {
		t.Fatal(err)
	}
	write("capture/1s.tar.zst", z.EncodeAll(tarOf(t, good()...), nil))
	write("misnamed.txt", tarOf(t, good()...))
	for _, name := range []string{"extracted", "nested", "capture", "misnamed.txt"} {
		rec, err := Open(filepath.Join(dir, name), DefaultLimits())
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		ticks := replayed(t, rec)
		if len(ticks) != 2 || rec.Meta().Format != 1 {
			t.Errorf("%s: %d ticks, meta %+v", name, len(ticks), rec.Meta())
		}
		if got, err := ticks[1].Root.Read("proc/vmstat", nil); string(got) != "nr_dirty 2\n" {
			t.Errorf("%s: vmstat %q, %v", name, got, err)
		}
		if err := rec.Close(); err != nil {
			t.Error(err)
		}
	}
}

func TestExtractedFolderIsNotLeft(t *testing.T) {
	dir := t.TempDir()
	outside := filepath.Join(dir, "secret")
	if err := os.WriteFile(outside, []byte("hunter2"), 0o600); err != nil {
		t.Fatal(err)
	}
	tick := filepath.Join(dir, "rec", "000000")
	if err := os.MkdirAll(filepath.Join(tick, "proc"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(tick, "at"), []byte("2026-03-01T03:12:00Z"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(outside, filepath.Join(tick, "proc", "vmstat")); err != nil {
		t.Fatal(err)
	}
	rec, err := Open(filepath.Join(dir, "rec"), DefaultLimits())
	if err != nil {
		t.Fatal(err)
	}
	defer rec.Close()
	if got, err := replayed(t, rec)[0].Root.Read("proc/vmstat", nil); err == nil {
		t.Errorf("read %q through a link", got)
	}
}

func TestCutOffRecordingReplaysItsWholeTicks(t *testing.T) {
	whole := record(t, 12, nil)
	cut := 0
	for n := len(whole); n > 0; n -= 37 {
		rec, err := NewReader(bytes.NewReader(whole[:n]), DefaultLimits())
		if err != nil {
			continue // nothing whole is left
		}
		ticks := replayed(t, rec)
		for i, tick := range ticks {
			if _, err := tick.Root.Read("proc/vmstat", nil); err != nil || tick.Number != i {
				t.Fatalf("%d bytes: tick %d (%d): %v", n, i, tick.Number, err)
			}
		}
		if len(ticks) < 12 {
			cut++
			if len(rec.Notes()) != 1 {
				t.Errorf("%d bytes: notes %q", n, rec.Notes())
			}
		}
	}
	if cut < 3 {
		t.Errorf("only %d cuts left something to replay", cut)
	}
}

func TestTickUnderWayIsNotReplayed(t *testing.T) {
	list := []file{
		{"meta.json", goodMeta},
		{"000000/proc/vmstat", "nr_dirty 1\n"},
		{"000000/at", "2026-03-01T03:12:00Z"},
		{"000001/proc/vmstat", "nr_dirty 2\n"},
	}
	data := tarOf(t, list...)
	rec := open(t, data[:len(data)-1024-100])
	if ticks := replayed(t, rec); len(ticks) != 1 {
		t.Errorf("%d ticks, want the one that is whole", len(ticks))
	}
}

// at is a tick of nothing but its time, in seconds after three o'clock.
func at(number, second int) file {
	when := time.Date(2026, 3, 1, 3, 0, 0, 0, time.UTC).Add(time.Duration(second) * time.Second)
	return file{fmt.Sprintf("%06d/at", number), when.Format(time.RFC3339)}
}

func TestTimesThatDoNotGoOn(t *testing.T) {
	for name, c := range map[string]struct {
		ticks []file
		want  []int // seconds
		notes []string
	}{
		"a little back: waited out": {
			[]file{at(0, 100), at(1, 101), at(2, 99), at(3, 100), at(4, 102)},
			[]int{100, 101, 102},
			[]string{"ticks 000002 to 000003 have a time that goes back: passed over"},
		},
		"no time": {
			[]file{at(0, 100), {"000001/proc/vmstat", ""}, at(2, 102)},
			[]int{100, 102},
			[]string{"tick 000001 has no time: passed over"},
		},
		"twice the same": {
			[]file{at(0, 100), at(1, 100), at(2, 101)},
			[]int{100, 101},
			[]string{"tick 000001 has a time that goes back: passed over"},
		},
		"set back by an hour: goes on": {
			[]file{at(0, 4000), at(1, 4002), at(2, 404), at(3, 406), at(4, 408)},
			[]int{4000, 4002, 4004, 4006, 4008},
			[]string{"the clock was set back before tick 000002: its time and those that follow are moved by 1h0m0s"},
		},
		"set back twice": {
			[]file{at(0, 4000), at(1, 4001), at(2, 3000), at(3, 3001), at(4, 2000)},
			[]int{4000, 4001, 4002, 4003, 4004},
			[]string{
				"the clock was set back before tick 000002: its time and those that follow are moved by 16m42s",
				"the clock was set back before tick 000004: its time and those that follow are moved by 16m42s",
			},
		},
		"the same numbers again are no clock": {
			[]file{at(0, 4000), at(1, 4001), at(0, 100), at(1, 101)},
			[]int{4000, 4001},
			[]string{"ticks 000000 to 000001 have a time that goes back: passed over"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			rec := open(t, tarOf(t, append([]file{{"meta.json", goodMeta}}, c.ticks...)...))
			var got []int
			for _, tick := range replayed(t, rec) {
				got = append(got, int(tick.At.Sub(time.Date(2026, 3, 1, 3, 0, 0, 0, time.UTC)).Seconds()))
			}
			if !slices.Equal(got, c.want) || !slices.Equal(rec.Notes(), c.notes) {
				t.Errorf("ticks at %v, want %v; notes %q, want %q", got, c.want, rec.Notes(), c.notes)
			}
		})
	}
}

func TestRefusals(t *testing.T) {
	small := Limits{File: 100, Tick: 300, Entries: 4, Ticks: 3, Total: 1 << 20}
	many := good()
	for i := range 5 {
		many = append(many, file{fmt.Sprintf("000001/proc/%d/stat", i), ""})
	}
	ticks := good()
	for i := range 5 {
		ticks = append(ticks, file{fmt.Sprintf("00000%d/at", i+2), fmt.Sprintf("2026-03-01T03:12:0%dZ", i+2)})
	}
	for name, c := range map[string]struct {
		list []file
		want error
	}{
		"absolute name":  {append(good(), file{"/etc/passwd", ""}), errHostileName},
		"dot dot":        {append(good(), file{"000001/../../x", ""}), errHostileName},
		"large file":     {append(good(), file{"000001/proc/stat", strings.Repeat("x", 101)}), ErrLimit},
		"large tick":     {append(good(), file{"000001/proc/a", strings.Repeat("x", 99)}, file{"000001/proc/b", strings.Repeat("x", 99)}, file{"000001/proc/c", strings.Repeat("x", 99)}), ErrLimit},
		"many files":     {many, ErrLimit},
		"many ticks":     {ticks, ErrLimit},
		"no ticks":       {[]file{{"README", "hello"}}, ErrNotRecording},
		"large logs":     {[]file{{"store.log", strings.Repeat("x", 200)}}, ErrNotRecording},
		"hostile logs":   {[]file{{"../store.log", "x"}, {"broker.log", "x"}}, ErrNotRecording},
		"newer format":   {append([]file{{"meta.json", `{"format":2}`}}, good()[1:]...), nil},
		"bad page size":  {append([]file{{"meta.json", `{"format":1,"interval_ms":1000,"clock_ticks":100,"page_size":-1}`}}, good()[1:]...), nil},
		"unknown errno":  {append([]file{good()[0], {"000000/.errors", `{"proc/x":"EWHAT"}`}}, good()[1:]...), nil},
		"year one":       {[]file{good()[0], {"000000/at", "0001-01-01T00:00:00Z"}}, nil},
		"old, no number": {[]file{{"x/000000/meta", "real_ns many\n"}}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			rec, err := NewReader(bytes.NewReader(tarOf(t, c.list...)), small)
			if err == nil {
				for _, e := range rec.Ticks() {
					err = e
				}
			}
			if err == nil || c.want != nil && !errors.Is(err, c.want) {
				t.Errorf("error %v, want %v", err, c.want)
			}
		})
	}
}

func TestDecompressionBombIsRefused(t *testing.T) {
	z, err := zstd.NewWriter(nil)
	if err != nil {
		t.Fatal(err)
	}
	data := tarOf(t, append(good(), file{"README", strings.Repeat("\x00", 8<<20)}, file{"000002/at", "2026-03-01T03:12:02Z"})...)
	limits := DefaultLimits()
	limits.Total = 1 << 20
	rec, err := NewReader(bytes.NewReader(z.EncodeAll(data, nil)), limits)
	if err == nil {
		for _, e := range rec.Ticks() {
			err = e
		}
	}
	if !errors.Is(err, ErrLimit) {
		t.Errorf("error %v, want %v", err, ErrLimit)
	}
}

func TestNotARecording(t *testing.T) {
	dir := t.TempDir()
	for name, body := range map[string]string{
		"empty": "", "text": "hello\n", "zstd of text": "\x28\xb5\x2f\xfd\x04\x00\x29\x00\x00hello", "zeros": strings.Repeat("\x00", 2048),
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(body), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := Open(filepath.Join(dir, name), DefaultLimits()); !errors.Is(err, ErrNotRecording) {
			t.Errorf("%s: %v, want %v", name, err, ErrNotRecording)
		}
	}
	if _, err := Open(dir, DefaultLimits()); !errors.Is(err, ErrNotRecording) {
		t.Errorf("folder: %v", err)
	}
	if _, err := Open(filepath.Join(dir, "none"), DefaultLimits()); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("missing: %v", err)
	}
}
