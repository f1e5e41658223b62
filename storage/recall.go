package storage

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	"stallmark/storage/model"
)

// Events, states and findings are kept in memory as well, so that the rules and
// the page do not depend on the child for what is recent. What is older is
// asked for.

// known is since when memory has everything.
type known struct{ events, states, findings time.Time }

// How much is fetched when the child first answers, and how much is kept.
const (
	recallEvents   = time.Hour
	recallFindings = 7 * 24 * time.Hour
	maxEventBytes  = 4 << 20 // some thousand lines of logs with those around them
	maxFindings    = 5_000
	maxVersions    = 256 // of one fact, and of one source's state
)

// ErrPartial is for an answer that has only what is in memory, since the child
// did not give the rest in time.
var ErrPartial = errors.New("only recent history is available")

// recall fetches what an earlier run has left, once.
func (s *Store) recall() {
	s.mu.Lock()
	done := s.recalled
	s.mu.Unlock()
	if done {
		return
	}
	if err := s.recallAll(s.client.ctx); err != nil {
		s.opts.Logger.Warn("fetching history", "error", err)
	}
}

func (s *Store) recallAll(ctx context.Context) error {
	events, err := s.askEvents(ctx, s.opened.Add(-recallEvents), s.opened, s.opened, nil)
	if err != nil {
		return err
	}
	facts, err := s.askFacts(ctx, s.opened)
	if err != nil {
		return err
	}
	coverage, err := s.askCoverage(ctx, s.opened)
	if err != nil {
		return err
	}
	findings, err := s.askFindings(ctx, s.opened.Add(-recallFindings), s.opened)
	if err != nil {
		return err
	}
	for _, e := range events {
		s.events.put(e)
	}
	for _, f := range facts {
		s.facts.put(f.Key, f.At, f.Value)
	}
	for _, c := range coverage {
		s.coverage.put(c.State.Source, c.At, c.State)
	}
	for _, f := range findings {
		s.findings.putOld(f)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.recalled = true
	s.since.events = s.opened.Add(-recallEvents)
	s.since.findings = s.opened.Add(-recallFindings)
	return nil
}

// complete is since when memory has everything.
func (s *Store) complete() known {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.since
}

// partialError wraps why the child did not answer.
func partialError(err error) error { return fmt.Errorf("%w: %w", ErrPartial, err) }

// EventsIn lists the events that overlap [from, to], oldest first; all kinds
// if none is named. With [ErrPartial] the recent ones are returned as well.
func (s *Store) EventsIn(ctx context.Context, from, to time.Time, kinds ...model.EventKind) ([]model.Event, error) {
	recent := s.events.in(from, to, kinds)
	since := s.events.since(s.complete().events)
	if s.client == nil || !from.Before(since) {
		return recent, nil
	}
	older, err := s.askEvents(ctx, from, to, since, kinds)
	if err != nil {
		return recent, partialError(err)
	}
	return mergeEvents(older, recent), nil
}

// FactsAt is the latest value of every fact that was stated at or before at,
// by key. With [ErrPartial] those that memory has are returned as well.
func (s *Store) FactsAt(ctx context.Context, at time.Time) (map[string]model.Fact, error) {
	out := map[string]model.Fact{}
	var err error
	if s.client != nil && at.Before(s.facts.since(s.complete().states)) {
		var older []model.Fact
		if older, err = s.askFacts(ctx, at); err != nil {
			err = partialError(err)
		}
		for _, f := range older {
			out[f.Key] = f
		}
	}
	s.facts.at(at, func(key string, since time.Time, value string) {
		if f, ok := out[key]; !ok || !since.Before(f.At) {
			out[key] = model.Fact{At: since, Key: key, Value: value}
		}
	})
	return out, err
}

// CoverageAt is the state of every source as it was at that time, by name. With
// [ErrPartial] those that memory has are returned as well.
func (s *Store) CoverageAt(ctx context.Context, at time.Time) ([]model.Coverage, error) {
	found := map[string]coverageNote{}
	var err error
	if s.client != nil && at.Before(s.coverage.since(s.complete().states)) {
		var older []coverageNote
		if older, err = s.askCoverage(ctx, at); err != nil {
			err = partialError(err)
		}
		for _, c := range older {
			found[c.State.Source] = c
		}
	}
	s.coverage.at(at, func(source string, since time.Time, c model.Coverage) {
		if f, ok := found[source]; !ok || !since.Before(f.At) {
			found[source] = coverageNote{since, c}
		}
	})
	out := make([]model.Coverage, 0, len(found))
	for _, c := range found {
		out = append(out, c.State)
	}
	slices.SortFunc(out, func(a, b model.Coverage) int { return cmp.Compare(a.Source, b.Source) })
	return out, err
}

// FindingsIn lists the findings that overlap [from, to], those still firing
// included, in the order of their start. With [ErrPartial] the recent ones are
// returned as well.
func (s *Store) FindingsIn(ctx context.Context, from, to time.Time) ([]model.Finding, error) {
	recent := s.findings.in(from, to)
	if s.client == nil || !from.Before(s.findings.since(s.complete().findings)) {
		return recent, nil
	}
	older, err := s.askFindings(ctx, from, to)
	if err != nil {
		return recent, partialError(err)
	}
	var set findingSet
	for _, f := range older {
		set.put(f)
	}
	for _, f := range recent { // as it is now
		set.put(f)
	}
	return set.in(from, to), nil
}

// Finding is the finding with that ID; false if there is none.
func (s *Store) Finding(ctx context.Context, id string) (model.Finding, bool, error) {
	if f, ok := s.findings.get(id); ok || s.client == nil {
		return f, ok, nil
	}
	var a findingAnswer
	if err := s.askJSON(ctx, question{Topic: askFinding, ID: id}, &a); err != nil {
		return model.Finding{}, false, partialError(err)
	}
	return a.Finding, a.Found, nil
}

// Extent is the time of the oldest and the newest sample; zero times if there
// are none.
func (s *Store) Extent(context.Context) (oldest, newest time.Time) {
	from, to, ok := s.head.extent()
	if s.client != nil {
		s.client.mu.Lock()
		st := s.client.state
		s.client.mu.Unlock()
		if st.From != 0 { // in its file, or still in its journal
			if !ok {
				to = max(st.From, st.LastStored)
			}
			if !ok || st.From < from {
				from, ok = st.From, true
			}
		}
	}
	if !ok {
		return time.Time{}, time.Time{}
	}
	return time.UnixMilli(from).UTC(), time.UnixMilli(to).UTC()
}

// askJSON asks for an answer of one part.
func (s *Store) askJSON(ctx context.Context, q question, into any) error {
	q.From, q.To, q.Before = sendable(q.From), sendable(q.To), sendable(q.Before)
	return s.client.ask(ctx, q, func(b []byte) error { return json.Unmarshal(b, into) })
}

// sendable is the time, or the nearest that JSON can say.
func sendable(t time.Time) time.Time {
	last := time.Date(9999, 12, 31, 0, 0, 0, 0, time.UTC)
	switch {
	case t.After(last):
		return last
	case t.Before(time.Time{}):
		return time.Time{}
	}
	return t.UTC()
}

func (s *Store) askEvents(ctx context.Context, from, to, before time.Time, kinds []model.EventKind) (out []model.Event, err error) {
	err = s.askJSON(ctx, question{Topic: askEvents, From: from, To: to, Before: before, Kinds: kinds}, &out)
	return out, err
}

func (s *Store) askFacts(ctx context.Context, at time.Time) (out []model.Fact, err error) {
	err = s.askJSON(ctx, question{Topic: askFacts, To: at}, &out)
	return out, err
}

func (s *Store) askCoverage(ctx context.Context, at time.Time) (out []coverageNote, err error) {
	err = s.askJSON(ctx, question{Topic: askCoverage, To: at}, &out)
	return out, err
}

func (s *Store) askFindings(ctx context.Context, from, to time.Time) (out []model.Finding, err error) {
	err = s.askJSON(ctx, question{Topic: askFindings, From: from, To: to, Limit: maxFindings}, &out)
	return out, err
}
