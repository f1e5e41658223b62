package main

import (
	"context"
	"errors"
	"os"

	"stallmark/collectors"
	"stallmark/collectors/files"
)

// rerecord runs the sources over a recording while recording what they read.
func (p *program) rerecord(ctx context.Context, rec *files.Recording, m machine, to string) error {
	f, err := os.Create(to)
	if err != nil {
		return err
	}
	defer f.Close()
	w, err := files.NewWriter(f, files.WriterConfig{Meta: m.meta(p.version, rec.Meta().Interval()), Patient: true})
	if err != nil {
		return err
	}
	sampler, err := collectors.New(collectors.Config{Root: w, Sources: m.sources(), Sink: w, Interval: rec.Meta().Interval()})
	if err != nil {
		return errors.Join(err, w.Close())
	}
	for tick, err := range rec.Ticks() {
		if err != nil {
			return errors.Join(err, w.Close())
		}
		w.SetRoot(tick.Root)
		sampler.Collect(ctx, tick.At)
		w.Commit(tick.At)
	}
	return w.Close()
}
