package main

import (
	"context"
	"sync"
	"time"

	"stallmark/collectors"
	"stallmark/rules"
	"stallmark/storage"
	"stallmark/storage/model"
)

// The bounds of the interval.
const (
	minInterval = collectors.MinInterval
	maxInterval = time.Minute
)

// verdicts keeps the latest state of every finding of a run.
type verdicts struct {
	mu    sync.Mutex
	byID  map[string]model.Finding
	order []string
}

func newVerdicts() *verdicts { return &verdicts{byID: map[string]model.Finding{}} }

// put takes new and changed findings.
func (v *verdicts) put(list []model.Finding) {
	v.mu.Lock()
	defer v.mu.Unlock()
	for _, f := range list {
		if _, known := v.byID[f.ID]; !known {
			v.order = append(v.order, f.ID)
		}
		v.byID[f.ID] = f
	}
}

// all lists what has fired, oldest first. What was pending only is no finding.
func (v *verdicts) all() []model.Finding {
	v.mu.Lock()
	defer v.mu.Unlock()
	var list []model.Finding
	for _, id := range v.order {
		if f := v.byID[id]; f.State != model.StatePending {
			list = append(list, f)
		}
	}
	return list
}

// analysis is a store in memory with the rules over it: for diagnose.
type analysis struct {
	store    *storage.Store
	engine   *rules.Engine
	verdicts *verdicts
	interval time.Duration
	first    time.Time
	last     time.Time
}

func newAnalysis(pack *rules.Pack, interval time.Duration) *analysis {
	a := &analysis{verdicts: newVerdicts(), interval: interval}
	a.store = storage.NewMemory(storage.Options{Interval: interval, Now: func() time.Time { return a.last }})
	a.engine = rules.NewEngine(pack, a.store, interval)
	return a
}

// step judges one beat.
func (a *analysis) step(ctx context.Context, at time.Time) error {
	if a.first.IsZero() {
		a.first = at
	}
	a.last = at
	found, err := a.engine.Step(ctx, at)
	a.verdicts.put(found)
	return err
}

// report is the verdict about everything so far.
func (a *analysis) report(ctx context.Context) (model.Report, error) {
	return a.engine.Report(ctx, a.first, a.last, a.verdicts.all())
}
