package trace

import (
	"encoding/binary"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"stallmark/collectors"
	"stallmark/storage/model"
)

// lab is a source on a canned host with fake tracepoints.
type lab struct {
	t      *testing.T
	root   *collectors.MapRoot
	source *Source
	out    *collectors.Out
	start  time.Time
	at     time.Time
	stall  time.Duration // of io so far

	refuse  error
	opened  []string // probes and CPUs of each opening
	readers []*fakeReader
	process map[int]string // watched, by pid
}

type fakeReader struct {
	lab     *lab
	records [][]byte
	drained Drained
	limits  []int
	closed  chan bool
	noClock bool
}

func (r *fakeReader) Drain(limit int, take func(*Sample)) Drained {
	r.limits = append(r.limits, limit)
	ring := &ring{data: make([]byte, 1<<16)}
	head := uint64(0)
	for _, rec := range r.records {
		fill(ring, head, rec)
		head += uint64(len(rec))
	}
	r.records = nil
	d := ring.drain(head, limit, take)
	d.add(r.drained)
	r.drained = Drained{}
	return d
}
func (r *fakeReader) Clocked() bool { return !r.noClock }
func (r *fakeReader) Close()        { close(r.closed) }

func (l *lab) Watched(tid int) (string, int, bool) {
	name, ok := l.process[tid]
	return name, tid, ok
}

func newLab(t *testing.T) *lab {
	l := &lab{t: t, root: testTree(t), out: collectors.NewOut("tracepoints"), start: time.Unix(1000, 0)}
	l.at = l.start
	l.process = map[int]string{500: "rocketmq-broker"}
	l.source = New(Config{
		Watched: l,
		Clock:   l.clock,
		Open: func(probes []Probe, cpus []int) (Reader, error) {
			l.opened = append(l.opened, fmt.Sprint(len(probes), cpus))
			if l.refuse != nil {
				return nil, l.refuse
			}
			r := &fakeReader{lab: l, closed: make(chan bool)}
			l.readers = append(l.readers, r)
			return r, nil
		},
	})
	return l
}

// clock is the records' clock: it was 5 s at the start.
func (l *lab) clock() uint64 { return uint64(l.at.Sub(l.start) + 5*time.Second) }

// beat collects at a time after the start, with so much io stall since the
// last beat.
func (l *lab) beat(after time.Duration, stalled time.Duration) error {
	l.at = l.start.Add(after)
	l.stall += stalled
	l.root.Files["proc/pressure/io"] = fmt.Appendf(nil, "some avg10=0 total=%d\n", l.stall.Microseconds())
	l.out.Reset(l.at)
	err := l.source.Collect(l.root, l.out)
	l.out.EndMissing()
	return err
}

// open collects twice, so that the tracepoints are open.
func (l *lab) open() *fakeReader {
	l.t.Helper()
	for i, stalled := range []time.Duration{0, 50 * time.Millisecond} {
		if err := l.beat(time.Duration(i)*time.Second, stalled); gapState(err) != model.SourceOK {
			l.t.Fatal(err)
		}
	}
	return l.readers[len(l.readers)-1]
}

// value is a sample of the beat by "name{process,wait}".
func (l *lab) value(name, process, wait string) (float64, bool) {
	for _, s := range l.out.Samples() {
		if s.Series.Name == name && s.Series.Get("process") == process && s.Series.Get("wait") == wait {
			return s.Value, true
		}
	}
	return 0, false
}

func (l *lab) want(name, process, wait string, want float64) {
	l.t.Helper()
	if got, ok := l.value(name, process, wait); !ok || got < want-1e-9 || got > want+1e-9 {
		l.t.Errorf("%s{%s,%s} = %v, %v; want %v", name, process, wait, got, ok, want)
	}
}

func gapState(err error) model.SourceState {
	if gap, ok := errors.AsType[*collectors.Gap](err); ok {
		return gap.State
	}
	return model.SourceFailed
}

// pauseRaw is balance_dirty_pages' data of 6.18.
func pauseRaw(ms int64) []byte {
	raw := make([]byte, 148)
	binary.NativeEndian.PutUint16(raw, 985)
	binary.NativeEndian.PutUint32(raw[100:], 7777) // dirtied_pause
	binary.NativeEndian.PutUint64(raw[104:], 8888) // paused
	binary.NativeEndian.PutUint64(raw[112:], uint64(ms))
	return raw
}

// eventRaw is the data of an event of which only the type matters.
func eventRaw(id uint16) []byte { return binary.NativeEndian.AppendUint64(nil, uint64(id))[:8] }

const reclaimBegin, reclaimEnd, compactBegin, compactEnd = 637, 634, 670, 669

func TestSourceOpensUnderPressureAndClosesAfterCalm(t *testing.T) {
	l := newLab(t)
	if err := l.beat(0, 0); gapState(err) != model.SourceOK {
		t.Fatal(err)
	}
	<-l.readers[0].closed // of the attempt at the beginning
	_ = l.beat(time.Second, 20*time.Millisecond)
	if len(l.opened) != 1 || l.opened[0] != "1 [0]" || len(l.out.Samples()) != 0 {
		t.Fatalf("opened %v, samples %v; want only the attempt and no samples", l.opened, l.out.Samples())
	}
	_ = l.beat(2*time.Second, 50*time.Millisecond)
	if len(l.opened) != 2 || l.opened[1] != "7 [0 1]" {
		t.Fatalf("opened %v", l.opened)
	}
	for _, w := range []string{"dirty_throttle", "reclaim", "memcg_reclaim", "compaction"} {
		l.want("stallmark_wait_seconds_total", "host", w, 0)
	}
	r := l.readers[1]
	r.records = [][]byte{sampleRecord(900, 900, 6900*ms, pauseRaw(120))}
	for s := 3; s < 33; s++ {
		_ = l.beat(time.Duration(s)*time.Second, 0)
		l.want("stallmark_wait_seconds_total", "host", "dirty_throttle", 0.120)
	}
	<-r.closed
	_ = l.beat(33*time.Second, 0)
	l.want("stallmark_wait_seconds_total", "host", "dirty_throttle", 0.120)
	if _, ok := l.value("stallmark_wait_max_seconds", "host", "dirty_throttle"); ok {
		if v, _ := l.value("stallmark_wait_max_seconds", "host", "dirty_throttle"); !model.IsStale(v) {
			t.Error("a longest wait although nothing is open")
		}
	}
	if len(r.limits) != 30 || r.limits[0] != 20_000 {
		t.Errorf("%d drains, limits %v", len(r.limits), r.limits)
	}
	_ = l.beat(34*time.Second, 50*time.Millisecond)
	if len(l.opened) != 3 {
		t.Errorf("opened %v, want a third time", l.opened)
	}
	l.source.Close()
}

func TestSourceCountsByProcess(t *testing.T) {
	l := newLab(t)
	r := l.open()
	r.records = [][]byte{
		sampleRecord(500, 501, 6100*ms, pauseRaw(200)),
		sampleRecord(500, 502, 6110*ms, pauseRaw(5)),
		sampleRecord(500, 501, 6400*ms, pauseRaw(-1)), // no pause
		sampleRecord(900, 900, 6500*ms, eventRaw(reclaimBegin)),
		sampleRecord(900, 900, 6530*ms, eventRaw(reclaimEnd)),
		sampleRecord(71, 71, 6500*ms, eventRaw(compactBegin)), // kcompactd at work
		sampleRecord(71, 71, 6800*ms, eventRaw(compactEnd)),
		sampleRecord(1, 1, 6000*ms, eventRaw(4711)),         // somebody else's event
		sampleRecord(1, 1, 6000*ms, pauseRaw(9)[:100]),      // cut before the pause
		sampleRecord(1, 1, 6000*ms, []byte{1}),              // cut before the type
		sampleRecord(-1, -1, 6000*ms, pauseRaw(50)),         // a thread that is ending
		sampleRecord(2, 2, 6990*ms, eventRaw(reclaimBegin)), // under way
	}
	_ = l.beat(2*time.Second, 0)
	l.want("stallmark_waits_total", "rocketmq-broker", "dirty_throttle", 0) // new: counted in the next beat
	l.want("stallmark_wait_max_seconds", "rocketmq-broker", "dirty_throttle", 0.2)
	l.want("stallmark_wait_seconds_total", "host", "reclaim", 0.040)
	l.want("stallmark_waits_total", "host", "reclaim", 1)
	l.want("stallmark_wait_max_seconds", "host", "reclaim", 0.030)
	l.want("stallmark_waits_total", "host", "compaction", 0)
	l.want("stallmark_trace_records_total", "", "", 12)
	l.checkEvents("SendMessageThre (thread 501) of rocketmq-broker waited 200 ms in balance_dirty_pages",
		"dd (thread 900) of dd waited 30 ms in try_to_free_pages",
		"thread 2 of host has been waiting 10 ms in try_to_free_pages")

	_ = l.beat(3*time.Second, 0)
	l.want("stallmark_waits_total", "rocketmq-broker", "dirty_throttle", 2)
	l.want("stallmark_wait_seconds_total", "rocketmq-broker", "dirty_throttle", 0.205)
	l.want("stallmark_wait_max_seconds", "rocketmq-broker", "dirty_throttle", 0)
	l.want("stallmark_wait_seconds_total", "host", "reclaim", 1.040)
	l.checkEvents() // told lately
	for _, s := range l.out.Samples() {
		pid := map[string]string{"rocketmq-broker": "500"}[s.Series.Get("process")]
		if s.Series.Get("pid") != pid {
			t.Errorf("pid of %v", s.Series)
		}
	}
	delete(l.process, 500)
	_ = l.beat(4*time.Second, 0)
	if v, ok := l.value("stallmark_waits_total", "rocketmq-broker", "dirty_throttle"); !ok || !model.IsStale(v) {
		t.Errorf("a process that is gone still has %v", v)
	}
	l.source.Close()
}

func (l *lab) checkEvents(want ...string) {
	l.t.Helper()
	var got []string
	for _, e := range l.out.Events() {
		got = append(got, e.Text)
		if e.Kind != model.EventBlocked || e.To.Before(e.From) || e.To.After(l.at) {
			l.t.Errorf("event %+v", e)
		}
	}
	if strings.Join(got, "\n") != strings.Join(want, "\n") {
		l.t.Errorf("events\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

func TestSourceEventTimesAndAttrs(t *testing.T) {
	l := newLab(t)
	r := l.open()
	r.records = [][]byte{sampleRecord(500, 501, 6100*ms, pauseRaw(200))}
	_ = l.beat(2*time.Second, 0)
	if len(l.out.Events()) != 1 {
		t.Fatalf("events %+v", l.out.Events())
	}
	e := l.out.Events()[0]
	if got := e.From.Sub(l.start); got != 1100*time.Millisecond || e.To.Sub(e.From) != 200*time.Millisecond {
		t.Errorf("from %v for %v", got, e.To.Sub(e.From))
	}
	want := "map[function:balance_dirty_pages ms:200 pid:500 process:rocketmq-broker thread:SendMessageThre tid:501 wait:dirty_throttle]"
	if got := fmt.Sprint(e.Attrs); got != want {
		t.Errorf("attrs %s", got)
	}
	l.source.Close()
}

func TestSourceCapsEvents(t *testing.T) {
	l := newLab(t)
	r := l.open()
	for i := range 50 {
		r.records = append(r.records, sampleRecord(900, 1000+i, 6100*ms, pauseRaw(int64(10+i))))
	}
	_ = l.beat(2*time.Second, 0)
	if got := l.out.Events(); len(got) != maxEvents || got[0].Attrs["ms"] != "59" || got[4].Attrs["ms"] != "55" {
		t.Errorf("events %+v", got)
	}
	l.source.Close()
}

func TestSourceSaysWhatItDropped(t *testing.T) {
	l := newLab(t)
	r := l.open()
	r.records = [][]byte{sampleRecord(900, 900, 6100*ms, eventRaw(reclaimBegin))}
	r.drained = Drained{Lost: 3, Skipped: 2}
	err := l.beat(2*time.Second, 0)
	if gapState(err) != model.SourcePartial {
		t.Errorf("coverage %v", err)
	}
	r.records = [][]byte{sampleRecord(900, 900, 6200*ms, eventRaw(reclaimEnd))}
	if err := l.beat(3*time.Second, 0); gapState(err) != model.SourcePartial {
		t.Errorf("coverage %v, want partial for a while", err)
	}
	l.want("stallmark_wait_seconds_total", "host", "reclaim", 0) // the wait is in doubt
	for _, s := range l.out.Samples() {
		want := map[string]float64{"ring": 3, "budget": 2}[s.Series.Get("reason")]
		if s.Series.Name == "stallmark_trace_records_dropped_total" && s.Value != want {
			t.Errorf("%v = %v, want %v", s.Series, s.Value, want)
		}
	}
	if err := l.beat(70*time.Second, 0); gapState(err) != model.SourceOK {
		t.Errorf("coverage %v, want ok in the end", err)
	}
	l.source.Close()
	err = l.beat(71*time.Second, 900)
	live := func(s model.Sample) bool { return !model.IsStale(s.Value) }
	if gapState(err) != model.SourceAbsent || slices.ContainsFunc(l.out.Samples(), live) {
		t.Errorf("after the end: %v, samples %v", err, l.out.Samples())
	}
}

func TestSourceBudgetFollowsTheBeat(t *testing.T) {
	l := newLab(t)
	r := l.open()
	_ = l.beat(1100*time.Millisecond, 0)
	_ = l.beat(5*time.Second, 0)
	if fmt.Sprint(r.limits) != "[2000 20000]" {
		t.Errorf("limits %v", r.limits)
	}
	l.source.Close()
}

func TestSourceWithoutTheClock(t *testing.T) {
	l := newLab(t)
	r := l.open()
	r.noClock = true
	r.records = [][]byte{
		sampleRecord(500, 501, 1, pauseRaw(200)),
		sampleRecord(900, 900, 1e15, eventRaw(reclaimBegin)), sampleRecord(900, 900, 1e15+20*ms, eventRaw(reclaimEnd)),
	}
	_ = l.beat(2*time.Second, 0)
	l.want("stallmark_wait_seconds_total", "host", "reclaim", 0.020)
	for _, e := range l.out.Events() {
		if !e.From.Equal(l.at) || !e.To.Equal(l.at) {
			t.Errorf("times made up: %+v", e)
		}
	}
	l.source.Close()
}
