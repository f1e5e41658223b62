package main

import (
	"context"
	"fmt"
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

// reportWait bounds the verdict about a window: what it rules out is measured
// over the whole of it, and a week of seconds takes longer than a reader waits.
const reportWait = 2 * time.Second

// Report implements web.Backend. What could not be measured in time is unknown.
func (b *backend) Report(ctx context.Context, from, to time.Time, findings []model.Finding) (model.Report, error) {
	j := b.service.judging.Load()
	limited, cancel := context.WithTimeout(ctx, reportWait)
	defer cancel()
	rep, err := j.engine.Report(limited, from, to, findings)
	if err == nil || limited.Err() == nil || ctx.Err() != nil {
		return rep, err
	}
	b.service.log.Debug("a report was cut short", "from", from, "to", to, "error", err)
	return cutShort(rep, j.pack), nil
}

// cutShort names the signatures that a report says nothing of.
func cutShort(rep model.Report, pack *rules.Pack) model.Report {
	said := map[string]bool{}
	for _, f := range rep.Findings {
		said[f.Signature] = true
	}
	for _, r := range rep.RuledOut {
		said[r.Signature] = true
	}
	for _, u := range rep.Unknown {
		said[u.Signature] = true
	}
	for _, n := range rep.NotApplicable {
		said[n.Signature] = true
	}
	for _, s := range pack.Signatures {
		if !said[s.ID] {
			rep.Unknown = append(rep.Unknown, model.Unknown{
				Signature: s.ID, Title: s.Title, Mend: "look at a shorter window",
				Why: fmt.Sprintf("measuring it over the whole window takes longer than %v", reportWait),
			})
		}
	}
	return rep
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
