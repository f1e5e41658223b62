package web

import (
	"context"
	"slices"
	"strings"
	"time"

	"github.com/prometheus/prometheus/model/labels"
	"github.com/prometheus/prometheus/promql/parser"

	"stallmark/rules"
	"stallmark/storage/model"
	"stallmark/web/view"
)

// patternTest tells whether the lines of a pattern are evidence of expressions:
// one of them reads a counter of log lines with that pattern. Nil if none reads
// any.
func patternTest(p parser.Parser, exprs []string) view.PatternTest {
	var matchers []*labels.Matcher
	for _, expr := range exprs {
		if !strings.Contains(expr, "stallmark_log_match") {
			continue
		}
		tree, err := p.ParseExpr(expr)
		if err != nil {
			continue // the query says what is wrong with it
		}
		parser.Inspect(tree, func(node parser.Node, _ []parser.Node) error {
			sel, ok := node.(*parser.VectorSelector)
			if !ok || !strings.HasPrefix(sel.Name, "stallmark_log_match") {
				return nil
			}
			for _, m := range sel.LabelMatchers {
				if m.Name == "pattern" {
					matchers = append(matchers, m)
				}
			}
			return nil
		})
	}
	if len(matchers) == 0 {
		return nil
	}
	return func(pattern string) bool {
		return slices.ContainsFunc(matchers, func(m *labels.Matcher) bool { return m.Matches(pattern) })
	}
}

// either passes what one of several tests passes; nil if there is none.
func either(tests ...view.PatternTest) view.PatternTest {
	tests = slices.DeleteFunc(tests, func(t view.PatternTest) bool { return t == nil })
	if len(tests) == 0 {
		return nil
	}
	return func(pattern string) bool {
		return slices.ContainsFunc(tests, func(t view.PatternTest) bool { return t(pattern) })
	}
}

// logTests are, by signature, the patterns whose lines are its evidence: those of
// the rules, and of the findings where a snapshot has no rules.
func (s *server) logTests(findings []model.Finding) map[string]view.PatternTest {
	out := map[string]view.PatternTest{}
	for _, sig := range s.cfg.Backend.Signatures() {
		if t := either(patternTest(s.parser, exprsOf(sig)), toldBy(sig)); t != nil {
			out[sig.ID] = t
		}
	}
	for _, f := range findings {
		if out[f.Signature] != nil {
			continue
		}
		var exprs []string
		for _, e := range f.Evidence {
			exprs = append(exprs, e.Expr)
		}
		if t := patternTest(s.parser, exprs); t != nil {
			out[f.Signature] = t
		}
	}
	return out
}

func exprsOf(sig *rules.Signature) []string {
	out := []string{sig.When, sig.Extent}
	for _, e := range sig.Evidence {
		out = append(out, e.Expr)
	}
	return out
}

// toldBy are the patterns that a signature names outright.
func toldBy(sig *rules.Signature) view.PatternTest {
	var named []string
	for _, e := range sig.Evidence {
		if e.Told != nil && e.Told.Kind == model.EventLog && e.Told.Attr == "pattern" {
			named = append(named, e.Told.Values...)
		}
	}
	if len(named) == 0 {
		return nil
	}
	return func(pattern string) bool { return slices.Contains(named, pattern) }
}

// tell puts the log lines and the JVMs' pauses behind charts.
func (b *backdrop) tell(events []model.Event) {
	b.logs = view.LogTicks(events)
	b.pauses = view.PauseSpans(events, b.window)
}

// excerpts bounds the lines on the page of a finding or an incident.
const excerpts = 8

// excerptSlack is how much before and after a finding its lines may be: they are
// written when it is over, by clocks of whole seconds.
const excerptSlack = 10 * time.Second

// excerpt picks the lines that tell of findings: those of their own patterns, or
// any of direct proof or hint meanwhile.
func (s *server) excerpt(ctx context.Context, all []model.Finding, from, to time.Time, w view.Window) (view.Excerpt, error) {
	events, err := s.cfg.Backend.EventsIn(ctx, from.Add(-excerptSlack), to.Add(excerptSlack), model.EventLog)
	if err != nil {
		return view.Excerpt{}, err
	}
	tests := s.logTests(all)
	var own []view.PatternTest
	for _, f := range all {
		own = append(own, tests[f.Signature])
	}
	return view.NewExcerpt(events, either(own...), s.patterns(), excerpts, w.Fit(from, to), w), nil
}
