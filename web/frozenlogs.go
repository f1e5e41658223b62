package web

import (
	"stallmark/storage/model"
	"stallmark/storage/snapshot"
)

// frozenLogs is what a snapshot knows of log lines besides its events.
type frozenLogs []snapshot.Pattern

// Patterns implements Logs.
func (f frozenLogs) Patterns() []model.LogPattern {
	out := make([]model.LogPattern, len(f))
	for i, p := range f {
		out[i] = model.LogPattern{
			ID: p.ID, Product: p.Product, Title: p.Title, Proof: p.Proof, Versions: p.Versions, Where: p.Where, Meaning: p.Meaning, Not: p.Not,
		}
	}
	return out
}

// Unknown implements Logs: a snapshot has those that became events.
func (frozenLogs) Unknown() []UnknownLine { return nil }

// seenPatterns are the patterns that events are lines of.
func seenPatterns(known []model.LogPattern, events []model.Event) []snapshot.Pattern {
	seen := map[string]bool{}
	for _, e := range events {
		if e.Kind == model.EventLog {
			seen[e.Attrs["pattern"]] = true
		}
	}
	var out []snapshot.Pattern
	for _, p := range known {
		if seen[p.ID] {
			out = append(out, snapshot.Pattern{
				ID: p.ID, Product: p.Product, Title: p.Title, Proof: p.Proof, Versions: p.Versions, Where: p.Where, Meaning: p.Meaning, Not: p.Not,
			})
		}
	}
	return out
}
