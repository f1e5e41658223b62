package pasted

import (
	"fmt"
	"math"
	"strings"
	"testing"
	"time"

	"stallmark/collectors"
)

var taken = time.Date(2026, 12, 1, 12, 0, 0, 0, time.UTC)

// rows is the output of vmstat with the given KiB/s of swap-in in each row.
func rows(swapIn ...int) string {
	var b strings.Builder
	b.WriteString(" r  b   swpd   free   buff  cache   si   so    bi    bo   in   cs us sy id wa st\n 1  0 0 1 1 1 9999 0 0 0 0 0 0 0 0 0 0\n")
	for _, si := range swapIn {
		fmt.Fprintf(&b, " 1  2 0 100 1 1 %d 0 0 0 0 0 0 0 0 0 0\n", si)
	}
	return b.String()
}

// collect runs a timeline and returns the samples by name, NaN where there is
// none at a beat.
func collect(line *Timeline, names ...string) (at []time.Time, values map[string][]float64) {
	src, out := NewSource(line), collectors.NewOut("pasted")
	values = map[string][]float64{}
	for b := range line.Beats {
		out.Reset(b.At)
		_ = src.Collect(b.Root, out)
		at = append(at, b.At)
		for _, name := range names {
			v := math.NaN()
			for _, s := range out.Samples() {
				if s.Series.Name == name {
					v = s.Value
				}
			}
			values[name] = append(values[name], v)
		}
	}
	return at, values
}

func TestRatesBecomeCounters(t *testing.T) {
	text := Read("x", []byte(rows(4, 8, 12)), Options{})
	at, got := collect(NewTimeline([]Text{text}, taken), "node_vmstat_pswpin", "node_procs_blocked")
	if len(at) != 4 || !at[3].Equal(taken) || at[1].Sub(at[0]) != time.Second {
		t.Fatalf("beats at %v", at)
	}
	if s := fmt.Sprint(got["node_vmstat_pswpin"]); s != "[0 1 3 6]" { // 4 KiB a page
		t.Errorf("counter %s", s)
	}
	if s := fmt.Sprint(got["node_procs_blocked"]); s != "[NaN 2 2 2]" {
		t.Errorf("gauge %s", s)
	}
}

// TestSlowTablesAreLinedUp puts a table of two seconds beside one of one second.
func TestSlowTablesAreLinedUp(t *testing.T) {
	slow := Read("slow", []byte("$ vmstat 2\n"+strings.ReplaceAll(rows(4, 8), " 2 0 100", " 2 0 200")), Options{})
	fast := Read("fast", []byte(rows(0, 0, 0, 0)), Options{})
	line := NewTimeline([]Text{slow, fast}, taken)
	if line.Interval != time.Second {
		t.Fatalf("interval %v", line.Interval)
	}
	src, out := NewSource(line), collectors.NewOut("pasted")
	var got []float64
	for b := range line.Beats {
		out.Reset(b.At)
		_ = src.Collect(b.Root, out)
		for _, s := range out.Samples() {
			if s.Series.Name == "node_vmstat_pswpin" {
				got = append(got, s.Value)
				break
			}
		}
	}
	if fmt.Sprint(got) != "[0 1 2 4 6]" {
		t.Errorf("the slow counter went %v", got)
	}
}

// TestGapsEndSeries leaves a hole of a minute between two runs.
func TestGapsEndSeries(t *testing.T) {
	const head = " r  b   swpd   free   buff  cache   si   so    bi    bo   in   cs us sy id wa st UTC\n"
	var b strings.Builder
	b.WriteString(head)
	for _, at := range []string{"11:00:00", "11:00:01", "11:00:02", "11:01:00", "11:01:01"} {
		b.WriteString(" 1 0 0 1 1 1 4 0 0 0 0 0 0 0 0 0 0 2026-12-01 " + at + "\n")
	}
	at, got := collect(NewTimeline([]Text{Read("x", []byte(b.String()), Options{})}, taken), "node_vmstat_pswpin")
	if len(at) != 6 {
		t.Fatalf("beats at %v", at)
	}
	if s := fmt.Sprint(got["node_vmstat_pswpin"]); s != "[0 1 2 2 3 4]" {
		t.Errorf("counter %s at %v", s, at)
	}
}

func TestFilesBecomeTicks(t *testing.T) {
	var b strings.Builder
	for i := range 3 {
		fmt.Fprintf(&b, "2026-12-01T02:00:0%dZ\n/proc/vmstat:nr_free_pages %d\n/proc/vmstat:allocstall_normal %d\n", i, 100-i, i)
	}
	line := NewTimeline([]Text{Read("x", []byte(b.String()), Options{})}, taken)
	var got []string
	for beat := range line.Beats {
		data, err := beat.Root.Read("proc/vmstat", nil)
		got = append(got, fmt.Sprintf("%s %q %v", beat.At.Format("05"), data, err))
	}
	want := []string{
		`00 "nr_free_pages 100\nallocstall_normal 0\n" <nil>`,
		`01 "nr_free_pages 99\nallocstall_normal 1\n" <nil>`,
		`02 "nr_free_pages 98\nallocstall_normal 2\n" <nil>`,
	}
	if fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("got %v", got)
	}
}

// TestCopiesWithoutTimes says that two readings of a counter are no rate.
func TestCopiesWithoutTimes(t *testing.T) {
	copyOf := "allocstall_normal 5\npgscan_direct 6\nnr_free_pages 7\n"
	line := NewTimeline([]Text{Read("x", []byte(copyOf+"\n"+strings.ReplaceAll(copyOf, "5", "500")), Options{})}, taken)
	if len(line.ticks) != 1 || len(line.Notes) != 1 || !strings.Contains(line.Notes[0], "2 copies of /proc/vmstat without times") {
		t.Errorf("%d ticks, notes %q", len(line.ticks), line.Notes)
	}
}

// TestLongTextIsBounded lays out a year of rows.
func TestLongTextIsBounded(t *testing.T) {
	const head = " r  b   swpd   free   buff  cache   si   so    bi    bo   in   cs us sy id wa st UTC\n"
	var b strings.Builder
	b.WriteString(head)
	for i := range 3000 {
		b.WriteString(" 1 0 0 1 1 1 4 0 0 0 0 0 0 0 0 0 0 " + taken.Add(time.Duration(i*i)*time.Minute/10).Format(time.DateTime) + "\n")
	}
	line := NewTimeline([]Text{Read("x", []byte(b.String()), Options{})}, taken)
	if n := replay(line, math.MaxInt); n > maxBeats {
		t.Errorf("%d beats", n)
	}
}

// TestGreppedPathsWithColons reads files of a cgroup whose name has a colon.
func TestGreppedPathsWithColons(t *testing.T) {
	text := Read("x", []byte("/sys/fs/cgroup/a:b/memory.events:oom_kill 1\n/sys/fs/cgroup/a:b/io.stat:8:0 rbytes=1 wbytes=2\n"), Options{})
	if len(text.Parts) != 1 || !strings.Contains(fmt.Sprint(text.Parts[0].Says), "memory.events of /a:b") {
		t.Fatalf("%+v, left %+v", text.Parts[0], text.Left)
	}
}
