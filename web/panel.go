package web

import (
	"cmp"
	"context"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/prometheus/prometheus/model/labels"
	"github.com/prometheus/prometheus/promql"

	"stallmark/rules"
	"stallmark/storage/model"
	"stallmark/web/chart"
	"stallmark/web/format"
	"stallmark/web/view"
)

// refresh is the least time between looks for news.
const refresh = 2 * time.Second

// maxSamples is how many samples a line is drawn from at most. It is a few
// times the columns of a chart, whose envelope keeps the spikes.
const maxSamples = 4 * chart.Columns

// panel is a chart to be queried.
type panel struct {
	title, unit, note string
	signature         string // whose evidence shows the same
	lines, limits     []line
	subject           map[string]string // only series that agree with it are drawn
}

// line is one expression. Its series are named by the values of a label, or by
// name where there is none.
type line struct {
	name, expr, label string
	value             *float64 // of a constant limit
	below             bool     // of a limit: the fault lies below it
}

// backdrop is what all charts of a page share.
type backdrop struct {
	window view.Window
	fired  []chart.Span
	marks  []chart.Mark
	gaps   []model.Coverage // of the sources that give nothing
	logs   []chart.Tick     // lines that point at a fault
	pauses []chart.Span     // times in which a JVM stood
}

// missing says why a panel has no data: the source that gives its metrics
// could not read them.
func (b backdrop) missing(p panel) string {
	for _, c := range b.gaps {
		for _, prefix := range c.Provides {
			for _, l := range p.lines {
				if prefix != "" && strings.Contains(l.expr, prefix) {
					return format.Clean(string(c.State) + ": " + c.Detail)
				}
			}
		}
	}
	return ""
}

// gapsOf are the sources that give nothing.
func gapsOf(all []model.Coverage) []model.Coverage {
	return slices.DeleteFunc(slices.Clone(all), func(c model.Coverage) bool { return c.State == model.SourceOK || c.State == model.SourcePartial })
}

// plainBackdrop is that of charts that are about no finding: the changed
// settings, and what could not be read.
func (s *server) plainBackdrop(ctx context.Context, w view.Window, coverage []model.Coverage) (backdrop, error) {
	events, err := s.cfg.Backend.EventsIn(ctx, w.From, w.To, model.EventSetting)
	return backdrop{window: w, marks: marksOf(view.ChangesOf(events)), gaps: gapsOf(coverage)}, err
}

// step is the distance of a chart's samples: a beat, or as many as it takes to
// stay under maxSamples. From half a minute on it is whole minutes, for which
// storage need not read every sample.
func (s *server) step(w view.Window) time.Duration {
	if s.frozen != nil {
		return s.cfg.Interval
	}
	beats := int64(w.To.Sub(w.From)/maxSamples/s.cfg.Interval) + 1
	step := time.Duration(beats) * s.cfg.Interval
	if step > time.Minute/2 {
		step = (step + time.Minute - 1).Truncate(time.Minute)
	}
	return step
}

// draw queries and lays out one chart.
func (s *server) draw(ctx context.Context, id string, p panel, b backdrop) chart.Figure {
	return chart.Lay(s.ask(ctx, id, p, b))
}

// ask queries one chart. A query that fails leaves a chart that says so: the
// other charts are not worse for it.
func (s *server) ask(ctx context.Context, id string, p panel, b backdrop) chart.Chart {
	w := b.window
	c := chart.Chart{
		ID: id, Title: format.Clean(p.title), Unit: p.unit, Note: format.Clean(p.note),
		From: w.From, To: w.To, Step: s.step(w), Live: w.Live, Fired: b.fired, Marks: b.marks, Logs: b.logs, Pauses: b.pauses,
	}
	for _, l := range p.lines {
		found, err := s.series(ctx, l, p, w)
		if err != nil {
			s.cfg.Logger.Warn("chart", "title", p.title, "error", err)
			c.Empty = "could not be computed"
			continue
		}
		c.Series = append(c.Series, found...)
	}
	slices.SortStableFunc(c.Series, chart.ByPeak)
	for _, l := range p.limits {
		if l.value != nil {
			c.Limits = append(c.Limits, chart.Limit{Name: l.name, Value: *l.value, Below: l.below})
			continue
		}
		found, err := s.series(ctx, l, p, w)
		if err != nil {
			s.cfg.Logger.Warn("threshold", "title", p.title, "error", err)
		}
		if len(found) > 0 {
			c.Limits = append(c.Limits, chart.Limit{Name: l.name, Points: found[0].Points, Below: l.below})
		}
	}
	if len(c.Series) == 0 && c.Empty == "" {
		c.Empty = b.missing(p)
	}
	return c
}

func (s *server) series(ctx context.Context, l line, p panel, w view.Window) ([]chart.Series, error) {
	m, err := s.matrix(ctx, l.expr, w)
	if err != nil {
		return nil, err
	}
	m = slices.DeleteFunc(m, func(one promql.Series) bool { return !agrees(p.subject, one.Metric) })
	var out []chart.Series
	for _, one := range m {
		points := make([]chart.Point, len(one.Floats))
		for i, f := range one.Floats {
			points[i] = chart.Point{T: f.T, V: f.F}
		}
		out = append(out, chart.Series{Name: lineName(l, one.Metric, len(m)), Points: points})
	}
	return out, nil
}

// matrix evaluates an expression over a window. Where the steps are long, each
// holds the smallest and the largest value since the one before, as two samples
// of the same time. Steps fall on multiples of their length, so that a live
// chart moves without shimmering.
func (s *server) matrix(ctx context.Context, expr string, w view.Window) (promql.Matrix, error) {
	step := s.step(w)
	from := w.From.Truncate(step)
	ask := s.cfg.Backend.Range
	if w.Live {
		ask = func(ctx context.Context, expr string, from, to time.Time, step time.Duration) (promql.Matrix, error) {
			return s.lines.query(ctx, s.cfg.Backend.Range, expr, from, to, step)
		}
	}
	if step <= exactBeats*s.cfg.Interval {
		return ask(ctx, expr, from, w.To, step)
	}
	highExpr, lowExpr := coarse(s.parser, expr, step, "max_over_time"), coarse(s.parser, expr, step, "min_over_time")
	high, err := ask(ctx, highExpr, from, w.To, step)
	if err != nil || lowExpr == highExpr {
		return high, err
	}
	low, err := ask(ctx, lowExpr, from, w.To, step)
	if err != nil {
		return nil, err
	}
	for i := range high {
		k := slices.IndexFunc(low, func(one promql.Series) bool { return labels.Equal(one.Metric, high[i].Metric) })
		if k >= 0 {
			high[i].Floats = append(slices.Clone(low[k].Floats), high[i].Floats...)
			slices.SortStableFunc(high[i].Floats, func(a, b promql.FPoint) int { return cmp.Compare(a.T, b.T) })
		}
	}
	return high, nil
}

// exactBeats is the longest step, in beats, that leaves nothing out: rates look
// back over three beats (rules, minBeats).
const exactBeats = 3

// agrees reports whether a series has the subject's value in every label that
// both have.
func agrees(subject map[string]string, metric labels.Labels) bool {
	for name, value := range subject {
		if got := metric.Get(name); got != "" && got != value {
			return false
		}
	}
	return true
}

func lineName(l line, metric labels.Labels, n int) string {
	if l.label != "" {
		return strings.TrimSpace(format.Clean(metric.Get(l.label)) + " " + l.name)
	}
	if l.name != "" || n == 1 {
		return l.name
	}
	var parts []string
	metric.Range(func(x labels.Label) {
		if x.Name != nameLabel && (x.Name != "pid" || metric.Get("process") == "") {
			parts = append(parts, x.Value)
		}
	})
	if len(parts) == 0 {
		return "on the host"
	}
	return format.Clean(strings.Join(parts, " "))
}

// evidencePanel is the chart of a piece of evidence.
func evidencePanel(f model.Finding, e model.Evidence) panel {
	p := panel{title: e.Title, unit: e.Unit, subject: f.Subject, lines: []line{{expr: e.Expr}}}
	switch {
	case e.Limit != "":
		p.limits = []line{{name: "threshold", expr: e.Limit}}
	case e.Threshold != nil:
		p.limits = []line{{name: "threshold", value: e.Threshold}}
	}
	if mean, ok := rules.MeanWaiting(e.Expr); ok && e.Role == model.RoleWitness {
		p.lines = append(p.lines, line{name: "in the mean, by tracepoint", expr: mean, label: "process"})
	}
	if len(p.limits) > 0 && e.Value != nil && e.Threshold != nil {
		p.limits[0].below = (e.State == model.EvidenceHolds) == (*e.Value < *e.Threshold)
	}
	p.note, _, _ = strings.Cut(e.Detail, "\n")
	return p
}

// evidenceCharts asks for the evidence of findings, each expression once. What
// could not be measured has no chart: the list of evidence says why.
func (s *server) evidenceCharts(ctx context.Context, all []model.Finding, n int, b backdrop) []chart.Chart {
	var out []chart.Chart
	seen := map[string]bool{}
	for _, f := range all {
		for _, e := range f.Evidence {
			key := e.Expr + "\x00" + e.Limit
			unmeasured := e.State == model.EvidenceUnmeasured && e.Value == nil
			if e.Expr == "" || unmeasured || seen[key] || len(out) >= n {
				continue
			}
			seen[key] = true
			out = append(out, s.ask(ctx, "evidence-"+strconv.Itoa(len(out)+1), evidencePanel(f, e), b))
		}
	}
	return out
}

func figures(charts []chart.Chart) []chart.Figure {
	var out []chart.Figure
	for _, c := range charts {
		out = append(out, chart.Lay(c))
	}
	return out
}
