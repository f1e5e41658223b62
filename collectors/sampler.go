package collectors

import (
	"context"
	"errors"
	"fmt"
	"time"

	"stallmark/storage/model"
)

// MinInterval is the shortest beat.
const MinInterval = 100 * time.Millisecond

// Config is what a [Sampler] needs.
type Config struct {
	Root     Root
	Sources  []Source
	Sink     Sink
	Interval time.Duration    // at least MinInterval
	Now      func() time.Time // the clock; time.Now on a live host
	// AfterBeat runs after each beat has been handed to the sink, for instance
	// to step the rules. It shares the beat's time budget. May be nil.
	AfterBeat func(context.Context, time.Time)
	// Slow is told of each beat that began or ended late by 50 ms, and must not
	// keep it. May be nil.
	Slow func(Slow)
}

// Sampler asks every source once a beat, one after another. When they take long
// together, those that are left are asked all at once; a source that does not
// answer within half an interval is skipped and named until it does. So one that
// hangs takes nothing from the others.
type Sampler struct {
	cfg      Config
	workers  []*worker
	reader   *reader
	timer    *time.Timer // of patience and deadline
	batch    []model.Sample
	late     *model.Series
	duration []*model.Series
	skipped  *model.Series
	lost     float64
	punctual punctual
	slow     Slow               // of the beat under way
	change   chan time.Duration // an interval that Run has not taken up yet
}

// worker is one source. While a collection is under way, only its reader
// touches out; the sampler learns of the end through done.
type worker struct {
	source Source
	out    *Out
	done   chan outcome // holds one
	since  time.Time    // of the collection under way, zero if idle
	state  model.Coverage
	parts  map[string]model.Coverage // that are shown by themselves
	ended  bool                      // its series have been ended while it hangs
}

type outcome struct {
	err  error
	took time.Duration
}

// New makes a sampler. It reads nothing yet.
func New(cfg Config) (*Sampler, error) {
	if cfg.Interval < MinInterval {
		return nil, fmt.Errorf("interval %v: want at least %v", cfg.Interval, MinInterval)
	}
	s := &Sampler{
		cfg:     cfg,
		late:    model.NewSeries("stallmark_sampler_lateness_seconds"),
		skipped: model.NewSeries("stallmark_sampler_beats_lost_total"),
		change:  make(chan time.Duration, 1),
	}
	for _, src := range cfg.Sources {
		s.workers = append(s.workers, &worker{
			source: src,
			out:    NewOut(src.Name()),
			done:   make(chan outcome, 1),
		})
		s.duration = append(s.duration, model.NewSeries("stallmark_source_duration_seconds", "source", src.Name()))
	}
	return s, nil
}

// SetRoot changes the root between beats, for replay, where every tick is a
// tree of its own.
func (s *Sampler) SetRoot(r Root) { s.cfg.Root = r }

// SetInterval changes the beat of a running sampler at once: the next beat is
// the next multiple of d, however long the present one would have taken. Beats
// that the change leaves out do not count as lost. It may be called from any
// goroutine; of several calls the last one counts.
func (s *Sampler) SetInterval(d time.Duration) error {
	if d < MinInterval {
		return fmt.Errorf("interval %v: want at least %v", d, MinInterval)
	}
	for {
		select {
		case s.change <- d:
			return nil
		default:
		}
		select {
		case <-s.change: // it has been overtaken
		default:
		}
	}
}

// Run samples until ctx ends. Beats fall on multiples of the interval on the
// wall clock; one that has been missed is counted, not made up for.
func (s *Sampler) Run(ctx context.Context) error {
	next := s.cfg.Now().Truncate(s.cfg.Interval).Add(s.cfg.Interval)
	timer := time.NewTimer(next.Sub(s.cfg.Now()))
	defer timer.Stop()
	for {
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case d := <-s.change:
			s.cfg.Interval = d
			if now := s.cfg.Now(); next.After(now) { // one that is due is not dropped
				next = now.Truncate(d).Add(d)
				timer.Reset(next.Sub(now))
			}
			continue
		case <-timer.C:
		}
		at := s.cfg.Now()
		s.beat(ctx, at, at.Sub(next))
		next = s.nextBeat(next)
		timer.Reset(next.Sub(s.cfg.Now()))
	}
}

// nextBeat is the newest multiple of the interval that is due already, for a beat
// that begins late is not lost, or else the first one after now. It follows the wall
// clock when that jumps, and counts the beats that were lost: those that could not
// begin before the next was due.
func (s *Sampler) nextBeat(last time.Time) time.Time {
	next := s.cfg.Now().Truncate(s.cfg.Interval)
	if !next.After(last) {
		next = next.Add(s.cfg.Interval)
	}
	if gap := next.Sub(last); gap > s.cfg.Interval {
		s.lost += float64(gap/s.cfg.Interval) - 1
	}
	return next
}

// beat asks all idle sources, waits for them at most half an interval, and
// hands over what they gave.
func (s *Sampler) beat(ctx context.Context, at time.Time, late time.Duration) {
	s.batch = append(
		s.batch[:0],
		model.Sample{Series: s.late, Value: max(late, 0).Seconds()},
		model.Sample{Series: s.skipped, Value: s.lost},
	)
	if !s.ask(ctx, at) {
		return
	}
	s.punctual.beat(late, s.lost)
	s.slow.begin(at.Add(-late), late)
	expired := false
	for i, w := range s.workers {
		if w.since != at {
			s.hanging(w, at)
			continue
		}
		if !expired {
			select {
			case o := <-w.done:
				s.accept(i, w, at, o)
				continue
			case <-s.timer.C:
				expired = true
			}
		}
		select {
		case o := <-w.done:
			s.accept(i, w, at, o)
		default:
			s.hanging(w, at)
		}
	}
	s.timer.Stop()
	s.slow.answered = s.cfg.Now()
	s.flush(ctx, at)
	s.tellSlow()
}

// Collect does one beat at a given time without goroutines or deadlines: for
// replay, where the clock is the recording's.
func (s *Sampler) Collect(ctx context.Context, at time.Time) {
	s.batch = s.batch[:0]
	for i, w := range s.workers {
		w.out.Reset(at)
		err := w.source.Collect(s.cfg.Root, w.out)
		s.accept(i, w, at, outcome{err: err})
	}
	s.flush(ctx, at)
}

// drainLate frees a source whose answer came after its beat. The readings are
// dropped: their time has passed.
func (s *Sampler) drainLate(w *worker) {
	if w.since.IsZero() {
		return
	}
	select {
	case <-w.done:
		w.since = time.Time{}
	default:
	}
}

// durationStep is how exactly the duration of a source is kept: finer digits are
// noise that would be stored anew at every beat.
const durationStep = 50 * time.Microsecond

// accept takes over the readings of a source that answered in time.
func (s *Sampler) accept(i int, w *worker, at time.Time, o outcome) {
	w.since, w.ended = time.Time{}, false
	s.slow.took(w.source.Name(), o.took)
	w.out.EndMissing()
	s.batch = append(s.batch, w.out.Samples()...)
	s.batch = append(s.batch, model.Sample{Series: s.duration[i], Value: o.took.Round(durationStep).Seconds()})
	for _, f := range w.out.Facts() {
		s.cfg.Sink.Fact(f)
	}
	for _, e := range w.out.Events() {
		s.cfg.Sink.Event(e)
	}
	s.note(w, at, coverageOf(o.err))
	s.noteParts(w, at)
}

// noteParts tells the sink about the parts of a source whose state has changed.
func (s *Sampler) noteParts(w *worker, at time.Time) {
	covered := w.out.Covered()
	if len(covered) == 0 && len(w.parts) == 0 {
		return
	}
	if w.parts == nil {
		w.parts = map[string]model.Coverage{}
	}
	here := make(map[string]bool, len(covered))
	for _, c := range covered {
		here[c.Source] = true
		s.notePart(w, at, c)
	}
	for name, c := range w.parts {
		if !here[name] && c.State != model.SourceAbsent {
			s.notePart(w, at, model.Coverage{Source: name, State: model.SourceAbsent, Detail: "not there any more"})
		}
	}
}

func (s *Sampler) notePart(w *worker, at time.Time, c model.Coverage) {
	old, known := w.parts[c.Source]
	c.Since = old.Since
	if !known || c.State != old.State {
		c.Since = at
	}
	if known && c.State == old.State && c.Detail == old.Detail && c.Mend == old.Mend {
		return
	}
	w.parts[c.Source] = c
	s.cfg.Sink.Coverage([]model.Coverage{c})
}

// hanging ends the series of a source that does not answer and says so.
func (s *Sampler) hanging(w *worker, at time.Time) {
	s.punctual.unanswered()
	s.slow.Hanging = append(s.slow.Hanging, w.source.Name())
	if !w.ended {
		w.ended = true
		for _, series := range w.out.before {
			s.batch = append(s.batch, model.Sample{Series: series, Value: model.Stale()})
		}
	}
	s.note(w, at, model.Coverage{
		State:  model.SourceFailed,
		Detail: fmt.Sprintf("no answer since %s", w.since.UTC().Format("15:04:05.000")),
		Mend:   "the read hangs in the kernel: see which task or device it waits for",
	})
}

// coverageOf turns the error of a collection into a state.
func coverageOf(err error) model.Coverage {
	if err == nil {
		return model.Coverage{State: model.SourceOK}
	}
	if gap, ok := errors.AsType[*Gap](err); ok {
		return model.Coverage{State: gap.State, Detail: gap.Detail, Mend: gap.Mend}
	}
	return model.Coverage{State: model.SourceFailed, Detail: err.Error()}
}

// note tells the sink about a source whose state or detail has changed.
func (s *Sampler) note(w *worker, at time.Time, c model.Coverage) {
	c.Source, c.Provides, c.Since = w.source.Name(), w.source.Provides(), w.state.Since
	changed := c.State != w.state.State
	if !changed && c.Detail == w.state.Detail && c.Mend == w.state.Mend {
		return
	}
	first := w.state.State == ""
	if changed {
		c.Since = at
	}
	w.state = c
	s.cfg.Sink.Coverage([]model.Coverage{c})
	if changed && !first {
		s.cfg.Sink.Event(model.Event{
			From: at, To: at, Kind: model.EventSource, Source: c.Source,
			Text: fmt.Sprintf("%s is %s: %s", c.Source, c.State, c.Detail),
		})
	}
}

// flush hands the beat to the sink and steps what follows it.
func (s *Sampler) flush(ctx context.Context, at time.Time) {
	s.cfg.Sink.Append(model.Batch{At: at.UnixMilli(), Samples: s.batch})
	if s.cfg.AfterBeat != nil {
		s.cfg.AfterBeat(ctx, at)
	}
}
