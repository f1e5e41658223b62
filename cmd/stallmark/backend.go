package main

import (
	"context"
	"time"

	"stallmark/rules"
	"stallmark/rules/audit"
	"stallmark/storage/model"
	"stallmark/web"
)

// backend is what the page asks: store, PromQL over all that is sampled, and
// the rules as they are at the time.
type backend struct {
	available
	*rules.Query
	service *service
}

// Report implements web.Backend.
func (b *backend) Report(ctx context.Context, from, to time.Time, findings []model.Finding) (model.Report, error) {
	return b.service.judging.Load().engine.Report(ctx, from, to, findings)
}

// Signatures implements web.Backend.
func (b *backend) Signatures() []*rules.Signature { return b.service.judging.Load().pack.Signatures }

// audit is for web.Config.
func (b *backend) audit(ctx context.Context, at time.Time) ([]audit.Result, error) {
	return b.service.judging.Load().checks.Run(ctx, b.available, b.Query, at)
}

// Health implements web.Backend.
func (b *backend) Health(context.Context) web.Health {
	s := b.service
	j := s.judging.Load()
	h := web.Health{
		Started: s.started, Interval: s.options.interval, RulesVersion: j.pack.Version(),
		Storage: storageHealth(b.Status(), s.options.maxBytes),
	}
	for _, problem := range j.problems {
		h.RuleProblems = append(h.RuleProblems, problem.String())
	}
	return h
}
