package rules

import (
	"context"
	"maps"
	"slices"
	"time"

	"stallmark/storage/model"
)

const (
	// restoreGrace is how long after a restart rates may still be missing.
	restoreGrace = 15 * time.Second
	// restoreGap is the longest time without a recorder over which a stall may
	// be thought to have gone on.
	restoreGap = 10 * time.Minute
	// restoreSearch is how far back the last true beat is looked for.
	restoreSearch = 6 * time.Hour
)

// restoration is what is special about a finding from before a restart.
type restoration struct {
	since    time.Time // first beat after the restart
	searched bool
}

// Restore takes over the findings that were firing before a restart or before
// another pack was loaded. Each goes on under its id if its condition still
// holds, and is otherwise resolved with its last true beat.
func (e *Engine) Restore(findings []model.Finding) {
	e.mu.Lock()
	defer e.mu.Unlock()
	for _, f := range findings {
		if f.State != model.StateFiring {
			continue
		}
		s := e.pack.Signature(f.Signature)
		if s == nil {
			e.orphans = append(e.orphans, f)
			continue
		}
		t := restoreTracked(s, f)
		e.put(t)
	}
}

// restoreTracked rebuilds the state of a firing subject from its finding.
func restoreTracked(s *Signature, f model.Finding) *tracked {
	t := &tracked{
		life: life{phase: firing, since: f.Started, last: f.Started},
		sig:  s, subject: f.Subject, id: f.ID, started: f.Started, shown: f,
		sure: f.Confidence, caveat: f.Caveat, remedy: f.Remedy, ruledOut: f.RuledOut,
		restored: &restoration{},
	}
	t.told.first = f.Told
	if f.Independent {
		t.apart = 1
	}
	t.whiles = map[string]int{}
	for _, id := range f.Explains {
		t.whiles[id] = 1
	}
	if t.subject == nil {
		t.subject = map[string]string{}
	}
	for i := range s.Evidence {
		p := peak{rule: &s.Evidence[i]}
		for _, old := range f.Evidence {
			if old.Title == p.rule.Title && old.Role == p.rule.Role && old.Value != nil {
				p.value, p.limit, p.holds = old.Value, old.Threshold, old.State == model.EvidenceHolds
				p.detail = old.Detail
			}
		}
		t.peaks = append(t.peaks, p)
	}
	return t
}

// resume takes one beat of a restored subject until it is known whether the
// stall went on.
func (t *tracked) resume(ctx context.Context, b *beat, holds bool, tm timing) (change, error) {
	r := t.restored
	if !r.searched {
		r.searched, r.since = true, b.at
		if err := t.searchLast(ctx, b); err != nil {
			return unchanged, err
		}
	}
	switch {
	case holds && b.at.Sub(t.last) <= restoreGap:
		t.restored, t.last = nil, b.at
	case holds, b.at.Sub(r.since) > max(tm.keep, restoreGrace):
		t.phase = inactive
		return resolved, nil
	}
	return unchanged, nil
}

// searchLast looks for the last true beat of the stall before the restart: the
// one before the first hole that is too long to think that it went on.
func (t *tracked) searchLast(ctx context.Context, b *beat) error {
	from := t.started
	if oldest := b.at.Add(-restoreSearch); oldest.After(from) {
		from = oldest
	}
	if from.After(b.at) {
		return nil
	}
	last, _, err := t.lastTrue(ctx, b, t.sig.When, from)
	if err != nil {
		return err
	}
	t.last = last
	if t.sig.Extent == "" {
		return nil
	}
	extent, found, err := t.lastTrue(ctx, b, t.sig.Extent, from)
	if found {
		t.extent = extent
	}
	return err
}

// lastTrue follows the beats in which an expression spoke of the subject, and
// says whether there was one.
func (t *tracked) lastTrue(ctx context.Context, b *beat, expr string, from time.Time) (last time.Time, found bool, err error) {
	values, err := b.span(ctx, expr, from)
	if err != nil {
		return from, false, err
	}
	last = from
	for _, at := range slices.Sorted(maps.Keys(values)) {
		if !speaksOf(values[at], t.subject) {
			continue
		}
		beat := time.UnixMilli(at).UTC()
		if beat.Sub(last) > restoreGap {
			break
		}
		last, found = later(last, beat), true
	}
	return last, found, nil
}

func later(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}

// releaseOrphans ends the restored findings whose signature is gone. Nobody can
// say how long they went on.
func (e *Engine) releaseOrphans() []model.Finding {
	out := e.orphans
	e.orphans = nil
	for i := range out {
		end := out[i].Started
		out[i].State, out[i].Ended = model.StateResolved, &end
	}
	return out
}

func earlier(a, b time.Time) time.Time {
	if a.Before(b) {
		return a
	}
	return b
}
