package web

import (
	"cmp"
	"context"
	"net/http"
	"slices"
	"time"

	"github.com/a-h/templ"

	"stallmark/rules"
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
	events, err := s.cfg.Backend.EventsIn(ctx, w.From, w.To, model.EventSetting, model.EventBlocked, model.EventLog, model.EventPause)
	if err != nil {
		return nil, err
	}
	o := view.Overview{Page: s.live(s.frame(r, w, "")), Sources: view.GroupSources(view.NewSources(append(s.storeCoverage(ctx), rep.Coverage...)))}
	o.Timed = true
	o.Twin = "/api/v1/report" + w.Query()
	changes := view.ChangesOf(events)
	o.Verdict = view.NewVerdict(rep, changes, s.verdictWindow(w), s.blind(ctx, w))
	o.Others, o.Further = view.NewOthers(rep, w)
	o.Page.Verdict = o.Verdict.Word + ": " + o.Verdict.Title
	if s.frozen == nil {
		o.Title = o.Verdict.Word + " · " + format.Clean(s.cfg.Host) + " · Stallmark"
	}

	o.Pieces, o.PieceNotes = view.PiecesOf(rep)
	o.Signs = view.SignsOf(rep)
	o.Decide = rep.Decide

	main := view.MainFindings(rep)
	b := backdrop{window: w, fired: spansOf(main, rep, w), marks: marksOf(changes), gaps: gapsOf(rep.Coverage)}
	b.tell(events)
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

// storeCoverage is the store among the sources, while it does not answer: what
// is shown then is in memory alone.
func (s *server) storeCoverage(ctx context.Context) []model.Coverage {
	store := s.cfg.Backend.Health(ctx).Storage
	if store.Up || store.Path == "" {
		return nil
	}
	return []model.Coverage{{
		Source: "store", State: model.SourceFailed,
		Detail: cmp.Or(store.Detail, "the process that writes the file does not answer"),
		Mend:   "nothing is written to disk meanwhile; verdict and charts go on from memory",
	}}
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
	rows := view.Lanes(s.cfg.Backend.Signatures(), rep, events, s.logTests(rep.Findings), b.window)
	n := view.Fired(rows)
	if n > 0 {
		n = min(len(rows), max(openLanes, n))
	}
	w := b.window
	shown := slices.Clone(rows[:n])
	if n > 0 {
		shown = append(shown, view.EvidenceLanes(events, w)...)
	}
	return chart.LayLanes(shown, b.marks, w.From, w.To), chart.LayLanes(rows[n:], b.marks, w.From, w.To)
}

// cliffsMax is how many distances are shown, the nearest first.
const cliffsMax = 5

// cliffs measures how near the next stall is. What fails leaves its line out.
func (s *server) cliffs(ctx context.Context, w view.Window) []view.Cliff {
	all, err := rules.Cliffs(ctx, s.cfg.Backend, w.To, s.cfg.Interval)
	if err != nil {
		s.cfg.Logger.Warn("distances to the cliffs", "error", err)
	}
	var out []view.Cliff
	for _, c := range all[:min(len(all), cliffsMax)] {
		out = append(out, view.NewCliff(c, w))
	}
	return out
}
