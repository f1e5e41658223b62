package audit

import (
	"context"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/prometheus/prometheus/promql"

	"stallmark/rules"
	"stallmark/storage/model"
)

// metricName is the label that holds a metric's name.
const metricName = "__name__"

// host is what is known of a host at one time.
type host struct {
	ctx      context.Context
	query    Querier
	at       time.Time
	facts    map[string]string
	coverage []model.Coverage
	vectors  map[string]promql.Vector // by expression
}

func newHost(ctx context.Context, src Source, q Querier, at time.Time) (*host, error) {
	facts, err := src.FactsAt(ctx, at)
	if err != nil {
		return nil, err
	}
	coverage, err := src.CoverageAt(ctx, at)
	if err != nil {
		return nil, err
	}
	h := &host{ctx: ctx, query: q, at: at, facts: map[string]string{}, coverage: coverage, vectors: map[string]promql.Vector{}}
	for key, f := range facts {
		h.facts[key] = f.Value
	}
	return h, nil
}

// instant evaluates an expression once.
func (h *host) instant(expr string) (promql.Vector, error) {
	if v, ok := h.vectors[expr]; ok {
		return v, nil
	}
	v, err := h.query.Instant(h.ctx, expr, h.at)
	if err != nil {
		return nil, &queryError{err}
	}
	h.vectors[expr] = v
	return v, nil
}

// subjects gives the labels of each series of an expression, each set once, in
// order.
func (h *host) subjects(expr string) ([]map[string]string, error) {
	v, err := h.instant(expr)
	if err != nil {
		return nil, err
	}
	var subjects []map[string]string
	for _, s := range v {
		m := s.Metric.Map()
		delete(m, metricName)
		if !slices.ContainsFunc(subjects, func(o map[string]string) bool { return maps.Equal(m, o) }) {
			subjects = append(subjects, m)
		}
	}
	return subjects, nil
}

// read gives one input, or a gap.
func (h *host) read(r read, subject map[string]string) (any, error) {
	if r.query != "" {
		return h.number(r.query, subject)
	}
	key, err := fillKey(r.fact, subject)
	if err != nil {
		return nil, err
	}
	if v := h.facts[key]; v != "" {
		return v, nil
	}
	g := h.missing(key, subject)
	if r.fallback == "" || !g.lacking {
		return nil, g
	}
	return h.fallback(r, subject)
}

// fallback is the product's default in its version.
func (h *host) fallback(r read, subject map[string]string) (any, error) {
	if len(r.since) == 0 {
		return r.fallback, nil
	}
	version := h.facts["process."+subject["pid"]+".version"]
	if version == "" {
		return nil, gap{why: "the key is not set, and its default depends on the broker's version, which could not be told"}
	}
	value := r.fallback
	for _, s := range r.since {
		later, err := since(version, s.version)
		if err != nil {
			return nil, gap{why: err.Error()}
		}
		if later {
			value = s.value
		}
	}
	return value, nil
}

// number gives the largest value of an expression for the subject.
func (h *host) number(expr string, subject map[string]string) (any, error) {
	v, err := h.instant(expr)
	if err != nil {
		return nil, err
	}
	found, best := false, 0.0
	for _, s := range v {
		if s.H == nil && s.F-s.F == 0 && rules.Agrees(subject, s.Metric) && (!found || s.F > best) {
			found, best = true, s.F
		}
	}
	if found {
		return best, nil
	}
	if g, unread := h.unread(expr); unread {
		return nil, g
	}
	return nil, gap{lacking: true, why: "this host has no " + strings.Join(metricsOf(expr), ", ")}
}

// fillKey makes a check's key one of the subject: "process.role" becomes that of
// the subject's pid, "block.scheduler" that of its device, and "{name}" its label
// of that name.
func fillKey(key string, subject map[string]string) (string, error) {
	if !strings.Contains(key, "{") {
		if rest, ok := strings.CutPrefix(key, "process."); ok {
			key = "process.{pid}." + rest
		} else if rest, ok := strings.CutPrefix(key, "block."); ok {
			key = "block.{device}." + rest
		}
	}
	for {
		before, rest, open := strings.Cut(key, "{")
		name, after, closed := strings.Cut(rest, "}")
		if !open || !closed {
			return key, nil
		}
		if subject[name] == "" {
			return "", gap{why: "which " + strings.ReplaceAll(name, "_", " ") + " it uses could not be told"}
		}
		key = before + subject[name] + after
	}
}
