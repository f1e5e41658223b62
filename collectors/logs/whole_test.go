package logs

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"stallmark/collectors"
	"stallmark/collectors/logs/match"
	"stallmark/storage/model"
)

func TestWholeFilesAreOnTheirOwnAxis(t *testing.T) {
	set, err := match.New([]model.LogPattern{inLock})
	must(t, err)
	w := NewWhole(SourceConfig{Patterns: set, Known: []model.LogPattern{inLock}})
	store := "2026-03-01 02:00:00 INFO a - long before\n" + strings.Repeat("2026-03-01 03:00:00 INFO a - hours before\n", 50) + line(700) + line(900) + "2026-03-01 12:00:02 WARN x - strange\n"
	gc := "[2026-03-01T04:00:01.500+0000][gc] GC(12) Pause Young (Normal) (G1 Evacuation Pause) 1000M->200M(4096M) 1212.300ms\n"
	if !w.Add("store.log", []byte(store), time.Time{}) || !w.Add("gc.log", []byte(gc), time.Time{}) {
		t.Fatal("a log is not taken for one")
	}
	for _, other := range []string{
		"procs -----------memory----------\n r  b   swpd   free\n 1  0      0 100\n", "", "MemTotal: 5 kB\n", "some prose\nabout 2026-03-01 12:00:00\n",
	} {
		if w.Add("x", []byte(other), time.Time{}) {
			t.Errorf("%q is taken for a log", other)
		}
	}
	beats := w.Beats()
	if n := len(beats); n < 180 || n > 200 || !beats[0].Before(time.Date(2026, 3, 1, 4, 0, 0, 0, time.UTC)) {
		t.Fatalf("%d beats from %v", n, beats[0])
	}
	out := collectors.NewOut("logs")
	got := map[string]float64{}
	var events []string
	for _, at := range beats {
		out.Reset(at)
		must(t, w.Source().Collect(nil, out))
		for _, s := range out.Samples() {
			got[s.Series.Name+s.Series.Get("source")] = s.Value
			if s.Value > 0 && strings.HasPrefix(s.Series.Name, "stallmark_log_match") && at.Before(time.Date(2026, 3, 1, 4, 0, 0, 0, time.UTC)) {
				t.Errorf("%v: %s is %v too early", at, s.Series.Name, s.Value)
			}
		}
		for _, e := range out.Events() {
			events = append(events, fmt.Sprint(e.From.Format("15:04:05.000"), " ", e.To.Format("15:04:05.000"), " ", e.Attrs["pattern"], e.Attrs["level"], e.Attrs["kind"]))
		}
		out.EndMissing()
	}
	if got["stallmark_log_matches_totalstore.log"] != 2 || got["stallmark_gc_pause_seconds_sumgc.log"] < 1.2 {
		t.Errorf("%v", got)
	}
	all := strings.Join(events, "\n")
	for _, want := range []string{"03:59:59.300 04:00:00.000 in-lock", "03:59:59.100 04:00:00.000 in-lock", "warn", "04:00:00.287 04:00:01.500 young"} {
		if !strings.Contains(all, want) {
			t.Errorf("no event %q in\n%s", want, all)
		}
	}
}

// TestWholePlacesUptimes gives a GC log without dates beside a dated one, with
// the times of the files' last changes or without.
func TestWholePlacesUptimes(t *testing.T) {
	const dated = "2026-03-01 12:00:01,000 INFO a - b\n2026-03-01 12:00:05,000 WARN a - b\n"
	const gc = "[10.000s][info][gc] GC(1) Pause Full (System.gc()) 5M->1M(9M) 800.000ms\n[12.000s][info][gc] GC(2) Concurrent Mark Cycle\n"
	end := time.Date(2026, 3, 1, 12, 0, 5, 0, time.UTC)
	for _, tt := range []struct {
		name          string
		gc            string
		datedAt, gcAt time.Time
		alone         bool
		want          string
		note          string
	}{
		{"kept times", gc, end, end.Add(time.Second), false, "2026-03-01 12:00:03.2", "by the time of the file's last change"},
		{"a zone ahead, by the file's time", gc, end.Add(-8 * time.Hour), end.Add(-8 * time.Hour), false, "2026-03-01 04:00:02.2", "last change"},
		{"copied", gc, end.Add(time.Hour + 7*time.Minute), end.Add(time.Hour), false, "", "nothing ties"},
		{"alone", gc, time.Time{}, end, true, "2026-03-01 12:00:02.2", "last change"},
		{"two JVMs", "[100.000s]" + gc[9:] + gc, end, end, false, "", "nothing ties"},
		{"no stamps", "GC(1) Pause Full (System.gc()) 5M->1M(9M) 800.000ms\n", end, end, false, "", "nothing ties"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			w := NewWhole(SourceConfig{})
			if !tt.alone {
				w.Add("broker.log", []byte(dated), tt.datedAt)
			}
			if !w.Add("gc.log", []byte(tt.gc), tt.gcAt) {
				t.Fatal("not taken for a log")
			}
			got := ""
			out := collectors.NewOut("logs")
			for _, at := range w.Beats() {
				out.Reset(at)
				must(t, w.Source().Collect(nil, out))
				for _, e := range out.Events() {
					if e.Attrs["what"] == "gc" {
						got += e.From.Format("2006-01-02 15:04:05.0")
					}
				}
				out.EndMissing()
			}
			if notes := strings.Join(w.Notes, " "); got != tt.want || !strings.Contains(notes, tt.note) {
				t.Errorf("%q, want %q; notes %s", got, tt.want, notes)
			}
		})
	}
}

// TestWholeLogsOfSeveralJVMs has two GC logs that nobody is known to write: each
// has series of its own.
func TestWholeLogsOfSeveralJVMs(t *testing.T) {
	w := NewWhole(SourceConfig{})
	for name, pause := range map[string]string{"a/gc.log": "1212.300ms", "b/gc.log": "700.000ms"} {
		w.Add(name, []byte("[2026-03-02T04:00:01.500+0000][gc] GC(12) Pause Full (System.gc()) 1000M->200M(4096M) "+pause+"\n"), time.Time{})
	}
	got := map[string]float64{}
	out := collectors.NewOut("logs")
	for _, at := range w.Beats() {
		out.Reset(at)
		must(t, w.Source().Collect(nil, out))
		for _, s := range out.Samples() {
			if s.Series.Name == "stallmark_gc_pause_seconds_sum" {
				got[s.Series.Get("source")] = s.Value
			}
		}
		out.EndMissing()
	}
	if len(got) != 2 || got["a/gc.log"] != 1.2123 || got["b/gc.log"] != 0.7 {
		t.Errorf("%v", got)
	}
}

// TestWholePausesComeWhenTheyAreOver has pauses that are stamped with their
// beginning, one of them over two lines: none is told before it has ended.
func TestWholePausesComeWhenTheyAreOver(t *testing.T) {
	const gc = "2026-03-01T10:00:12.000+0000: 10.000: [Full GC (Allocation Failure) 8178940K->6901220K(8178944K), 14.2216120 secs] [Times: user=14.10 sys=0.11, real=14.22 secs] \n" +
		"2026-03-01T10:00:30.000+0000: 28.000: [GC (Allocation Failure) 2026-03-01T10:00:30.000+0000: 28.000: [ParNew\n" +
		": 1887488K->209664K(1887488K), 5.0512340 secs] 5123411K->3651200K(8178944K), 5.0514560 secs] [Times: user=0.36 sys=0.01, real=5.05 secs] \n"
	w := NewWhole(SourceConfig{})
	if !w.Add("gc.log", []byte(gc), time.Time{}) {
		t.Fatal("not taken for a log")
	}
	out := collectors.NewOut("logs")
	told := 0
	for _, at := range w.Beats() {
		out.Reset(at)
		must(t, w.Source().Collect(nil, out))
		for _, e := range out.Events() {
			if told++; e.To.After(at) || at.Sub(e.To) > 3*time.Second {
				t.Errorf("the pause until %v is told at %v", e.To, at)
			}
		}
		out.EndMissing()
	}
	if told != 2 {
		t.Errorf("%d pauses are told", told)
	}
}

// TestWholeLogsAreSilentOutsideTheirTime gives a GC log of another day: nothing may
// be ruled out by it.
func TestWholeLogsAreSilentOutsideTheirTime(t *testing.T) {
	set, err := match.New([]model.LogPattern{inLock})
	must(t, err)
	w := NewWhole(SourceConfig{Patterns: set, Known: []model.LogPattern{inLock}})
	w.Add("store.log", []byte(line(700)+line(900)+"2026-03-01 12:00:02 WARN x - strange\n"), time.Time{})
	w.Add("gc.log", []byte("[2026-03-02T04:00:01.500+0000][gc] GC(12) Pause Young (Normal) (G1 Evacuation Pause) 1000M->200M(4096M) 1212.300ms\n"), time.Time{})
	noon := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	seen := map[string]map[bool]int{}
	out := collectors.NewOut("logs")
	for _, at := range w.Beats() {
		out.Reset(at)
		must(t, w.Source().Collect(nil, out))
		for _, s := range out.Samples() {
			for _, of := range []string{"stallmark_gc_pause_class", "stallmark_log_matches"} {
				if strings.HasPrefix(s.Series.Name, of) {
					if seen[of] == nil {
						seen[of] = map[bool]int{}
					}
					seen[of][at.Before(noon)]++
				}
			}
		}
		out.EndMissing()
	}
	if gc := seen["stallmark_gc_pause_class"]; gc[true] > 0 || gc[false] == 0 {
		t.Errorf("of the GC log: %v", gc)
	}
	if text := seen["stallmark_log_matches"]; text[true] == 0 || text[false] > 0 {
		t.Errorf("of the text log: %v", text)
	}
}

func FuzzWhole(f *testing.F) {
	f.Add([]byte(line(700)+"2026-03-01 12:00:02 WARN x - strange\n"), []byte("[0.047s][info][gc] GC(0) Pause Young 1M->1M(2M) 812.3ms\n"))
	set, err := match.New([]model.LogPattern{inLock})
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, a, b []byte) {
		w := NewWhole(SourceConfig{Patterns: set, Known: []model.LogPattern{inLock}})
		w.Add("a", a, time.Time{})
		w.AddLines("b", b, time.Time{})
		out := collectors.NewOut("logs")
		beats := w.Beats()
		for _, at := range beats[:min(len(beats), 500)] {
			out.Reset(at)
			_ = w.Source().Collect(nil, out)
			out.EndMissing()
		}
	})
}
