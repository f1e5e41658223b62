package burst

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"stallmark/collectors"
	"stallmark/storage/model"
)

// host is what a burst acts on.
type host struct {
	start      time.Time
	costRate   time.Duration // CPU time a second
	sampleRate int64         // a second
	refuse     error
	changes    []change
	begun      []string
	ended      int
}

type change struct {
	ms       int64 // since the start
	interval time.Duration
}

func (h *host) config() Config {
	return Config{
		Now: time.Now,
		SetInterval: func(d time.Duration) error {
			h.changes = append(h.changes, change{time.Since(h.start).Milliseconds(), d})
			return h.refuse
		},
		// Only what is added counts, so begin with a lot.
		Cost:    func() time.Duration { return time.Hour + time.Duration(h.seconds()*float64(h.costRate)) },
		Samples: func() int64 { return 1<<40 + int64(h.seconds()*float64(h.sampleRate)) },
		Begin:   func(c Cause) { h.begun = append(h.begun, c.Text) },
		End:     func() { h.ended++ },
	}
}

func (h *host) seconds() float64 { return time.Since(h.start).Seconds() }

// drive runs a burst for some time with triggers at the given ones, all in ms.
func drive(t *testing.T, h *host, b *Burst, ms int, triggers ...int) {
	t.Helper()
	h.start = time.Now()
	for _, at := range triggers {
		time.AfterFunc(time.Duration(at)*time.Millisecond, func() { b.Fire(Cause{What: "io", Text: "io: stalled"}) })
	}
	ctx, cancel := context.WithTimeout(t.Context(), time.Duration(ms)*time.Millisecond)
	defer cancel()
	if err := b.Run(ctx); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("run ended with %v", err)
	}
	synctest.Wait()
}

// every gives from, from+700, ... until to: never at the moment of a check.
func every(from, to int) (ms []int) {
	for ; from < to; from += 700 {
		ms = append(ms, from)
	}
	return ms
}

const fast, slow = 100 * time.Millisecond, time.Second

func TestBurst(t *testing.T) {
	tests := map[string]struct {
		ms       int
		triggers []int
		want     []change
		why      string
		bursts   int
		ignored  int
	}{
		"calm": {ms: 600_000},
		"one trigger": {
			ms: 100_000, triggers: []int{5300}, bursts: 1, why: "pressure is over",
			want: []change{{5300, fast}, {35_300, slow}},
		},
		"extended while pressure lasts": { // the last trigger is at 49.8 s
			ms: 200_000, triggers: every(5000, 50_000), bursts: 1, why: "pressure is over",
			want: []change{{5000, fast}, {80_000, slow}},
		},
		"never longer than two minutes, then a rest": {
			ms: 190_000, triggers: every(5000, 300_000), bursts: 2, ignored: 86, why: "stopping",
			want: []change{{5000, fast}, {125_000, slow}, {185_600, fast}, {190_000, slow}},
		},
		"a trigger in the cooldown is ignored": {
			ms: 200_000, triggers: []int{0, 31_000, 89_000, 91_000}, bursts: 2, ignored: 2, why: "pressure is over",
			want: []change{{0, fast}, {30_000, slow}, {91_000, fast}, {121_000, slow}},
		},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				h := &host{}
				b := New(h.config())
				drive(t, h, b, tt.ms, tt.triggers...)
				if !slices.Equal(h.changes, tt.want) {
					t.Errorf("beats %v, want %v", h.changes, tt.want)
				}
				s := b.Status()
				if s.Why != tt.why || s.Bursts != tt.bursts || s.Ignored != tt.ignored || s.Active {
					t.Errorf("status %+v", s)
				}
				if len(h.begun) != tt.bursts || h.ended != tt.bursts {
					t.Errorf("%d begun and %d ended", len(h.begun), h.ended)
				}
			})
		})
	}
}

func TestBurstRestsLongerWherePressureIsUsual(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := &host{}
		c := h.config()
		c.Rest = 5 * time.Minute
		b := New(c)
		const hours = 3600 * 1000
		calm := append(every(0, hours), every(2*hours, 2*hours+200_000)...)
		drive(t, h, b, 3*hours, calm...)
		var rests []int64 // s
		for i := 2; i < len(h.changes); i += 2 {
			rests = append(rests, (h.changes[i].ms-h.changes[i-1].ms)/1000)
		}
		if len(rests) < 6 || rests[0] != 60 || rests[1] != 120 || rests[2] != 240 || rests[3] != 300 || rests[4] != 300 {
			t.Errorf("rests of %d s, want 60, 120, 240 and then 300", rests)
		}
		if last := rests[len(rests)-1]; last != 60 {
			t.Errorf("rest of %d s after an hour of calm, want 60", last)
		}
	})
}

func TestBurstKeepsItsBudget(t *testing.T) {
	tests := map[string]struct {
		cpu     time.Duration // a second
		samples int64         // a second
		ends    int64         // s
		why     string
	}{
		"cheap":        {40 * time.Millisecond, 10_000, 30, "pressure is over"},
		"dear":         {100 * time.Millisecond, 0, 6, "budget of 5 % of a CPU: 600 ms spent in 6s"},
		"a bit dear":   {51 * time.Millisecond, 0, 10, "budget of 5 % of a CPU"},
		"much to keep": {0, 100_000, 13, "budget of 20 MB: about 20800 kB kept in 13s"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				h := &host{costRate: tt.cpu, sampleRate: tt.samples}
				b := New(h.config())
				drive(t, h, b, 60_000, 0)
				if len(h.changes) != 2 || h.changes[1].ms != 1000*tt.ends {
					t.Errorf("beats %v, want the end at %v", h.changes, tt.ends)
				}
				if s := b.Status(); !strings.HasPrefix(s.Why, tt.why) {
					t.Errorf("ended: %s, want %s", s.Why, tt.why)
				}
			})
		})
	}
}

func TestBurstThatCannotBegin(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := &host{refuse: errors.New("too fast")}
		b := New(h.config())
		drive(t, h, b, 100_000, every(0, 70_000)...)
		if len(h.changes) != 2 { // tried again after the cooldown
			t.Errorf("beats %v", h.changes)
		}
		if s := b.Status(); s.Active || s.Bursts != 0 {
			t.Errorf("status %+v", s)
		}
	})
}

func TestBurstTellsOfItself(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := &host{}
		cfg := h.config()
		cfg.How = func() error { return collectors.Partial("d", "m") }
		b := New(cfg)
		out := collectors.NewOut(b.Name())
		collect := func() (active, total float64, events []model.Event) {
			out.Reset(time.Now())
			if err := b.Collect(nil, out); err == nil || !strings.Contains(err.Error(), "d") {
				t.Errorf("coverage %v", err)
			}
			return out.Samples()[0].Value, out.Samples()[1].Value, out.Events()
		}
		if a, n, ev := collect(); a != 0 || n != 0 || len(ev) != 0 {
			t.Errorf("at rest: %v %v %v", a, n, ev)
		}
		time.AfterFunc(10*time.Second, func() {
			if a, n, ev := collect(); a != 1 || n != 1 || len(ev) != 1 || ev[0].Text != "sampling every 100ms: io: stalled" {
				t.Errorf("in a burst: %v %v %v", a, n, ev)
			}
			if !b.Active() {
				t.Error("not active")
			}
		})
		drive(t, h, b, 40_000, 3000)
		if a, n, ev := collect(); a != 0 || n != 1 || len(ev) != 1 || ev[0].Kind != model.EventSelf {
			t.Errorf("after it: %v %v %v", a, n, ev)
		}
	})
}

// beatSink counts the beats by whether a burst was told to be under way.
type beatSink struct{ beats [2]int }

func (s *beatSink) Append(b model.Batch) {
	for _, sample := range b.Samples {
		if sample.Series.Name == "stallmark_burst_active" {
			s.beats[int(sample.Value)]++
		}
	}
}
func (*beatSink) Fact(model.Fact)           {}
func (*beatSink) Event(model.Event)         {}
func (*beatSink) Coverage([]model.Coverage) {}

// TestPressureMakesTheSamplerFaster has trigger, burst and sampler together.
func TestPressureMakesTheSamplerFaster(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		sink := &beatSink{}
		var sampler *collectors.Sampler
		b := New(Config{Now: time.Now, SetInterval: func(d time.Duration) error { return sampler.SetInterval(d) }})
		sampler, err := collectors.New(collectors.Config{
			Sources: []collectors.Source{b}, Sink: sink, Interval: time.Second, Now: time.Now,
		})
		if err != nil {
			t.Fatal(err)
		}
		k := &fakeKernel{fires: make(chan error)}
		trigger := NewTrigger(TriggerConfig{Now: time.Now, Procfs: "p", open: func(string) (waiter, error) { return k, nil }})
		time.AfterFunc(10450*time.Millisecond, func() { k.fires <- nil })
		ctx, cancel := context.WithTimeout(t.Context(), 60*time.Second+time.Millisecond)
		defer cancel()
		go func() { _ = b.Run(ctx) }()
		go func() { _ = trigger.Run(ctx, b.Fire) }()
		_ = sampler.Run(ctx)
		synctest.Wait()
		// Fast from 10.5 s to 40.4 s, 1 s before and after.
		if sink.beats != [2]int{10 + 20, 300} {
			t.Errorf("beats %v", sink.beats)
		}
	})
}
