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

// inLock is a pattern as RocketMQ's NOTIFYME line needs it.
var inLock = model.LogPattern{
	ID: "in-lock", Product: "rocketmq", Proof: model.ProofDirect, Literals: []string{"in lock cost time"},
	Regexp: `in lock cost time\(ms\)=(?P<duration>\d+), bodyLength=(?P<size>\d+)(?:.*storeTimestamp=(?P<start>\d+))?`,
	Fields: map[string]model.LogUnit{"duration": model.UnitMilliseconds, "size": model.UnitBytes, "start": model.UnitEpochMillis},
}

// desk is a source with one log and a clock.
type desk struct {
	t      *testing.T
	source *Source
	feeder *feeder
	out    *collectors.Out
	at     time.Time
	offset int64
	root   collectors.Root
}

func newDesk(t *testing.T) *desk {
	t.Helper()
	set, err := match.New([]model.LogPattern{inLock})
	must(t, err)
	d := &desk{t: t, at: time.Date(2026, 3, 1, 4, 0, 0, 0, time.UTC), out: collectors.NewOut("logs"), root: &collectors.MapRoot{}}
	d.source = NewSource(SourceConfig{Patterns: set, Known: []model.LogPattern{inLock}, Now: func() time.Time { return d.at }})
	file := &File{Path: "/logs/store.log", Kind: KindText, Process: "rocketmq-broker", Pid: 42, Role: "rocketmq-broker"}
	d.feeder = newFeeder(file, d.source.Open(file))
	return d
}

func (d *desk) feed(text string) {
	d.feeder.live = true
	d.feeder.feed([]byte(text), "store.log", d.offset, false)
	d.offset += int64(len(text))
}

// beat asks the source and gives the samples by name and the events.
func (d *desk) beat() (map[string]float64, []model.Event) {
	d.at = d.at.Add(time.Second)
	d.out.Reset(d.at)
	_ = d.source.Collect(d.root, d.out) // nothing is followed here
	got := map[string]float64{}
	for _, s := range d.out.Samples() {
		got[s.Series.Name] += s.Value
	}
	d.out.EndMissing()
	return got, append([]model.Event{}, d.out.Events()...)
}

func line(ms int) string {
	return fmt.Sprintf("2026-03-01 12:00:00 WARN SendMessageThread_1 - [NOTIFYME]putMessage in lock cost time(ms)=%d, bodyLength=2000\n", ms)
}

func TestAMatchIsCountedAndKept(t *testing.T) {
	d := newDesk(t)
	d.feed("2026-03-01 11:59:58 INFO a - before\n" + line(1500) + "2026-03-01 12:00:00 INFO b - after\n")
	got, events := d.beat()
	if got["stallmark_log_matches_total"] != 0 || len(events) != 0 {
		t.Errorf("first beat: %v, %d events: want a zero to rise from", got, len(events))
	}
	if got, _ = d.beat(); got["stallmark_log_matches_total"] != 1 || got["stallmark_log_match_seconds_sum"] != 1.5 ||
		got["stallmark_log_match_seconds_max"] != 1.5 || got["stallmark_log_match_bytes_count"] != 1 {
		t.Errorf("second beat: %v", got)
	}
	_, events = d.beat()
	if got, _ := d.beat(); got["stallmark_log_match_seconds_max"] != 0 {
		t.Errorf("the maximum goes on: %v", got)
	}
	_ = events
}

func TestTheEventOfAMatch(t *testing.T) {
	d := newDesk(t)
	d.feed("2026-03-01 11:59:58 INFO a - before\n" + line(1500) + "after 1\nafter 2\nafter 3\nafter 4\n")
	var events []model.Event
	for range 4 {
		_, more := d.beat()
		events = append(events, more...)
	}
	if len(events) != 1 {
		t.Fatalf("%d events, want 1", len(events))
	}
	e := events[0]
	end := time.Date(2026, 3, 1, 4, 0, 0, 0, time.UTC) // GMT+8
	if !e.To.Equal(end) || !e.From.Equal(end.Add(-1500*time.Millisecond)) {
		t.Errorf("from %v to %v", e.From, e.To)
	}
	for key, want := range map[string]string{
		"pattern": "in-lock", "product": "rocketmq", "source": "/logs/store.log", "process": "rocketmq-broker", "pid": "42",
		"seconds": "1.5", "bytes": "2000", "thread": "SendMessageThread_1", "uncertainty_ms": "1000", "offset": "36",
		"before": "2026-03-01 11:59:58 INFO a - before", "after": "after 1\nafter 2\nafter 3",
	} {
		if e.Attrs[key] != want {
			t.Errorf("%s is %q, want %q", key, e.Attrs[key], want)
		}
	}
	if e.Kind != model.EventLog || !strings.Contains(e.Text, "[NOTIFYME]") || !strings.Contains(e.Attrs["zone_why"], "came at") {
		t.Errorf("event %+v", e)
	}
}

func TestAStormIsCountedExactlyAndStoredSampled(t *testing.T) {
	d := newDesk(t)
	const n = 100_000
	text := line(700)
	d.feed(strings.Repeat(text, n))
	var got map[string]float64
	total, stored := 0, 0
	for range 5 {
		var events []model.Event
		got, events = d.beat()
		stored += len(events)
		for _, e := range events {
			total += max(e.Count, 1)
		}
	}
	if got["stallmark_log_matches_total"] != n {
		t.Errorf("%v matches counted, want %d", got["stallmark_log_matches_total"], n)
	}
	if stored > 2*storedPerSecond || total != n {
		t.Errorf("%d events that stand for %d lines", stored, total)
	}
}

func TestUnknownWarningsAreCountedByShape(t *testing.T) {
	d := newDesk(t)
	for i := range 1000 {
		d.feed(fmt.Sprintf("2026-03-01 12:00:%02d WARN Thread_%d - slave 10.0.0.%d:10911 fell behind by %d bytes, id=7F0000%X\n", i%60, i%8, i%250, i*977, i))
	}
	d.feed("2026-03-01 12:00:01 ERROR main - something else\n2026-03-01 12:00:01 INFO main - not a WARN line, though it says so\n")
	unknown := d.source.Unknown()
	if len(unknown) != 2 || unknown[0].Count != 1000 || unknown[0].Level != "warn" || unknown[1].Level != "error" {
		t.Fatalf("%+v", unknown)
	}
	if want := "# WARN Thread_"; strings.Contains(unknown[0].Text, "10.0") || !strings.HasPrefix(unknown[0].Text, "# WARN #") {
		t.Errorf("shape %q, want one that begins like %q with numbers left out", unknown[0].Text, want)
	}
	_, events := d.beat()
	if len(events) != 2 || events[0].Count != 1000 || events[0].Attrs["shape"] != unknown[0].Text {
		t.Errorf("events %+v", events)
	}
}

func TestLinesThatDoNotMatchAllocateNothing(t *testing.T) {
	d := newDesk(t)
	block := []byte(strings.Repeat("2026-03-01 12:00:00 INFO SendMessageThread_1 - a line about nothing in particular\n", 1000))
	if n := testing.AllocsPerRun(20, func() { d.feeder.feed(block, "store.log", 0, false) }); n > 0 {
		t.Errorf("%v allocations for 1000 lines", n)
	}
}

func TestALogThatIsLeftHasNoSeries(t *testing.T) {
	d := newDesk(t)
	d.feed(line(700))
	d.beat()
	if got, _ := d.beat(); got["stallmark_log_matches_total"] != 1 {
		t.Fatalf("%v", got)
	}
	d.source.Close(d.feeder.consumer)
	d.out.Reset(d.at.Add(time.Second))
	_ = d.source.Collect(d.root, d.out)
	d.out.EndMissing()
	if samples := d.out.Samples(); len(samples) == 0 || !model.IsStale(samples[0].Value) {
		t.Errorf("samples %v, want ends of series", samples)
	}
}

// TestSourceTakesOtherPatterns has the patterns read again while lines come.
func TestSourceTakesOtherPatterns(t *testing.T) {
	d := newDesk(t)
	d.feed(line(700))
	d.beat()
	other := model.LogPattern{ID: "other", Product: "rocketmq", Proof: model.ProofDirect, Literals: []string{"something else"}}
	set, err := match.New([]model.LogPattern{other})
	must(t, err)
	d.source.Use(set, []model.LogPattern{other})
	d.feed(line(700) + "2026-03-01 12:00:01 WARN x - something else\n")
	d.beat()
	d.beat()
	got := map[string]float64{}
	for _, s := range d.out.Samples() {
		if s.Series.Name == "stallmark_log_matches_total" {
			got[s.Series.Get("pattern")] += s.Value
		}
	}
	if got["in-lock"] != 1 || got["other"] != 1 {
		t.Errorf("%v", got)
	}
	d.source.Use(nil, nil) // all of them were mistaken
	d.feed("2026-03-01 12:00:01 WARN x - something else\n")
	d.beat()
}
