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
	if !w.Add("store.log", []byte(store)) || !w.Add("gc.log", []byte(gc)) {
		t.Fatal("a log is not taken for one")
	}
	for _, other := range []string{
		"procs -----------memory----------\n r  b   swpd   free\n 1  0      0 100\n", "", "MemTotal: 5 kB\n", "some prose\nabout 2026-03-01 12:00:00\n",
	} {
		if w.Add("x", []byte(other)) {
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
	if got["stallmark_log_matches_totalstore.log"] != 2 || got["stallmark_gc_pause_seconds_sum"] < 1.2 {
		t.Errorf("%v", got)
	}
	all := strings.Join(events, "\n")
	for _, want := range []string{"03:59:59.300 04:00:00.000 in-lock", "03:59:59.100 04:00:00.000 in-lock", "warn", "04:00:00.287 04:00:01.500 young"} {
		if !strings.Contains(all, want) {
			t.Errorf("no event %q in\n%s", want, all)
		}
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
		w.Add("a", a)
		w.AddLines("b", b)
		out := collectors.NewOut("logs")
		beats := w.Beats()
		for _, at := range beats[:min(len(beats), 500)] {
			out.Reset(at)
			_ = w.Source().Collect(nil, out)
			out.EndMissing()
		}
	})
}
