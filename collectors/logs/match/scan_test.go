package match

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"
	"testing/iotest"

	"stallmark/storage/model"
)

func tookSet(t testing.TB) *Set {
	return mustSet(t, pat("took", `took (?P<duration>\d+) ms`, map[string]model.LogUnit{"duration": "ms"}, "took "))
}

// scanned is what a scanner reports of a log, a line each.
func scanned(t *testing.T, r io.Reader) []string {
	t.Helper()
	var got []string
	s := NewScanner(tookSet(t))
	s.Recognised = func(r Record) {
		got = append(got, fmt.Sprintf("%d %s %s", r.Line, r.Hit.Pattern.ID, r.Stamp.Time.Format("15:04:05")))
	}
	s.Unknown = func(r Record) {
		got = append(got, fmt.Sprintf("%d %v %s", r.Line, r.Level, r.Stamp.Time.Format("15:04:05")))
	}
	if err := s.Scan(r); err != nil {
		t.Fatal(err)
	}
	return got
}

const mixedLog = "2026-01-02 03:04:05 INFO a - b\n" +
	"2026-01-02 03:04:06 WARN a - unknown\n" +
	"java.io.IOException: x took 5 ms\n\tat y\n" +
	"2026-01-02 03:04:07 WARN a - it took 6 ms\r\n" +
	"\n" +
	"2026-01-02 03:04:08 ERROR a - no end"

func TestScan(t *testing.T) {
	want := []string{"2 warning 03:04:06", "3 took 03:04:06", "5 took 03:04:07", "7 error 03:04:08"}
	if got := scanned(t, strings.NewReader(mixedLog)); !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
	if got := scanned(t, iotest.OneByteReader(strings.NewReader(mixedLog))); !slices.Equal(got, want) {
		t.Errorf("byte by byte: got %q", got)
	}
}

func TestScanOverManyBlocks(t *testing.T) {
	filler := strings.Repeat("2026-01-02 03:04:05 INFO a - nothing at all in this line\n", 40000)
	got := scanned(t, strings.NewReader(filler+"\tat x took 5 ms\n"+filler+"2026-01-02 03:04:06 WARN a - took 6 ms\n"))
	want := []string{"40001 took 03:04:05", "80002 took 03:04:06"}
	if !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestScanSurvivesALineWithoutEnd(t *testing.T) {
	long := "2026-01-02 03:04:05 WARN a - it took 7 ms " + strings.Repeat("took 8 ms ", 500000) + "\n"
	got := scanned(t, strings.NewReader(long+"2026-01-02 03:04:06 WARN a - took 6 ms\n"))
	want := []string{"1 took 03:04:05", "2 took 03:04:06"}
	if !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestScanReportsReadErrors(t *testing.T) {
	broken := errors.New("broken")
	if err := NewScanner(tookSet(t)).Scan(iotest.ErrReader(broken)); !errors.Is(err, broken) {
		t.Errorf("got %v", err)
	}
}

func TestLevelOf(t *testing.T) {
	for line, want := range map[string]Level{
		"2026-01-02 03:04:05 WARN Thread_1 - x":                        LevelWarning,
		"[2026-01-02 03:04:05,678] ERROR x (y)":                        LevelError,
		"[2026-01-02 03:04:05,678] FATAL x (y)":                        LevelError,
		"[2026-01-02 03:04:05,678] INFO an ERROR in the message":       LevelNone,
		"2021-09-01 12:00:00.123456+00:00 [warning] <0.298.0> x":       LevelWarning,
		"[2024-01-01T00:00:00,123][WARN ][o.e.m.j.JvmGc] [n] x":        LevelWarning,
		`{"ts":"2026-01-02T03:04:05Z","level":"warn","msg":"x"}`:       LevelWarning,
		`{"level" : "info"}`:                                           LevelNone,
		`{"message":"WARN of it","level":"INFO"}`:                      LevelNone,
		`broker | {"severity":"ERROR"}`:                                LevelError,
		"the warning was an error":                                     LevelNone,
		"":                                                             LevelNone,
		strings.Repeat("x ", 200) + "WARN":                             LevelNone,
		"\tat org.example.WARNING.run":                                 LevelWarning, // a class in capitals: rare, and a guess errs to this side
		"02-Jan-2026 03:04:05.678 SEVERE [main] x":                     LevelError,
		"2026-01-02 03:04:05.678 WARN  [123] [main] [o.a.r.c#m:1] - x": LevelWarning,
	} {
		if got := LevelOf([]byte(line)); got != want {
			t.Errorf("%.60q: got %v, want %v", line, got, want)
		}
	}
}

func TestShape(t *testing.T) {
	for _, c := range []struct{ a, b, want string }{
		{
			"2026-01-02 03:04:05 WARN SendMessageThread_1 - odd 1234 at 0x7f3a12, /10.0.0.1:1234",
			"2026-01-02 03:04:06 WARN SendMessageThread_12 - odd 5 at 0x12ff, /10.0.0.2:99",
			"WARN SendMessageThread_# - odd # at #, /#",
		},
		{
			"[2026-01-02 03:04:05,678] ERROR x 'orders' of \"a b\" (y.Z)",
			"[2026-01-02 03:04:05,679] ERROR x 'bills' of \"\" (y.Z)",
			"ERROR x '#' of \"#\" (y.Z)",
		},
		{
			"[2026-01-02 03:04:05,678] WARN don't 6f9619ff-8b86-d011-b42d-00c04fc964ff  1,2,3",
			"[2026-01-02 03:04:05,678] WARN don't 7f9619ff-8b86-d011-b42d-00c04fc96400 4,5",
			"WARN don't # #",
		},
	} {
		if a, b := Shape([]byte(c.a)), Shape([]byte(c.b)); a != c.want || b != c.want {
			t.Errorf("got %q and %q, want %q", a, b, c.want)
		}
	}
	if n := len(Shape(bytes.Repeat([]byte("word "), 10000))); n > 2*maxShape {
		t.Errorf("%d bytes", n)
	}
}

func FuzzScan(f *testing.F) {
	f.Add([]byte(mixedLog))
	f.Add([]byte("[error] \x00\xff 'took 1 ms\n\"warn\" took 2 ms"))
	f.Fuzz(func(t *testing.T, text []byte) {
		s := NewScanner(tookSet(t))
		last := int64(0)
		note := func(r Record) {
			if r.Line <= last {
				t.Fatalf("line %d after %d", r.Line, last)
			}
			last = r.Line
			Shape(r.Text)
		}
		s.Recognised, s.Unknown = note, note
		if err := s.Scan(bytes.NewReader(text)); err != nil {
			t.Fatal(err)
		}
		if s.Lines() != int64(bytes.Count(text, []byte("\n"))) {
			t.Fatalf("%d lines", s.Lines())
		}
	})
}
