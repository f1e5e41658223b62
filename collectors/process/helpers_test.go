package process

import (
	"context"
	"fmt"
	"testing"
	"time"

	"stallmark/collectors"
	"stallmark/storage/model"
)

// beat is what one beat gave, end markers left out.
type beat struct {
	values   map[string]float64 // by series, written as name{label="value",...}
	events   []model.Event
	facts    map[string]string // all so far
	coverage map[string]model.Coverage
}

// bench runs sources on trees, as a replay does.
type bench struct {
	t       testing.TB
	sampler *collectors.Sampler
	at      time.Time
	step    time.Duration
	got     beat
}

// epoch is when every test begins.
var epoch = time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)

func newBench(t testing.TB, c Config) *bench {
	t.Helper()
	if c.ClockTicks == 0 {
		c.ClockTicks = 100
	}
	b := &bench{t: t, at: epoch, step: time.Second}
	b.got.facts, b.got.coverage = map[string]string{}, map[string]model.Coverage{}
	s, err := collectors.New(collectors.Config{Sources: Sources(c), Sink: b, Interval: time.Second, Now: func() time.Time { return b.at }})
	if err != nil {
		t.Fatal(err)
	}
	b.sampler = s
	return b
}

// beat runs the sources on a tree, a step (a second) after the beat before.
func (b *bench) beat(root collectors.Root) beat {
	b.got.values, b.got.events = map[string]float64{}, nil
	b.sampler.SetRoot(root)
	b.sampler.Collect(context.Background(), b.at)
	b.at = b.at.Add(b.step)
	return b.got
}

func (b *bench) Append(batch model.Batch) {
	for _, s := range batch.Samples {
		if !model.IsStale(s.Value) {
			if _, twice := b.got.values[seriesText(s.Series)]; twice {
				b.t.Errorf("%s was given twice in a beat", seriesText(s.Series))
			}
			b.got.values[seriesText(s.Series)] = s.Value
		}
	}
}

func (b *bench) Fact(f model.Fact)   { b.got.facts[f.Key] = f.Value }
func (b *bench) Event(e model.Event) { b.got.events = append(b.got.events, e) }
func (b *bench) Coverage(cs []model.Coverage) {
	for _, c := range cs {
		b.got.coverage[c.Source] = c
	}
}

func seriesText(s *model.Series) string {
	text := s.Name
	for i, l := range s.Labels {
		if i == 0 {
			text += "{"
		} else {
			text += ","
		}
		text += l.Name + "=" + l.Value
	}
	if len(s.Labels) > 0 {
		text += "}"
	}
	return text
}

// statOf writes a line of /proc/PID/stat with one thread.
func statOf(pid int, comm string, state byte, start int) string {
	return fmt.Sprintf("%d (%s) %c 1 1 1 0 -1 4194304 100 0 5 0 250 50 0 0 20 0 1 0 %d 0 0\n", pid, comm, state, start)
}
