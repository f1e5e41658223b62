package hsperf

import (
	"archive/tar"
	"bytes"
	"errors"
	"io"
	"math"
	"os"
	"path"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/klauspost/compress/zstd"

	"stallmark/collectors/jvm/gclog"
)

// dumps are counter files of real JVMs, what jcmd PerfCounter.print and jstat said
// a moment later, and logs of their safepoints, by file name.
var dumps = sync.OnceValues(func() (map[string][]byte, error) {
	f, err := os.Open("testdata/dumps.tar.zst")
	if err != nil {
		return nil, err
	}
	defer f.Close()
	z, err := zstd.NewReader(f)
	if err != nil {
		return nil, err
	}
	defer z.Close()
	files := map[string][]byte{}
	for t := tar.NewReader(z); ; {
		h, err := t.Next()
		if errors.Is(err, io.EOF) {
			return files, nil
		}
		if err != nil {
			return nil, err
		}
		if files[path.Base(h.Name)], err = io.ReadAll(t); err != nil {
			return nil, err
		}
	}
})

func dump(t testing.TB, name string) []byte {
	t.Helper()
	files, err := dumps()
	if err != nil {
		t.Fatal(err)
	}
	b, ok := files[name]
	if !ok {
		t.Fatalf("there is no dump %s", name)
	}
	return bytes.Clone(b)
}

// names of the dumps that have jcmd's and jstat's answers beside them.
func dumpNames() []string {
	return []string{
		"java-17-G1GC", "java-17-ParallelGC", "java-17-ShenandoahGC", "java-17-ZGC",
		"temurin-25-G1GC", "temurin-25-ParallelGC", "temurin-25-ShenandoahGC", "temurin-25-ZGC",
	}
}

// All names and texts are those of jcmd, and all numbers too, but for those that
// moved in the moment between: counters went up.
func TestDumpsAgainstJcmd(t *testing.T) {
	for _, name := range dumpNames() {
		t.Run(name, func(t *testing.T) {
			want := map[string]string{}
			for line := range strings.Lines(string(dump(t, name+".jcmd"))) {
				if key, value, ok := strings.Cut(strings.TrimRight(line, "\n"), "="); ok && !strings.HasPrefix(key, "sun.perfdata.") {
					want[key] = value
				}
			}
			moved, entries := 0, 0
			_, err := Parse(dump(t, name+".bin"), func(e Entry) {
				entries++
				text, ok := want[string(e.Name)]
				if !ok {
					t.Errorf("jcmd has no %s", e.Name)
					return
				}
				delete(want, string(e.Name))
				if e.room > 0 {
					if strings.Trim(text, `"`) == string(e.Text) {
						return
					}
					if constant := bytes.HasPrefix(e.Name, []byte("java.")) || bytes.HasSuffix(e.Name, []byte(".name")); constant {
						t.Errorf("%s is %q, jcmd says %s", e.Name, e.Text, text)
					}
					moved++
					return
				}
				if n, err := strconv.ParseInt(text, 10, 64); err != nil || n != e.Number {
					moved++
				}
			})
			if err != nil || len(want) > 0 || entries < 130 || moved > entries/3 {
				t.Errorf("%v: %d entries, %d moved, jcmd has more: %v", err, entries, moved, want)
			}
		})
	}
}

// jstat reads the same file: its totals, taken a moment later, are at least ours.
func TestDumpsAgainstJstat(t *testing.T) {
	for _, name := range dumpNames() {
		t.Run(name, func(t *testing.T) {
			lines := strings.Split(string(dump(t, name+".jstat")), "\n")
			keys, values := strings.Fields(lines[0]), strings.Fields(lines[1])
			column := map[string]string{}
			for i, k := range keys {
				column[k] = values[i]
			}
			r, err := ReadingOf(dump(t, name+".bin"))
			if err != nil {
				t.Fatal(err)
			}
			counts := map[string][2]string{"young": {"YGC", "YGCT"}, "full": {"FGC", "FGCT"}, "concurrent": {"CGC", "CGCT"}}
			for _, c := range r.Collectors {
				if c.Name == "ZGC Minor Pauses" || !c.Stops {
					continue
				}
				col := counts[c.Kind]
				n, errN := strconv.ParseInt(column[col[0]], 10, 64)
				s, errS := strconv.ParseFloat(column[col[1]], 64)
				if errN != nil || errS != nil || c.Count > n || c.Time.Seconds() > s+0.001 || n > 2*c.Count+8 {
					t.Errorf("%s: %d collections, %v; jstat says %v, %v", c.Name, c.Count, c.Time, column[col[0]], column[col[1]])
				}
			}
		})
	}
}

// The safepoint counters are what the log of the same JVM sums up to, by the rule
// of its version, to the nanosecond.
func TestSafepointsAgainstLog(t *testing.T) {
	for name, release := range map[string]int{"java-17-openjdk-amd64-sp": 17, "temurin-25-jdk-amd64-sp": 25} {
		t.Run(name, func(t *testing.T) {
			r, err := ReadingOf(dump(t, name+".bin"))
			if err != nil {
				t.Fatal(err)
			}
			p := gclog.NewParser(gclog.Handler{})
			if err := p.Read(bytes.NewReader(dump(t, name+".snap.log"))); err != nil {
				t.Fatal(err)
			}
			p.Flush()
			f := p.Figures()
			if r.Release != release || r.Stopped != f.SafepointTotal || r.Reaching != f.ReachingTotal || r.Safepoints < f.Safepoints {
				t.Errorf("release %d, %d safepoints, %v stopped, %v reaching; the log has %d, %v, %v",
					r.Release, r.Safepoints, r.Stopped, r.Reaching, f.Safepoints, f.SafepointTotal, f.ReachingTotal)
			}
		})
	}
}

func TestReading(t *testing.T) {
	r, err := ReadingOf(dump(t, "java-17-G1GC.bin"))
	if err != nil {
		t.Fatal(err)
	}
	if r.Version != "17.0.15+6-Debian-1deb12u1" || r.Policy != "GarbageFirst" || r.Cause != "" || r.Last != "G1 Evacuation Pause" ||
		!r.Begun.Equal(time.UnixMilli(1796082673511)) || r.HeapUsed != 51105728+2097152 && r.HeapUsed <= 0 || r.HeapCommitted <= r.HeapUsed {
		t.Errorf("got %+v", r)
	}
	if len(r.Collectors) != 3 || r.Collectors[0].Name != "G1 Young Generation" || r.Collectors[2].Name != "G1 Concurrent GC" {
		t.Errorf("collectors: %+v", r.Collectors)
	}
	r, err = ReadingOf(dump(t, "java-17-ShenandoahGC.bin"))
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range r.Collectors {
		if c.Stops {
			t.Errorf("Shenandoah's counters are of concurrent phases too: %+v", c)
		}
	}
}

// Up to JDK 12 the time at safepoints holds the time to reach them.
func TestVersionRule(t *testing.T) {
	for release, want := range map[int]time.Duration{8: 10, 11: 10, 12: 10, 13: 13, 25: 13} {
		r := Reading{Release: release, frequency: int64(time.Second), stopped: 10, syncing: 3}
		r.finish()
		if r.Stopped != want || r.Reaching != 3 {
			t.Errorf("JDK %d: stopped %d, want %d", release, r.Stopped, want)
		}
	}
	for text, want := range map[string]int{"1.8": 8, "9": 9, "21": 21, "": 0, "x": 0} {
		if got := release(text); got != want {
			t.Errorf("version %q is %d, want %d", text, got, want)
		}
	}
	r := Reading{Release: 17, frequency: 1_000_000, syncing: 1_500_000, stopped: math.MaxInt64}
	if r.finish(); r.Reaching != 1500*time.Millisecond {
		t.Errorf("another clock: %v", r.Reaching)
	}
}

// What leaves the host has no command line, no path and no property in it.
func TestRedact(t *testing.T) {
	raw := dump(t, "java-17-G1GC.bin")
	before, err := ReadingOf(raw)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Contains(raw, []byte("Churn slow")) || !bytes.Contains(raw, []byte("/usr/lib/jvm")) {
		t.Fatal("the dump has nothing to hide")
	}
	kept := Redact(raw)
	for _, secret := range []string{"Churn", "/usr/", "buildd"} {
		if bytes.Contains(kept, []byte(secret)) {
			t.Errorf("%q is still there", secret)
		}
	}
	after, err := ReadingOf(kept)
	if err != nil || after.Version != before.Version || after.Stopped != before.Stopped || len(after.Collectors) != len(before.Collectors) {
		t.Errorf("the reading changed: %+v, %v", after, err)
	}
	if Redact([]byte("root:x:0:0:root:/root:/bin/bash\nmore and more of another file\n")) != nil {
		t.Error("what is no counter file must not come through")
	}
}

func TestDamaged(t *testing.T) {
	whole := dump(t, "java-17-G1GC.bin")
	change := func(at int, v byte) []byte {
		b := bytes.Clone(whole)
		b[at] = v
		return b
	}
	for name, b := range map[string][]byte{
		"empty": nil, "short": whole[:31], "magic": change(0, 0), "order": change(offByteOrder, 7), "version": change(offMajor, 9),
		"cut": whole[:700], "entries": change(offEntries+2, 0x7f), "length": change(32, 3),
	} {
		if _, err := ReadingOf(b); err == nil || errors.Is(err, ErrNotReady) {
			t.Errorf("%s: %v, want a damage", name, err)
		}
	}
	if _, err := ReadingOf(change(offAccessible, 0)); !errors.Is(err, ErrNotReady) {
		t.Errorf("not accessible: %v", err)
	}
}

func FuzzReading(f *testing.F) {
	for _, name := range dumpNames() {
		f.Add(dump(f, name+".bin"))
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		if _, err := ReadingOf(b); err != nil {
			_ = err.Error()
		}
		if kept := Redact(b); kept != nil {
			_, _ = ReadingOf(kept)
		}
	})
}
