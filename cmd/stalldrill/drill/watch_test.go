package drill

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"stallmark/cmd/stalldrill/host"

	"stallmark/cmd/stalldrill/work"
)

func TestLookKeepsTheBounds(t *testing.T) {
	proc, dir := t.TempDir(), t.TempDir()
	disk, err := host.ReadDisk(dir)
	if err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		available, leaveDisk int64
		want                 string
	}{
		"enough":      {leastMemory, 0, ""},
		"memory":      {leastMemory - mib, 0, "of memory"},
		"disk":        {leastMemory, 2 * disk.Free, "of the disk"},
		"not to read": {-1, 0, "meminfo"},
	} {
		text := fmt.Sprintf("MemTotal: 1 kB\nMemFree: 1 kB\nMemAvailable: %d kB\n", c.available/kib)
		if c.available < 0 {
			text = ""
		}
		if err := os.WriteFile(filepath.Join(proc, "meminfo"), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		w := &watch{r: &run{config: Config{Host: host.Host{Proc: proc}, Dir: dir, Limits: Limits{LeaveDisk: c.leaveDisk}}}}
		if got := w.look(); c.want == "" && got != "" || !strings.Contains(got, c.want) {
			t.Errorf("%s: got %q, want %q", name, got, c.want)
		}
	}
}

func TestSightingsBecomeCounters(t *testing.T) {
	w := &watch{waits: map[string]int{"folio_wait_bit_common": 7}}
	from, to := host.Counters{}, host.Counters{}
	w.into(from, to)
	for pattern, want := range map[string]float64{"wait.*folio_*": 7, "wait.balance_dirty_pages*": 0} {
		if got, ok := host.Growth(from, to, pattern); !ok || got != want {
			t.Errorf("%s: got %v, %v, want %v", pattern, got, ok, want)
		}
	}
}

func TestResultsArePrinted(t *testing.T) {
	rate := 3.5
	r := Result{
		Mode: "x", Truth: []string{"y"}, Provoked: true, Began: time.Unix(1, 0), Ended: time.Unix(1, 0),
		Signs: []SignSeen{{Counter: "a", PerSecond: &rate, AtLeast: 1, Holds: true}, {Counter: "b", None: true}},
		Waits: map[string]int{"hrtimer_nanosleep": 99, "balance_dirty_pages": 3}, Samples: 200,
	}
	r.Restored.Problems = []string{"z"}
	var text strings.Builder
	r.Print(&text)
	for _, want := range []string{
		"x: provoked", "a 3.5/s (wanted: at least 1): yes", "b not counted here (wanted: none): no",
		"asleep in balance_dirty_pages 3 (of 200 looks", "NOT RESTORED  z",
	} {
		if !strings.Contains(text.String(), want) {
			t.Errorf("%q is missing in\n%s", want, text.String())
		}
	}
	for want, r := range map[string]Result{
		"did not begin":     {},
		"ended early: why":  {Began: time.Unix(1, 0), Cut: "why"},
		"shows no sign":     {Began: time.Unix(1, 0), Truth: []string{"y"}},
		"went on, harmless": {Began: time.Unix(1, 0), Harmless: true, Provoked: true},
		"not as harmless":   {Began: time.Unix(1, 0), Harmless: true},
		"provoked":          {Began: time.Unix(1, 0), Provoked: true},
	} {
		if got := r.verdict(); !strings.Contains(got, want) {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}

func TestSlowIsJudgedByTheCallAlone(t *testing.T) {
	row := func(phase string, wait, call float64) work.Row {
		return work.Row{Operation: "fsync", Phase: phase, Wait: work.Felt{P99: wait}, Call: work.Felt{P99: call}}
	}
	slow := Slow{Operation: "fsync", P99: 100 * time.Millisecond}
	for name, c := range map[string]struct {
		rows []work.Row
		want bool
	}{
		"slow":              {[]work.Row{row("before", 1, 1), row("drill", 200, 150)}, true},
		"only late":         {[]work.Row{row("before", 1, 1), row("drill", 200, 20)}, false},
		"slow before alone": {[]work.Row{row("before", 200, 150), row("drill", 20, 20)}, false},
		"not measured":      {nil, false},
	} {
		if got := slow.judge(c.rows); got.Holds != c.want {
			t.Errorf("%s: %+v, want %v", name, got, c.want)
		}
	}
}
