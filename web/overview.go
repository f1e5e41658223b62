package web

import (
	"context"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/a-h/templ"

	"stallmark/storage/model"
	"stallmark/web/chart"
	"stallmark/web/format"
	"stallmark/web/view"
)

// evidenceMax is how many evidence charts the overview shows.
const evidenceMax = 6

func (s *server) overview(r *http.Request, w view.Window) (templ.Component, error) {
	ctx := r.Context()
	rep, err := s.liveReport(ctx, w)
	if err != nil {
		return nil, err
	}
	events, err := s.cfg.Backend.EventsIn(ctx, w.From, w.To, model.EventSetting, model.EventBlocked, model.EventLog)
	if err != nil {
		return nil, err
	}
	o := view.Overview{Page: s.live(s.frame(r, w, "")), Sources: view.GroupSources(view.NewSources(rep.Coverage))}
	o.Timed = true
	o.Twin = "/api/v1/report" + w.Query()
	changes := view.ChangesOf(events)
	o.Verdict = view.NewVerdict(rep, changes, s.verdictWindow(w), s.blind(ctx, w))
	o.Others = view.NewOthers(rep, w)
	o.Page.Verdict = o.Verdict.Word + ": " + o.Verdict.Title
	if s.frozen == nil {
		o.Title = o.Verdict.Word + " · " + format.Clean(s.cfg.Host) + " · Stallmark"
	}

	main := view.MainFindings(rep)
	b := backdrop{w, spansOf(main, rep, w), marksOf(changes), gapsOf(rep.Coverage)}
	o.Lanes, o.Quiet = s.lanes(rep, events, b)
	o.Evidence = figures(s.evidenceCharts(ctx, main, evidenceMax, b))
	if len(main) == 0 {
		o.Changes = newest(changes, maxChanges)
	}
	switch {
	case len(main) > 0:
		o.Around = s.hostCharts(ctx, main[0].Signature, b)
	case o.Verdict.Kind != view.Blind:
		o.Around = s.hostCharts(ctx, "", b)
		o.Cliffs = s.cliffs(ctx, w)
		if w.Live {
			o.Audit = s.auditHint(ctx, w)
		}
	}
	return view.OverviewPage(o), nil
}

// blind reports whether the window holds no sample at all.
func (s *server) blind(ctx context.Context, w view.Window) bool {
	oldest, newest := s.cfg.Backend.Extent(ctx)
	return newest.IsZero() || newest.Before(w.From) || oldest.After(w.To)
}

// spansOf are the times in which the main root's signature fired.
func spansOf(main []model.Finding, rep model.Report, w view.Window) []chart.Span {
	if len(main) == 0 {
		return nil
	}
	return spansAmong(main[0].Signature, rep.Findings, w)
}

func endOf(f model.Finding, w view.Window) time.Time {
	if f.Ended == nil {
		return w.To
	}
	return *f.Ended
}

// marksOf are the changed settings.
func marksOf(changes []view.Change) []chart.Mark {
	var out []chart.Mark
	for _, c := range changes {
		out = append(out, chart.Mark{At: c.At, Text: c.Text()})
	}
	return out
}

// maxChanges is how many moments of changed settings are listed.
const maxChanges = 6

// newest are the last n changes, the newest first.
func newest(changes []view.Change, n int) []view.Change {
	out := slices.Clone(changes)
	slices.Reverse(out)
	return out[:min(len(out), n)]
}

// openLanes is how many lanes are shown beside those that fired before the rest
// is folded.
const openLanes = 5

// lanes are the signatures as rows: those that fired, those that are unknown,
// then the quiet ones. If none fired all are folded.
func (s *server) lanes(rep model.Report, events []model.Event, b backdrop) (open, folded chart.Lanes) {
	rows := view.Lanes(s.cfg.Backend.Signatures(), rep, events, b.window)
	n := view.Fired(rows)
	if n > 0 {
		n = min(len(rows), max(openLanes, n))
	}
	w := b.window
	return chart.LayLanes(rows[:n], b.marks, w.From, w.To), chart.LayLanes(rows[n:], b.marks, w.From, w.To)
}

// cliff is a distance to a point where a stall begins: two expressions with
// the same labels.
type cliff struct {
	title, value, edge, unit, signature string
}

func cliffList() []cliff {
	return []cliff{
		{"Dirty pages, of the point where writers are paused", dirtyBytes, freerunBytes, "bytes", "dirty-throttling"},
		{"Free memory, down to where allocating threads reclaim", minBytes, freeBytes, "bytes", "direct-reclaim"},
		{"CPU time of the last minute", strings.ReplaceAll(cpuBusy, "[3s]", "[1m]"), `vector(100)`, "percent", "cpu-saturation"},
		{"Open files of %s", `stallmark_process_open_fds`, `stallmark_process_max_fds`, "count", "fd-exhausted"},
		{"Mappings of %s", `stallmark_process_mappings`, `stallmark_process_max_mappings`, "count", "map-count-exhausted"},
		{"Space on %s", `node_filesystem_size_bytes - node_filesystem_avail_bytes`, `node_filesystem_size_bytes`, "bytes", "disk-full"},
	}
}

// cliffsMax is how many distances are shown, the nearest first.
const cliffsMax = 4

// cliffs measures how near the next stall is.
func (s *server) cliffs(ctx context.Context, w view.Window) []view.Cliff {
	var out []view.Cliff
	for _, c := range cliffList() {
		out = append(out, s.measure(ctx, c, w)...)
	}
	slices.SortStableFunc(out, func(a, b view.Cliff) int { return int(b.Percent*10) - int(a.Percent*10) })
	return out[:min(len(out), cliffsMax)]
}

func (s *server) measure(ctx context.Context, c cliff, w view.Window) []view.Cliff {
	values, err := s.cfg.Backend.Instant(ctx, c.value, w.To)
	if err != nil {
		return nil
	}
	edges, err := s.cfg.Backend.Instant(ctx, c.edge, w.To)
	if err != nil {
		return nil
	}
	link := ""
	for _, sig := range s.cfg.Backend.Signatures() {
		if sig.ID == c.signature {
			link = w.Link("signatures", c.signature)
		}
	}
	var out []view.Cliff
	for _, v := range values {
		for _, e := range edges {
			if sameLabels(v.Metric, e.Metric) && e.F > 0 {
				name := strings.ReplaceAll(c.title, "%s", subjectOf(v.Metric))
				out = append(out, view.NewCliff(name, v.F, e.F, c.unit, link))
			}
		}
	}
	return out
}
