package burst

import (
	"fmt"
	"io/fs"
	"strings"
	"testing"
	"time"

	"stallmark/collectors"
	"stallmark/storage/model"
)

func at(second int) time.Time { return time.Unix(1000+int64(second), 0) }

// numbered is a host whose file says the number.
func numbered(n, size int) *collectors.MapRoot {
	return &collectors.MapRoot{Files: map[string][]byte{
		"proc/n": fmt.Appendf(nil, "%d%s", n, strings.Repeat(" ", size)),
	}}
}

func TestRingIsBounded(t *testing.T) {
	byAge := NewRing([]string{"proc/n"}, 10*time.Second, 1<<20)
	byBytes := NewRing([]string{"proc/n"}, time.Hour, 10_000)
	huge := NewRing([]string{"proc/n"}, time.Hour, 100)
	for i := range 100 {
		for _, r := range []*Ring{byAge, byBytes, huge} {
			r.Take(numbered(i, 1000), at(i))
		}
	}
	if n, _, oldest := byAge.Held(); n != 11 || !oldest.Equal(at(89)) {
		t.Errorf("by age: %d readings since %v", n, oldest)
	}
	if n, bytes, _ := byBytes.Held(); n < 5 || n > 9 || bytes > 10_000 {
		t.Errorf("by bytes: %d readings of %d bytes", n, bytes)
	}
	if n, _, oldest := huge.Held(); n != 1 || !oldest.Equal(at(99)) { // the newest is always there
		t.Errorf("too large: %d readings since %v", n, oldest)
	}
}

func TestRingKeepsWhatWasRead(t *testing.T) {
	r := NewRing([]string{"proc/n", "proc/absent", "proc/m"}, time.Hour, 1<<20)
	for i := range 50 { // over several reuses of the buffers
		root := numbered(i, i%7)
		root.Files["proc/m"] = fmt.Appendf(nil, "m%d", i)
		r.keep = 5 * time.Second
		r.Take(root, at(i))
	}
	ticks := r.Ticks(at(46))
	if len(ticks) != 3 {
		t.Fatalf("%d ticks after second 46, want 3", len(ticks))
	}
	for i, tick := range ticks {
		n, _ := tick.Root.Read("proc/n", nil)
		m, _ := tick.Root.Read("proc/m", nil)
		want := fmt.Sprint(47 + i)
		if strings.TrimSpace(string(n)) != want || string(m) != "m"+want {
			t.Errorf("tick %d: %q %q, want %s", i, n, m, want)
		}
		if _, err := tick.Root.Read("proc/absent", nil); !strings.Contains(fmt.Sprint(err), "no such file") {
			t.Errorf("absent file: %v", err)
		}
	}
	r.Take(numbered(0, 900), at(60))
	if n, _ := ticks[0].Root.Read("proc/n", nil); strings.TrimSpace(string(n)) != "47" {
		t.Errorf("a copy changed to %q", n)
	}
}

// numberSource reads the file of numbered, and fails on other hosts.
type numberSource struct{ series *model.Series }

func (s *numberSource) Name() string       { return "number" }
func (s *numberSource) Provides() []string { return nil }
func (s *numberSource) Collect(root collectors.Root, out *collectors.Out) error {
	data, err := root.Read("proc/n", nil)
	if err != nil {
		return err
	}
	var n float64
	if _, err := fmt.Sscan(string(data), &n); err != nil {
		return err
	}
	out.Add(s.series, n)
	out.Fact("f", "v")
	return nil
}

type batchSink struct {
	batches []string
	others  int
}

func (s *batchSink) Append(b model.Batch) {
	s.batches = append(s.batches, fmt.Sprintf("%d: %v", b.At, b.Samples[0].Value))
}
func (s *batchSink) Fact(model.Fact)           { s.others++ }
func (s *batchSink) Event(model.Event)         { s.others++ }
func (s *batchSink) Coverage([]model.Coverage) { s.others++ }

func TestRingReplays(t *testing.T) {
	r := NewRing([]string{"proc/n"}, time.Hour, 1<<20)
	for i := range 5 {
		r.Take(numbered(i, 0), at(i))
	}
	r.Take(&collectors.MapRoot{Errs: map[string]error{"proc/n": fs.ErrPermission}}, at(5))
	sink := &batchSink{}
	sources := []collectors.Source{&numberSource{model.NewSeries("n")}}
	n := r.Replay(sources, sink, at(2), at(60))
	want := "[1003000: 3 1004000: 4]"
	if got := fmt.Sprint(sink.batches); got != want || n != 2 || sink.others != 0 {
		t.Errorf("%d batches %s and %d others, want %s", n, got, sink.others, want)
	}
	sink = &batchSink{}
	r.Replay(sources, sink, at(1), at(3))
	if got := fmt.Sprint(sink.batches); got != "[1002000: 2]" {
		t.Errorf("%s, want only what is between the two beats", got)
	}
}

func TestRingReplaysWholeMilliseconds(t *testing.T) {
	r := NewRing([]string{"proc/n"}, time.Hour, 1<<20)
	for i := range 4 { // two in each millisecond
		r.Take(numbered(i, 0), at(1).Add(time.Duration(i)*500*time.Microsecond))
	}
	sink := &batchSink{}
	r.Replay([]collectors.Source{&numberSource{model.NewSeries("n")}}, sink, at(1), at(2))
	if got := fmt.Sprint(sink.batches); got != "[1001001: 2]" {
		t.Errorf("%s, want one batch a millisecond and none at that of the last beat", got)
	}
}

// BenchmarkRingTake is what the pre-roll costs ten times a second.
func BenchmarkRingTake(b *testing.B) {
	root := collectors.NewLiveRoot(collectors.Paths{Procfs: "/proc", Sysfs: "/sys", Rootfs: "/"})
	r := NewRing(PrerollFiles(), 10*time.Second, 4<<20)
	when := time.Unix(0, 0)
	b.ReportAllocs()
	for b.Loop() {
		when = when.Add(100 * time.Millisecond)
		r.Take(root, when)
	}
	n, bytes, _ := r.Held()
	b.ReportMetric(float64(bytes)/float64(n), "B/reading")
}
