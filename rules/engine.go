package rules

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"sync"
	"time"

	"github.com/prometheus/prometheus/promql"

	"stallmark/storage/model"
)

// maxSubjects bounds the subjects of one signature: their names come from the
// host and may be many.
const maxSubjects = 100

// judgeEvery is how often signatures are judged at most. Sampling faster gives
// finer evidence, not more verdicts: forty signatures cost about 1 ms a time on
// a quiet host and 10 ms beside a stall of everything (BenchmarkStep), which need
// not be spent ten times a second.
const judgeEvery = time.Second

// Engine judges the signatures of a pack beat by beat. The same code serves
// live and any past span: time is what Step is told. It is safe for concurrent
// use.
type Engine struct {
	pack     *Pack
	src      Source
	query    *Query
	interval time.Duration
	exact    bool // evaluates every condition, so that one that fails is seen to

	mu       sync.Mutex
	prover   *prover
	subjects map[string]map[string]*tracked // by signature and subject key
	floors   map[string]time.Time           // end of the last finding, by signature and subject key
	orphans  []model.Finding                // restored, but their signature is gone
	ended    []*tracked                     // resolved, and may be amended yet
	begun    time.Time                      // of the first beat
	at       time.Time                      // of the last beat

	book      quietBook
	baselines *Baselines        // nil: nothing is learned
	meters    map[string]*meter // by signature
}

// NewEngine makes an engine without state; see [Engine.Restore].
func NewEngine(pack *Pack, src Source, interval time.Duration) *Engine {
	query := NewQuery(src, interval)
	return &Engine{
		pack: pack, src: src, query: query, interval: interval, prover: newProver(query),
		subjects: map[string]map[string]*tracked{}, floors: map[string]time.Time{}, meters: map[string]*meter{},
	}
}

// Query is the engine's own evaluator, for charts.
func (e *Engine) Query() *Query { return e.query }

// Pack is the signatures that are judged.
func (e *Engine) Pack() *Pack { return e.pack }

// Step judges one beat (at most one a second, so that it may be called at every
// sampling beat) and returns the findings that are new or have changed:
// begun to fire, evidence refreshed, resolved. Pending
// subjects are no findings yet; see [Engine.Pending]. A signature that cannot
// be evaluated keeps its state and is part of the error; the others go on.
func (e *Engine) Step(ctx context.Context, at time.Time) ([]model.Finding, error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	at = at.UTC().Truncate(time.Millisecond)
	if d := at.Sub(e.at); d == 0 || d > 0 && d < judgeEvery-e.interval/2 {
		return nil, nil
	}
	e.rewind(at)
	e.at = at
	if e.begun.IsZero() || e.begun.After(at) {
		e.begun = at
	}
	b := newBeat(e.src, e.query, at)
	if !e.exact {
		b.prove(e.prover)
	}
	var errs []error
	var moves []move
	for _, s := range e.pack.Signatures {
		if e.meter(b, s).off {
			moves = append(moves, e.silence(s)...)
			continue
		}
		m, err := e.judge(ctx, b, s)
		if err != nil {
			errs = append(errs, fmt.Errorf("%s: %w", s.ID, err))
		}
		moves = append(moves, m...)
	}
	amended, err := e.amend(ctx, b)
	moves = append(moves, amended...)
	errs = append(errs, err, e.noteQuiet(ctx, b))
	// Only now is it known which causes are active, and so which are not.
	out := e.releaseOrphans()
	for _, m := range moves {
		e.meter(b, m.t.sig)
		f, changed, err := e.settle(ctx, b, m)
		if err != nil {
			errs = append(errs, fmt.Errorf("%s: %w", m.t.sig.ID, err))
		}
		if changed {
			out = append(out, f)
		}
	}
	errs = append(errs, e.learn(ctx, b))
	e.closeMeters(b)
	return out, errors.Join(errs...)
}

// move is what a beat did to a subject that fires or did so.
type move struct {
	t      *tracked
	change change
	holds  bool
}

// rewind follows a clock that was set back, and forgets what is too old to
// matter.
func (e *Engine) rewind(at time.Time) {
	for key, end := range e.floors {
		if at.Sub(end) > maxLookback || end.After(at) {
			delete(e.floors, key)
		}
	}
	if !at.Before(e.at) {
		return
	}
	for _, subjects := range e.subjects {
		for _, t := range subjects {
			t.rewind(at)
		}
	}
}

// judge advances the subjects of one signature by one beat.
func (e *Engine) judge(ctx context.Context, b *beat, s *Signature) ([]move, error) {
	holding, err := e.holding(ctx, b, s)
	if err != nil {
		return nil, err
	}
	var errs []error
	if extra := len(holding) - maxSubjects; extra > 0 {
		errs = append(errs, fmt.Errorf("%d subjects: the last %d are not followed", len(holding), extra))
		for _, key := range slices.Sorted(maps.Keys(holding))[maxSubjects:] {
			delete(holding, key)
		}
	}
	keys := slices.Collect(maps.Keys(e.subjects[s.ID]))
	for key, subject := range holding {
		if e.subjects[s.ID][key] == nil {
			e.put(&tracked{sig: s, subject: subject, floor: e.floors[s.ID+"\x00"+key]})
			keys = append(keys, key)
		}
	}
	slices.Sort(keys)
	var moves []move
	for _, key := range keys {
		m, err := e.advance(ctx, b, s, key, holding[key])
		moves = append(moves, m...)
		errs = append(errs, err)
	}
	return moves, errors.Join(errs...)
}

// holding is the subjects of which the condition holds, by key. Without its
// inputs it is not known to hold; they are looked at only where it may.
func (e *Engine) holding(ctx context.Context, b *beat, s *Signature) (map[string]map[string]string, error) {
	if b.bounds(ctx, s.When).empty() {
		return nil, nil
	}
	missing, err := b.missing(ctx, s)
	if err != nil || len(missing) > 0 {
		return nil, err
	}
	v, err := b.instant(ctx, s.When)
	if err != nil {
		return nil, err
	}
	return subjectsOf(v), nil
}

// subjectsOf is the subjects of a result, by key.
func subjectsOf(v promql.Vector) map[string]map[string]string {
	if len(v) == 0 {
		return nil
	}
	out := map[string]map[string]string{}
	for i := range v {
		subject := subjectOf(v[i].Metric)
		out[subjectKey(subject)] = subject
	}
	return out
}

// advance takes one subject through the beat.
func (e *Engine) advance(ctx context.Context, b *beat, s *Signature, key string, subject map[string]string) ([]move, error) {
	t, holds, tm := e.subjects[s.ID][key], subject != nil, e.timing(s)
	var moves []move
	if t.restored != nil {
		c, err := t.resume(ctx, b, holds, tm)
		if err != nil || c == unchanged {
			return []move{{t, c, holds && t.restored == nil}}, err
		}
		moves = append(moves, e.remove(t, key))
	} else if holds && t.broken(b.at, tm) {
		moves = append(moves, e.remove(t, key))
	}
	if len(moves) > 0 {
		if !holds {
			return moves, nil
		}
		t = &tracked{sig: s, subject: subject, floor: t.end()}
		e.put(t)
	}
	switch c := t.life.advance(b.at, holds, tm); c {
	case dropped:
		delete(e.subjects[s.ID], key)
	case resolved:
		moves = append(moves, e.remove(t, key))
	default:
		if t.phase == firing {
			moves = append(moves, move{t, c, holds})
		}
	}
	return moves, nil
}

// put begins to track a subject.
func (e *Engine) put(t *tracked) {
	if e.subjects[t.sig.ID] == nil {
		e.subjects[t.sig.ID] = map[string]*tracked{}
	}
	e.subjects[t.sig.ID][subjectKey(t.subject)] = t
}

// remove ends a subject's finding.
func (e *Engine) remove(t *tracked, key string) move {
	delete(e.subjects[t.sig.ID], key)
	e.floors[t.sig.ID+"\x00"+key] = t.end()
	e.follow(t)
	return move{t: t, change: resolved}
}

// settle makes the finding of a subject after a beat, and says whether it is to
// be given out.
func (e *Engine) settle(ctx context.Context, b *beat, m move) (model.Finding, bool, error) {
	t := m.t
	var errs []error
	var f model.Finding
	if m.change == resolved {
		// What it shows is the fault, not the calm after it.
		f = t.finding(ctx, b, false)
		end := t.end()
		f.State, f.Ended = model.StateResolved, &end
	} else {
		if m.change == fired {
			errs = append(errs, t.open(ctx, b))
		}
		errs = append(errs, t.read(ctx, b, m.holds))
		if m.holds {
			var err error
			t.caveat, err = t.noBaseline(ctx, b)
			errs = append(errs, err, t.advise(ctx, b), t.weigh(ctx, b))
			t.ruledOut = t.ruling.update(ctx, b, e, t.sig, t.started)
		}
		f = t.finding(ctx, b, m.holds)
		f.Ended = t.over(b.at, e.timing(t.sig))
	}
	changed := !reflect.DeepEqual(f, t.shown)
	t.shown = f
	return f, changed, errors.Join(errs...)
}

// active is the furthest phase of any subject of a signature.
func (e *Engine) active(id string) phase {
	most := inactive
	for _, t := range e.subjects[id] {
		most = max(most, t.phase)
	}
	return most
}
