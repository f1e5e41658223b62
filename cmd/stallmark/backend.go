package main

import (
	"context"

	"stallmark/rules"
	"stallmark/storage"
	"stallmark/web"
)

// backend is what the page asks: store, PromQL and rules, side by side.
type backend struct {
	*storage.Store
	*rules.Query
	*rules.Engine
	service *service
}

// Signatures implements web.Backend.
func (b *backend) Signatures() []*rules.Signature { return b.service.pack.Signatures }

// Health implements web.Backend.
func (b *backend) Health(context.Context) web.Health {
	s := b.service
	h := web.Health{
		Started: s.started, Interval: s.options.interval, RulesVersion: s.pack.Version(),
		Storage: storageHealth(b.Status(), s.options.maxBytes),
	}
	for _, problem := range s.problems {
		h.RuleProblems = append(h.RuleProblems, problem.String())
	}
	return h
}
