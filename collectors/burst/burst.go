package burst

import (
	"context"
	"fmt"
	"sync"
	"time"

	"stallmark/collectors"
	"stallmark/storage/model"
)

// Config is what a [Burst] needs. Zero durations and budgets get the defaults
// in brackets.
type Config struct {
	Slow, Fast time.Duration // beats outside and inside a burst [1 s, 100 ms]
	Hold       time.Duration // fast for so long after the last trigger [30 s]
	Longest    time.Duration // never longer [2 min]
	Cooldown   time.Duration // triggers are ignored for so long after a burst [60 s]
	Rest       time.Duration // and for up to so long where pressure is the usual state [30 min]
	Share      float64       // of one CPU, what we may cost in a burst [0.05]
	Bytes      int64         // what a burst may keep [20 MB]
	PerSample  int64         // bytes that one sample is counted for [16]

	Now         func() time.Time
	SetInterval func(time.Duration) error // of the sampler
	Cost        func() time.Duration      // CPU time of all our processes so far; nil: not measured
	Samples     func() int64              // samples handed over so far; nil: not measured
	Begin       func(Cause)               // when a burst begins, before the beat changes; may be nil
	End         func()                    // when it is over; may be nil
	How         func() error              // coverage, as of [Trigger.How]; may be nil
}

// withDefaults fills in what was left out.
func (c Config) withDefaults() Config {
	or := func(d *time.Duration, v time.Duration) {
		if *d <= 0 {
			*d = v
		}
	}
	or(&c.Slow, time.Second)
	or(&c.Fast, collectors.MinInterval)
	or(&c.Hold, 30*time.Second)
	or(&c.Longest, 2*time.Minute)
	or(&c.Cooldown, time.Minute)
	or(&c.Rest, 30*time.Minute)
	if c.Share <= 0 {
		c.Share = 0.05
	}
	if c.Bytes <= 0 {
		c.Bytes = 20e6
	}
	if c.PerSample <= 0 {
		c.PerSample = 16
	}
	return c
}

// checkPeriod is how often a burst looks at its budget and its end.
const checkPeriod = time.Second

// leastSpan is the shortest time over which the cost is judged: the beginning
// of a burst may be dear.
const leastSpan = 10 * time.Second

// Status is what a [Burst] is doing, for the status page.
type Status struct {
	Active  bool
	Since   time.Time // of the burst under way, or of the last one
	Ended   time.Time // of the last burst, zero while one is under way
	Quiet   time.Time // triggers are ignored before this time
	Cause   Cause     // of the burst under way, or of the last one
	Why     string    // the last one ended
	Bursts  int       // begun so far
	Ignored int       // triggers in cooldown
}

// Burst switches the sampler to fast beats when it is told of pressure, for a
// bounded time and within a budget. It is also a [collectors.Source], which
// tells of itself.
type Burst struct {
	cfg    Config
	causes chan Cause

	mu     sync.Mutex
	status Status
	events []model.Event

	streak  int           // bursts that followed at once on the one before
	last    time.Time     // newest trigger of the burst
	cost    time.Duration // at the beginning of the burst
	samples int64         // likewise

	active, total *model.Series
}

// New makes a burst that is at rest.
func New(cfg Config) *Burst {
	return &Burst{
		cfg:    cfg.withDefaults(),
		causes: make(chan Cause, 1),
		active: model.NewSeries("stallmark_burst_active"),
		total:  model.NewSeries("stallmark_bursts_total"),
	}
}

// Fire tells of pressure. It never blocks: causes that come faster than they
// can be looked at say the same thing.
func (b *Burst) Fire(c Cause) {
	select {
	case b.causes <- c:
	default:
	}
}

// Status may be called from any goroutine.
func (b *Burst) Status() Status {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.status
}

// Active reports whether a burst is under way: sources that see more at a
// price ask it.
func (b *Burst) Active() bool { return b.Status().Active }

// Run follows the triggers until ctx ends, and then ends a burst that is under
// way.
func (b *Burst) Run(ctx context.Context) error {
	for {
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case c := <-b.causes:
			now := b.cfg.Now()
			if now.Before(b.Status().Quiet) {
				b.note(func(s *Status) { s.Ignored++ })
				continue
			}
			if b.begin(c, now) {
				b.end(b.hold(ctx))
			}
		}
	}
}

// begin switches to fast beats.
func (b *Burst) begin(c Cause, now time.Time) bool {
	b.last = now
	if b.cfg.Cost != nil {
		b.cost = b.cfg.Cost()
	}
	if b.cfg.Samples != nil {
		b.samples = b.cfg.Samples()
	}
	if b.cfg.Begin != nil {
		b.cfg.Begin(c)
	}
	if err := b.cfg.SetInterval(b.cfg.Fast); err != nil {
		b.tell(now, fmt.Sprintf("no burst: %v", err))
		b.note(func(s *Status) { s.Quiet = now.Add(b.cfg.Cooldown) })
		return false
	}
	b.note(func(s *Status) {
		if b.streak++; s.Bursts == 0 || now.Sub(s.Quiet) > b.cfg.Cooldown {
			b.streak = 0
		}
		s.Active, s.Since, s.Ended, s.Cause, s.Why = true, now, time.Time{}, c, ""
		s.Bursts++
	})
	b.tell(now, fmt.Sprintf("sampling every %v: %s", b.cfg.Fast, c.Text))
	return true
}

// hold waits for the end of the burst and says why it came.
func (b *Burst) hold(ctx context.Context) (why string) {
	tick := time.NewTicker(checkPeriod)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return "stopping"
		case <-b.causes:
			b.last = b.cfg.Now()
		case <-tick.C:
			if why := b.over(b.cfg.Now()); why != "" {
				return why
			}
		}
	}
}

// over is why the burst has to end now, empty if it has not.
func (b *Burst) over(now time.Time) string {
	ran := now.Sub(b.status.Since)
	if b.cfg.Cost != nil {
		spent := b.cfg.Cost() - b.cost
		if spent > time.Duration(b.cfg.Share*float64(max(ran, leastSpan))) {
			return fmt.Sprintf("budget of %.0f %% of a CPU: %d ms spent in %v", 100*b.cfg.Share, spent.Milliseconds(), ran)
		}
	}
	if b.cfg.Samples != nil {
		if kept := (b.cfg.Samples() - b.samples) * b.cfg.PerSample; kept > b.cfg.Bytes {
			return fmt.Sprintf("budget of %d MB: about %d kB kept in %v", b.cfg.Bytes/1e6, kept/1e3, ran)
		}
	}
	switch {
	case ran >= b.cfg.Longest:
		return fmt.Sprintf("pressure lasts, but so does the burst: %v", ran)
	case now.Sub(b.last) >= b.cfg.Hold:
		return "pressure is over"
	}
	return ""
}

// end goes back to slow beats and rests.
func (b *Burst) end(why string) {
	now := b.cfg.Now()
	_ = b.cfg.SetInterval(b.cfg.Slow) // it was the interval before
	if b.cfg.End != nil {
		b.cfg.End()
	}
	b.note(func(s *Status) {
		s.Active, s.Ended, s.Why, s.Quiet = false, now, why, now.Add(b.rest())
	})
	b.tell(now, fmt.Sprintf("sampling every %v again: %s", b.cfg.Slow, why))
}

// rest is how long triggers are ignored after a burst: twice as long each time
// that pressure was still there after the rest, since then it is the usual
// state of this host and no event.
func (b *Burst) rest() time.Duration {
	rest := b.cfg.Cooldown
	for range b.streak {
		if rest *= 2; rest >= b.cfg.Rest {
			return b.cfg.Rest
		}
	}
	return rest
}

// note changes the status.
func (b *Burst) note(change func(*Status)) {
	b.mu.Lock()
	defer b.mu.Unlock()
	change(&b.status)
}

// tell keeps an event for the next beat.
func (b *Burst) tell(at time.Time, text string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.events = append(b.events, model.Event{
		From: at, Kind: model.EventSelf, Text: text, Attrs: map[string]string{"about": "burst"},
	})
}

// Name implements [collectors.Source].
func (*Burst) Name() string { return "burst" }

// Provides implements [collectors.Source].
func (*Burst) Provides() []string { return []string{"stallmark_burst"} }

// Collect implements [collectors.Source]: whether a burst is under way, how
// many there were, and by what means pressure is noticed.
func (b *Burst) Collect(_ collectors.Root, out *collectors.Out) error {
	b.mu.Lock()
	s, events := b.status, b.events
	b.events = nil
	b.mu.Unlock()
	active := 0.0
	if s.Active {
		active = 1
	}
	out.Add(b.active, active)
	out.Add(b.total, float64(s.Bursts))
	for _, e := range events {
		out.Event(e)
	}
	if b.cfg.How == nil {
		return nil
	}
	return b.cfg.How()
}
