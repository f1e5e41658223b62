package main

import (
	"context"
	"fmt"
	"time"

	"github.com/prometheus/prometheus/model/labels"

	"stallmark/collectors"
	"stallmark/rules"
	"stallmark/storage/model"
)

const (
	baselineState = "baselines"     // the name by which the store keeps them
	baselineEvery = time.Minute     // how often the source looks how old they are
	askBaselines  = 2 * time.Second // of a running service
)

// baselineSource gives what was learned as series, so that rules can compare
// with it, charts can draw it and the store keeps what it was at any time.
type baselineSource struct {
	baselines *rules.Baselines
	version   uint64
	at        time.Time
	known     map[string]*model.Series
	samples   []model.Sample
}

func newBaselineSource(k *rules.Baselines) *baselineSource {
	return &baselineSource{baselines: k, known: map[string]*model.Series{}}
}

// Name implements collectors.Source.
func (*baselineSource) Name() string { return "baselines" }

// Provides implements collectors.Source.
func (*baselineSource) Provides() []string { return []string{"stallmark_baseline"} }

// Collect implements collectors.Source.
func (s *baselineSource) Collect(_ collectors.Root, out *collectors.Out) error {
	version, age := s.baselines.Version(), out.At().Sub(s.at)
	if version != s.version || age < 0 || age >= baselineEvery {
		s.version, s.at = version, out.At()
		s.look()
	}
	for _, sample := range s.samples {
		out.Add(sample.Series, sample.Value)
	}
	if detail, mend := s.baselines.Gap(); detail != "" {
		return collectors.Absent(detail, mend)
	}
	return nil
}

func (s *baselineSource) look() {
	s.samples = s.samples[:0]
	for _, v := range s.baselines.Series(s.at) {
		key := v.Labels.String()
		if s.known[key] == nil {
			s.known[key] = seriesOf(v.Labels)
		}
		s.samples = append(s.samples, model.Sample{Series: s.known[key], Value: v.Value})
	}
}

func seriesOf(ls labels.Labels) *model.Series {
	var pairs []string
	ls.Range(func(l labels.Label) {
		if l.Name != metricName {
			pairs = append(pairs, l.Name, l.Value)
		}
	})
	return model.NewSeries(ls.Get(metricName), pairs...)
}

// loadBaselines reads what was saved; damage is said, and learning begins anew.
func (p *program) loadBaselines(from string, data []byte) *rules.Baselines {
	k := rules.NewBaselines()
	if len(data) == 0 {
		return k
	}
	if err := k.Load(data); err != nil {
		fmt.Fprintf(p.stderr, "stallmark: %s: %s\n", oneLine(from), oneLine(err.Error()))
	}
	return k
}

// keepBaselines has the store keep what was learned since the last time. Only
// the stepper calls it.
func (s *service) keepBaselines() {
	version := s.baselines.Version()
	if version == s.keptBaselines {
		return
	}
	data, err := s.baselines.Save()
	if err != nil {
		s.log.Warn("baselines", "error", err)
		return
	}
	s.keptBaselines = version
	s.store.PutState(baselineState, data)
}

// restoreBaselines brings back what an earlier run has learned.
func (s *service) restoreBaselines(ctx context.Context) {
	data, err := s.store.State(ctx, baselineState)
	if err != nil {
		s.log.Warn("baselines of the last run could not be read", "error", err)
	}
	s.baselines = s.loadBaselines("baselines", data)
	s.keptBaselines = s.baselines.Version()
}

// baselinesOf asks the service that runs on this host, if one does, for what it
// has learned; nil without.
func baselinesOf(ctx context.Context, o *options) []byte {
	ctx, cancel := context.WithTimeout(ctx, askBaselines)
	defer cancel()
	data, err := askService(ctx, o, "/api/v1/baselines")
	if err != nil || rules.NewBaselines().Load(data) != nil {
		return nil
	}
	return data
}
