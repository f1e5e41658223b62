package main

import (
	"context"
	"log/slog"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"stallmark/collectors"
	"stallmark/collectors/burst"
	"stallmark/collectors/host"
	"stallmark/storage/model"
)

// flight is the flight recorder of a service: under pressure it has the host
// sampled fast for a while.
type flight struct {
	burst   *burst.Burst
	trigger *burst.Trigger
	sink    *prerollSink
	sampler *collectors.Sampler // set before it is run
}

// flightConfig is what a flight recorder needs.
type flightConfig struct {
	options *options
	machine machine
	root    collectors.Root
	now     func() time.Time
	sink    collectors.Sink      // takes what is sampled
	cost    func() time.Duration // CPU time that all our processes have spent
	log     *slog.Logger
}

// newFlight makes the flight recorder of a host.
func newFlight(c flightConfig) *flight {
	o := c.options
	ring := burst.NewRing(burst.PrerollFiles(), o.interval+time.Second, maxPreroll)
	f := &flight{sink: &prerollSink{Sink: c.sink, ring: ring, sources: prerollSources(c.machine)}}
	f.trigger = burst.NewTrigger(burst.TriggerConfig{Root: c.root, Now: c.now, Procfs: o.paths.Procfs, Ring: ring})
	f.burst = burst.New(burst.Config{
		Slow: o.interval, Now: c.now, Cost: c.cost,
		SetInterval: func(d time.Duration) error { return f.sampler.SetInterval(d) },
		Samples:     f.sink.samples.Load,
		Begin: func(cause burst.Cause) {
			f.sink.wanted.Store(true)
			c.log.Info("sampling fast for a while", "cause", cause.Text)
		},
		How: f.trigger.How,
	})
	return f
}

// maxPreroll bounds the readings that are kept for a burst, in bytes.
const maxPreroll = 1 << 20

// prerollSources read the files of the ring. They are instances of their own.
func prerollSources(m machine) []collectors.Source {
	return slices.DeleteFunc(host.Sources(m.hostConfig()), func(s collectors.Source) bool {
		return !slices.Contains([]string{"vmstat", "diskstats", "pressure"}, s.Name())
	})
}

// run follows the triggers until ctx ends.
func (f *flight) run(ctx context.Context) {
	var both sync.WaitGroup
	both.Go(func() { _ = f.trigger.Run(ctx, f.burst.Fire) }) // it ends with ctx alone
	both.Go(func() { _ = f.burst.Run(ctx) })
	both.Wait()
}

// prerollSink puts what the ring holds before the first beat of a burst: the
// readings since the beat before. A store takes beats in order only, so what is
// older stays as it was sampled. That is little to lose: the triggers look back
// one second.
type prerollSink struct {
	collectors.Sink
	ring    *burst.Ring
	sources []collectors.Source

	wanted  atomic.Bool // a burst has begun
	samples atomic.Int64
	last    time.Time // newest beat
}

// Append implements collectors.Sink.
func (s *prerollSink) Append(b model.Batch) {
	at := time.UnixMilli(b.At)
	if s.wanted.Swap(false) && !s.last.IsZero() {
		s.ring.Replay(s.sources, s.Sink, s.last, at)
	}
	s.last = at
	s.samples.Add(int64(len(b.Samples)))
	s.Sink.Append(b)
}
