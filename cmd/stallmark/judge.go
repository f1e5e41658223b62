package main

import (
	"context"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"time"

	"stallmark/rules"
	"stallmark/rules/audit"
	"stallmark/rules/patterns"
	"stallmark/storage/model"
)

// judging is a rule pack at work. It is replaced as a whole.
type judging struct {
	pack     *rules.Pack
	checks   *audit.Pack
	lines    []model.LogPattern
	problems []rules.Problem // mistakes in the user's files
	engine   *rules.Engine
}

// newJudging reads the rules and puts them to work.
func (s *service) newJudging(dirs []string) *judging {
	pack, problems := rules.Load(dirs...)
	checks, more := audit.Load(dirs...)
	known, lines := patterns.Load(dirs...)
	j := &judging{pack: pack, checks: checks, lines: known.Patterns, problems: slices.Concat(rules.Mistakes(problems), more, rules.Mistakes(lines))}
	for _, problem := range j.problems {
		s.log.Warn("rules: " + oneLine(problem.String()))
	}
	j.engine = rules.NewEngine(pack, s.view, s.options.interval)
	j.engine.Learn(s.baselines)
	return j
}

// judge lets the rules look at one beat and keeps what they found.
func (s *service) judge(ctx context.Context, at time.Time) {
	found, err := s.judging.Load().engine.Step(ctx, at)
	for _, f := range found {
		s.store.PutFinding(f)
		s.announce(f)
		if s.shares != nil && f.State == model.StateResolved {
			s.shares.auto.ended(f)
		}
	}
	s.keepBaselines()
	s.freezeEnded(ctx, at)
	if err != nil && ctx.Err() == nil {
		s.log.Warn("rules", "error", err)
	}
}

// announce logs a finding that has begun or ended, not every refresh of its
// evidence, nor what is told of it after its end. Only the stepper calls it.
func (s *service) announce(f model.Finding) {
	last, known := s.announced[f.ID]
	if f.State == last || f.State == model.StateResolved && !known { // amended
		return
	}
	s.announced[f.ID] = f.State
	if f.State == model.StateResolved {
		delete(s.announced, f.ID)
	}
	s.log.Info("finding", "signature", f.Signature, "state", f.State, "confidence", f.Confidence, "started", f.Started.Format(time.RFC3339), "id", f.ID)
}

// reload reads the configuration again and puts its rules to work; what fires
// goes on under its id. It runs between two judgements. Other options are fixed
// once the service runs: a change of those is said.
func (s *service) reload() {
	text, err := s.reloaded()
	if err != nil {
		text = "reload: nothing is changed: " + oneLine(err.Error())
		s.log.Error(text)
	} else {
		s.log.Info(text)
	}
	now := s.now().UTC()
	s.store.Event(model.Event{
		From: now, To: now, Kind: model.EventSelf, Source: "self", Text: text, Attrs: map[string]string{"about": "reload"},
	})
}

func (s *service) reloaded() (text string, err error) {
	next, err := s.reread()
	if err != nil {
		return "", err
	}
	old := s.judging.Load()
	j := s.newJudging(next.rules)
	j.engine.Restore(old.engine.Open())
	s.judging.Store(j)
	if f := s.machine.logs; f != nil {
		lines := s.lineKinds(next.rules)
		f.source.Use(lines.Patterns, lines.Known)
	}
	parts := []string{"reload: " + packChange(old.pack, j.pack)}
	if n := len(j.problems); n > 0 {
		parts = append(parts, fmt.Sprintf("mistakes: %d, the first is %s", n, oneLine(j.problems[0].String())))
	}
	if fixed := s.options.differing(next); len(fixed) > 0 {
		parts = append(parts, "after a restart: "+strings.Join(fixed, ", "))
	}
	return strings.Join(parts, "; "), nil
}

// differing names the options besides the rules in which two differ.
func (o *options) differing(next *options) []string {
	var names []string
	others := next.fileTable()
	for i, opt := range o.fileTable() {
		if opt.name != "rules" && !opt.local && opt.value.String() != others[i].value.String() {
			names = append(names, opt.name)
		}
	}
	return names
}

// packChange says in words how two packs differ.
func packChange(old, now *rules.Pack) string {
	var added, changed, removed []string
	for _, sig := range now.Signatures {
		switch was := old.Signature(sig.ID); {
		case was == nil:
			added = append(added, sig.ID)
		case !reflect.DeepEqual(was, sig):
			changed = append(changed, sig.ID)
		}
	}
	for _, sig := range old.Signatures {
		if now.Signature(sig.ID) == nil {
			removed = append(removed, sig.ID)
		}
	}
	var parts []string
	for _, p := range []struct {
		what string
		ids  []string
	}{{"added", added}, {"changed", changed}, {"removed", removed}} {
		if len(p.ids) > 0 {
			slices.Sort(p.ids)
			parts = append(parts, p.what+" "+strings.Join(p.ids, ", "))
		}
	}
	if len(parts) == 0 {
		return fmt.Sprintf("%d signatures as before", len(now.Signatures))
	}
	return fmt.Sprintf("%d signatures: %s", len(now.Signatures), strings.Join(parts, "; "))
}
