package main

import (
	"bufio"
	"context"
	"fmt"
	"maps"
	"time"

	"stallmark/collectors"
	"stallmark/collectors/files"
	"stallmark/rules"
	"stallmark/storage/model"
)

// replay judges a recording, unless it is interrupted: a pipe to which nobody
// writes can be waited for in the kernel, where no context ends it.
func (p *program) replay(ctx context.Context, o *options, pack *rules.Pack, path string, given *files.Bundle) (diagnosis, error) {
	type outcome struct {
		d   diagnosis
		err error
	}
	done := make(chan outcome, 1)
	go func() {
		d, err := p.replayAll(ctx, o, pack, path, given)
		done <- outcome{d, err}
	}()
	select {
	case out := <-done:
		return out.d, out.err
	case <-ctx.Done():
		return diagnosis{}, fmt.Errorf("%s: %w", path, context.Cause(ctx))
	}
}

// openRecording opens a path, or standard input for "-".
func (p *program) openRecording(path string) (*files.Recording, error) {
	if path != "-" {
		return files.Open(path, files.DefaultLimits())
	}
	in := bufio.NewReader(p.stdin)
	p.stdin = in // what is no recording is read as text
	if head, _ := in.Peek(1024); !files.LooksLikeRecording(head) {
		return nil, fmt.Errorf("standard input: %w", files.ErrNotRecording)
	}
	rec, err := files.NewReader(in, files.DefaultLimits())
	if err != nil {
		return nil, fmt.Errorf("standard input: %w", err)
	}
	return rec, nil
}

// replayAll judges a recording: its ticks go through the same sources, store
// and rules as a live host's.
func (p *program) replayAll(ctx context.Context, o *options, pack *rules.Pack, path string, given *files.Bundle) (diagnosis, error) {
	rec, err := p.openRecording(path)
	if err != nil {
		return diagnosis{}, err
	}
	defer rec.Close()
	m := recordedMachine(rec.Meta(), o.watch)
	m.logs = p.replayLogs(o.rules)
	a := newAnalysis(pack, rec.Meta().Interval())
	learned := p.loadBaselines(path, rec.Meta().Baselines)
	x := p.newBeside(o, given, rec.Meta().Start, func() time.Time {
		if path == "-" {
			return time.Time{} // can be read once
		}
		return lastTick(func() (*files.Recording, error) { return files.Open(path, files.DefaultLimits()) })
	})
	if err := a.run(ctx, rec, m, learned, x); err != nil {
		return diagnosis{}, fmt.Errorf("%s: %w", path, err)
	}
	for _, note := range rec.Notes() {
		fmt.Fprintf(p.stderr, "stallmark: %s: %s\n", oneLine(path), oneLine(note))
	}
	what := path
	if path == "-" {
		what = "standard input"
	}
	if m.hostname != "" {
		what += ": " + m.title()
	}
	d, err := a.diagnosis(ctx, p, o, what, m.hostname)
	d.report.Excerpts = append(d.report.Excerpts, x.excerpts()...)
	d.joined = x.joined()
	return d, err
}

// run takes the beats of a recording, and what was given beside it; x may be nil.
func (a *analysis) run(ctx context.Context, rec *files.Recording, m machine, learned *rules.Baselines, x *beside) error {
	sink := &factSink{Sink: a.store, known: map[string]string{}}
	sources, _, _ := m.traced()
	if learned == nil {
		learned = rules.NewBaselines()
	}
	sources = append(append(sources, newBaselineSource(learned)), x.sources()...)
	sampler, err := collectors.New(collectors.Config{Sources: sources, Sink: sink, Interval: rec.Meta().Interval()})
	if err != nil {
		return err
	}
	recorded := rec.Meta().Facts
	maps.Copy(m.facts, recorded)
	for tick, err := range rec.Ticks() {
		if err != nil {
			return err
		}
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		at := tick.At.Truncate(time.Millisecond)
		if a.first.IsZero() {
			x.begin(at)
		}
		maps.Copy(m.facts, tick.Facts)
		sampler.SetRoot(tick.Root)
		sampler.Collect(ctx, at)
		sink.fill(at, recorded)
		sink.fill(at, tick.Facts)
		recorded = nil
		if err := a.step(ctx, at); err != nil {
			return err
		}
	}
	return nil
}

// factSink passes everything on and remembers the facts, so that those which
// the recording tells and its files do not can be added: what came from files
// that a recording leaves out, such as a broker's configuration.
type factSink struct {
	collectors.Sink
	known map[string]string
}

// Fact implements collectors.Sink.
func (s *factSink) Fact(f model.Fact) {
	s.known[f.Key] = f.Value
	s.Sink.Fact(f)
}

// fill states the recorded facts that no source has stated.
func (s *factSink) fill(at time.Time, recorded map[string]string) {
	for key, value := range recorded {
		if _, ok := s.known[key]; !ok {
			s.Sink.Fact(model.Fact{At: at, Key: key, Value: value})
		}
	}
}
