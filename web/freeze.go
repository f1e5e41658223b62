package web

import (
	"context"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"sync"
	"time"

	"github.com/go-chi/chi/v5"
	"github.com/prometheus/prometheus/promql"

	"stallmark/storage/model"
	"stallmark/storage/snapshot"
	"stallmark/web/format"
	"stallmark/web/view"
)

// Bounds of what is frozen: a snapshot is about an incident, not about a week.
const (
	minFrozen = 10     // beats
	maxFrozen = 10_800 // beats: three hours of seconds
	maxLines  = 400    // expressions
)

// Order is what is to be frozen, and for whom.
type Order struct {
	From, To time.Time
	By       string // "page", "command" or snapshot.Automatic
	Title    string // empty: that of the first incident
}

// Freezer makes snapshots of what the page shows. It is made by the server, so
// that a script of the browser has no part in it.
type Freezer struct {
	server  *server
	samples func(ctx context.Context, from, to time.Time) ([]snapshot.Series, error)
}

// NewFreezer makes a freezer over the same backend as the page. samples gives
// all that was sampled in a time.
func NewFreezer(cfg Config, samples func(ctx context.Context, from, to time.Time) ([]snapshot.Series, error)) (*Freezer, error) {
	if err := cfg.complete(); err != nil {
		return nil, err
	}
	return &Freezer{newServer(cfg, view.Assets{}), samples}, nil
}

// Freeze makes a snapshot. The lines that it stores are those for which the
// pages of this time ask, each evaluated at every beat.
func (f *Freezer) Freeze(ctx context.Context, o Order) (*snapshot.Snapshot, error) {
	cfg := f.server.cfg
	from, to := o.From.UTC().Truncate(cfg.Interval), o.To.UTC().Truncate(cfg.Interval)
	if span := to.Sub(from); span < minFrozen*cfg.Interval || span > maxFrozen*cfg.Interval {
		return nil, badRequest("%v to %v is %v long: a snapshot takes %v to %v", format.Stamp(from), format.Stamp(to), span, minFrozen*cfg.Interval, maxFrozen*cfg.Interval)
	}
	s := &snapshot.Snapshot{Meta: snapshot.Meta{
		Format: snapshot.Format, Created: cfg.Now().UTC().Truncate(time.Millisecond), By: o.By, Title: o.Title, From: from, To: to,
		Interval: cfg.Interval, Host: cfg.Host, Version: cfg.Version, Rules: cfg.Backend.Health(ctx).RulesVersion,
	}}
	w := view.Window{From: from, To: to, Path: "/"}
	if err := f.verdict(ctx, s, w); err != nil {
		return nil, err
	}
	if err := f.lines(ctx, s, w); err != nil {
		return nil, err
	}
	var err error
	if s.Samples, err = f.samples(ctx, from, to); err != nil {
		return nil, fmt.Errorf("samples: %w", err)
	}
	return s, nil
}

// verdict stores findings, events, facts and the catalogue.
func (f *Freezer) verdict(ctx context.Context, s *snapshot.Snapshot, w view.Window) (err error) {
	b := f.server.cfg.Backend
	if s.Report, err = f.server.report(ctx, w); err != nil {
		return err
	}
	if s.Meta.Title == "" {
		s.Meta.Title, s.Meta.Finding = titleOf(s.Report)
	}
	if s.Events, err = b.EventsIn(ctx, w.From, w.To); err != nil {
		return err
	}
	if n := len(s.Events); n > maxFrozenEvents {
		s.Events = s.Events[:maxFrozenEvents]
		s.Meta.Cut = append(s.Meta.Cut, fmt.Sprintf("%d of %d events, the later ones", n-maxFrozenEvents, n))
	}
	s.Meta.Patterns = seenPatterns(f.server.patterns(), s.Events)
	facts, err := b.FactsAt(ctx, w.To)
	if err != nil {
		return err
	}
	before, err := b.FactsAt(ctx, w.From)
	if err != nil {
		return err
	}
	for _, key := range slices.Sorted(maps.Keys(facts)) {
		if old, ok := before[key]; ok && old.Value != facts[key].Value {
			s.Facts = append(s.Facts, old)
		}
		s.Facts = append(s.Facts, facts[key])
	}
	for _, sig := range b.Signatures() {
		s.Signatures = append(s.Signatures, snapshot.Signature{ID: sig.ID, Title: sig.Title, Layer: sig.Layer, Severity: sig.Severity, What: sig.What})
	}
	return nil
}

// maxFrozenEvents bounds the events of a snapshot.
const maxFrozenEvents = 20_000

// titleOf names a snapshot after its first incident.
func titleOf(rep model.Report) (title, finding string) {
	if len(rep.Incidents) == 0 {
		return "Nothing was found", ""
	}
	root := rep.Incidents[0].Root
	for _, f := range rep.Findings {
		if f.ID == root {
			return f.Title, root
		}
	}
	return "", ""
}

// lines evaluates what the pages of the window ask for.
func (f *Freezer) lines(ctx context.Context, s *snapshot.Snapshot, w view.Window) error {
	s.Meta.Devices = f.server.busyDevices(ctx, w)
	asked := &listener{Backend: f.server.cfg.Backend, window: w, lines: map[string]promql.Matrix{}}
	cfg := f.server.cfg
	cfg.Backend = asked
	look := newServer(cfg, view.Assets{})
	look.frozen = &frozenSight{devices: s.Meta.Devices}
	if _, err := look.overview(asking(ctx, "/"), w); err != nil {
		return err
	}
	if _, err := look.jvm(asking(ctx, "/jvm"), w); err != nil {
		return err
	}
	for _, one := range s.Report.Findings {
		if _, err := look.finding(asking(ctx, "/findings/"+url.PathEscape(one.ID), "id", one.ID), w); err != nil {
			return err
		}
	}
	exprs := slices.Sorted(maps.Keys(asked.lines))
	if len(exprs) > maxLines {
		s.Meta.Cut = append(s.Meta.Cut, fmt.Sprintf("%d of %d lines of charts", len(exprs)-maxLines, len(exprs)))
		exprs = exprs[:maxLines]
	}
	for _, expr := range exprs {
		m := asked.lines[expr]
		if m == nil { // it was asked for at one time only
			var err error
			if m, err = f.server.cfg.Backend.Range(ctx, expr, w.From, w.To, cfg.Interval); err != nil {
				return fmt.Errorf("%s: %w", expr, err)
			}
		}
		s.Lines = append(s.Lines, snapshot.Line{Expr: expr, Series: stored(m)})
	}
	return nil
}

// asking makes the request by which a page is asked for.
func asking(ctx context.Context, path string, params ...string) *http.Request {
	route := chi.NewRouteContext()
	for i := 0; i+1 < len(params); i += 2 {
		route.URLParams.Add(params[i], params[i+1])
	}
	r := &http.Request{Method: http.MethodGet, URL: &url.URL{Path: path, RawQuery: "from=0"}, Header: http.Header{}}
	return r.WithContext(context.WithValue(ctx, chi.RouteCtxKey, route))
}

// stored copies a result.
func stored(m promql.Matrix) []snapshot.Series {
	var out []snapshot.Series
	for _, one := range m {
		s := snapshot.Series{Labels: labelsOf(one.Metric)}
		for _, p := range one.Floats {
			s.T, s.V = append(s.T, p.T), append(s.V, p.F)
		}
		out = append(out, s)
	}
	return out
}

// listener keeps what is asked of a backend.
type listener struct {
	Backend
	window view.Window
	mu     sync.Mutex
	lines  map[string]promql.Matrix
}

// Range implements Backend.
func (l *listener) Range(ctx context.Context, expr string, from, to time.Time, step time.Duration) (promql.Matrix, error) {
	m, err := l.Backend.Range(ctx, expr, from, to, step)
	l.mu.Lock()
	defer l.mu.Unlock()
	switch _, known := l.lines[expr]; {
	case !from.After(l.window.From) && !to.Before(l.window.To):
		l.lines[expr] = slices.Clone(m)
	case !known: // of a part of the window only, as a slope is
		l.lines[expr] = nil
	}
	return m, err
}

// Instant implements Backend.
func (l *listener) Instant(ctx context.Context, expr string, at time.Time) (promql.Vector, error) {
	l.mu.Lock()
	if _, ok := l.lines[expr]; !ok {
		l.lines[expr] = nil
	}
	l.mu.Unlock()
	return l.Backend.Instant(ctx, expr, at)
}
