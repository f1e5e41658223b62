package gallery

import (
	"context"
	"errors"
	"slices"
	"sync"
	"time"

	"github.com/prometheus/prometheus/promql"

	"stallmark/rules"
	"stallmark/rules/audit"
	"stallmark/storage/model"
	"stallmark/web"
)

// Scene is everything that a page can ask about one canned host.
type Scene struct {
	About    string
	Now      time.Time
	Data     *Data
	Report   model.Report
	Events   []model.Event
	Facts    map[string]model.Fact
	Catalog  []*rules.Signature
	Self     web.Health
	Audit    []audit.Result
	Files    []web.DataFile
	Patterns []model.LogPattern
	Unknown  []web.UnknownLine
	Fail     error // what every call to the store gives back
	Interval time.Duration
}

// Backend serves a scene, which may be changed while it is being looked at.
type Backend struct {
	mu    sync.RWMutex
	scene Scene
	sets  int
	query *rules.Query
}

var (
	_ web.Backend   = (*Backend)(nil)
	_ web.PageCache = (*Backend)(nil)
	_ web.Logs      = (*Backend)(nil)
)

// New makes a backend of a scene.
func New(s Scene) *Backend {
	b := &Backend{}
	b.Set(s)
	return b
}

// Set changes the scene.
func (b *Backend) Set(s Scene) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if s.Interval == 0 {
		s.Interval = time.Second
	}
	b.sets++
	b.scene, b.query = s, rules.NewQuery(s.Data, s.Interval)
}

func (b *Backend) get() (Scene, *rules.Query) {
	b.mu.RLock()
	defer b.mu.RUnlock()
	return b.scene, b.query
}

// Now is the scene's clock. It stands, but for a second that passes whenever the
// scene changes.
func (b *Backend) Now() time.Time {
	b.mu.RLock()
	defer b.mu.RUnlock()
	return b.scene.Now.Add(time.Duration(b.sets-1) * time.Second)
}

// EventsIn implements web.Backend.
func (b *Backend) EventsIn(_ context.Context, from, to time.Time, kinds ...model.EventKind) ([]model.Event, error) {
	s, _ := b.get()
	var out []model.Event
	for _, e := range s.Events {
		if !e.From.After(to) && !e.To.Before(from) && (len(kinds) == 0 || slices.Contains(kinds, e.Kind)) {
			out = append(out, e)
		}
	}
	return out, s.Fail
}

// FactsAt implements web.Backend.
func (b *Backend) FactsAt(context.Context, time.Time) (map[string]model.Fact, error) {
	s, _ := b.get()
	return s.Facts, s.Fail
}

// CoverageAt implements web.Backend.
func (b *Backend) CoverageAt(context.Context, time.Time) ([]model.Coverage, error) {
	s, _ := b.get()
	return s.Report.Coverage, s.Fail
}

// FindingsIn implements web.Backend.
func (b *Backend) FindingsIn(_ context.Context, from, to time.Time) ([]model.Finding, error) {
	s, _ := b.get()
	var out []model.Finding
	for _, f := range s.Report.Findings {
		if !f.Started.After(to) && (f.Ended == nil || !f.Ended.Before(from)) {
			out = append(out, f)
		}
	}
	return out, s.Fail
}

// Finding implements web.Backend.
func (b *Backend) Finding(_ context.Context, id string) (model.Finding, bool, error) {
	s, _ := b.get()
	k := slices.IndexFunc(s.Report.Findings, func(f model.Finding) bool { return f.ID == id })
	if k < 0 {
		return model.Finding{}, false, s.Fail
	}
	return s.Report.Findings[k], true, s.Fail
}

// Extent implements web.Backend.
func (b *Backend) Extent(context.Context) (oldest, newest time.Time) {
	s, _ := b.get()
	return s.Data.Extent()
}

// Instant implements web.Backend.
func (b *Backend) Instant(ctx context.Context, expr string, at time.Time) (promql.Vector, error) {
	_, q := b.get()
	return q.Instant(ctx, expr, at)
}

// Range implements web.Backend.
func (b *Backend) Range(ctx context.Context, expr string, from, to time.Time, step time.Duration) (promql.Matrix, error) {
	_, q := b.get()
	return q.Range(ctx, expr, from, to, step)
}

// Report implements web.Backend.
func (b *Backend) Report(_ context.Context, from, to time.Time, findings []model.Finding) (model.Report, error) {
	s, _ := b.get()
	r := s.Report
	r.Window = model.Window{From: from, To: to}
	r.Findings = findings
	r.Incidents = slices.DeleteFunc(slices.Clone(r.Incidents), func(i model.Incident) bool {
		return !slices.ContainsFunc(findings, func(f model.Finding) bool { return f.ID == i.Root })
	})
	return r, s.Fail
}

// Signatures implements web.Backend.
func (b *Backend) Signatures() []*rules.Signature {
	s, _ := b.get()
	return s.Catalog
}

// Health implements web.Backend.
func (b *Backend) Health(context.Context) web.Health {
	s, _ := b.get()
	return s.Self
}

// Audit is for web.Config.
func (b *Backend) Audit(context.Context, time.Time) ([]audit.Result, error) {
	s, _ := b.get()
	return s.Audit, s.Fail
}

// errStore is what a store that does not answer gives.
var errStore = errors.New("the store's process does not answer")
