package main

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"time"

	"stallmark/rules"
	"stallmark/storage/model"
	"stallmark/storage/snapshot"
)

// replaySnapshot judges a file if it is a snapshot, as an archive or as a page.
// What is none, and does not claim to be one by its name, is left to others; so
// is what another cause hinders.
func (p *program) replaySnapshot(ctx context.Context, o *options, pack *rules.Pack, path string) (d diagnosis, isOne bool, err error) {
	s, err := readSnapshot(path)
	if err == nil {
		var a *analysis
		if a, err = runSamples(ctx, pack, s); err == nil {
			d, err = a.diagnosis(ctx, p, o, path+": snapshot of "+s.Meta.Host, s.Meta.Host)
			return d, true, err
		}
	}
	if !claimsSnapshot(path) && !errors.Is(err, snapshot.ErrNewer) {
		return diagnosis{}, false, nil
	}
	return diagnosis{}, true, fmt.Errorf("%s: %w", oneLine(path), importError(err))
}

// claimsSnapshot reports whether a file has the name of a snapshot.
func claimsSnapshot(path string) bool { return strings.HasSuffix(path, snapshot.Suffix) }

// readSnapshot reads a snapshot's file; an error for anything else.
func readSnapshot(path string) (*snapshot.Snapshot, error) {
	st, err := os.Stat(path)
	if err != nil {
		return nil, err
	}
	if !st.Mode().IsRegular() {
		return nil, snapshot.ErrNot
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	limits := snapshot.DefaultLimits()
	in := bufio.NewReader(f)
	if head, _ := in.Peek(1); len(head) == 1 && head[0] != '<' {
		_, s, err := snapshot.Decode(in, limits)
		return s, err
	}
	data, err := io.ReadAll(io.LimitReader(in, 4*limits.Compressed))
	if err == nil {
		data, err = snapshot.FromHTML(data)
	}
	if err != nil {
		return nil, err
	}
	_, s, err := snapshot.Decode(bytes.NewReader(data), limits)
	return s, err
}

// judgeSnapshot judges what a snapshot has sampled by the rules of a pack.
func judgeSnapshot(ctx context.Context, pack *rules.Pack, s *snapshot.Snapshot) (model.Report, error) {
	a, err := runSamples(ctx, pack, s)
	if err != nil {
		return model.Report{}, err
	}
	return a.report(ctx)
}

// runSamples replays what a snapshot has sampled through the rules of a pack.
func runSamples(ctx context.Context, pack *rules.Pack, s *snapshot.Snapshot) (*analysis, error) {
	a := newAnalysis(pack, s.Meta.Interval)
	a.store.Coverage(s.Report.Coverage)
	times, samples := beatsOf(s.Samples)
	if len(times) == 0 {
		return nil, fmt.Errorf("snapshot of %s: no samples in it", s.Meta.From.Format(time.RFC3339))
	}
	for _, f := range s.Facts {
		a.store.Fact(f)
	}
	events := slices.Clone(s.Events)
	slices.SortStableFunc(events, func(x, y model.Event) int { return x.To.Compare(y.To) })
	step := s.Meta.Interval.Milliseconds()
	slot := int64(0)
	for i, t := range times {
		if ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
		at := time.UnixMilli(t).UTC()
		for len(events) > 0 && !events[0].To.After(at) {
			a.store.Event(events[0])
			events = events[1:]
		}
		a.store.Append(model.Batch{At: t, Samples: samples(i)})
		if t/step == slot {
			continue // within a burst the first sample of each interval is judged
		}
		slot = t / step
		if err := a.step(ctx, at); err != nil {
			return nil, err
		}
	}
	return a, nil
}
