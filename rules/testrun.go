package rules

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/prometheus/prometheus/promql"

	"stallmark/storage/model"
)

// TestResult is the outcome of one test of a signature file.
type TestResult struct {
	Signature string
	File      string
	Line      int // of the test in the file
	Name      string
	OK        bool
	Message   string // what went wrong
}

// testStart is the time of the first sample of every test.
func testStart() time.Time { return time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC) }

// RunTests runs the tests inside the pack's files, each signature alone. A
// signature without tests gives no result.
func RunTests(ctx context.Context, pack *Pack) []TestResult {
	var out []TestResult
	for _, s := range pack.Signatures {
		for i := range s.Tests {
			t := &s.Tests[i]
			r := TestResult{Signature: s.ID, File: s.File, Line: t.Line, Name: t.Name}
			if err := runTest(ctx, s, t); err != nil {
				r.Message = err.Error()
			}
			r.OK = r.Message == ""
			out = append(out, r)
		}
	}
	return out
}

// history is what one signature did during a test.
type history struct {
	firing   []model.Finding // at the end
	pending  []model.Finding // at the end
	ended    []model.Finding // resolved before the end
	standing                 // at the end
}

func runTest(ctx context.Context, s *Signature, t *TestCase) error {
	src, samples, err := t.source()
	if err != nil {
		return err
	}
	at := t.At
	if at < 0 {
		at = time.Duration(max(samples-1, 0)) * t.Interval
	}
	alone := &Pack{Signatures: []*Signature{s}, byID: map[string]*Signature{s.ID: s}}
	e := NewEngine(alone, src, t.Interval)
	e.exact = true
	h, err := play(ctx, e, s, at, t.Interval)
	if err != nil {
		return err
	}
	return t.judge(h)
}

// play steps an engine up to a time after the start.
func play(ctx context.Context, e *Engine, s *Signature, until, interval time.Duration) (history, error) {
	var h history
	start := testStart()
	for d := time.Duration(0); d <= until; d += interval {
		fs, err := e.Step(ctx, start.Add(d))
		if err != nil {
			return h, fmt.Errorf("at %v: %w", d, err)
		}
		for _, f := range fs {
			if f.State == model.StateResolved {
				h.ended = append(h.ended, f)
			}
		}
	}
	h.firing, h.pending = e.Open(), e.Pending()
	end := start.Add(until)
	var err error
	h.standing, err = e.standing(ctx, newBeat(e.src, e.query, end), s, start, nil)
	return h, err
}

// source makes the test's series and facts, and counts the samples of the
// longest series.
func (t *TestCase) source() (*memSource, int, error) {
	src := &memSource{facts: map[string]model.Fact{}, coverage: []model.Coverage{}}
	start, longest := testStart().UnixMilli(), 0
	for _, desc := range t.Series {
		ls, values, err := newParser().ParseSeriesDesc(desc)
		if err != nil {
			return nil, 0, err
		}
		s := &memSeries{labels: ls}
		for i, v := range values {
			if v.Histogram != nil {
				return nil, 0, errors.New("histograms are not supported")
			}
			if !v.Omitted {
				at := start + int64(i)*t.Interval.Milliseconds()
				s.points = append(s.points, promql.FPoint{T: at, F: v.Value})
			}
		}
		longest = max(longest, len(values))
		src.add(s)
	}
	for key, v := range t.Facts {
		src.facts[key] = model.Fact{At: testStart(), Key: key, Value: v}
	}
	return src, longest, nil
}

// judge compares what happened with what the test demands.
func (t *TestCase) judge(h history) error {
	switch t.Expect {
	case ExpectUnknown:
		if h.unknown == nil {
			return fmt.Errorf("want unknown, but every need has samples; %s", h)
		}
	case ExpectNone:
		if h.none == nil {
			return fmt.Errorf("want not applicable, but it applies: %s", h)
		}
	case ExpectQuiet:
		if h.none != nil {
			return fmt.Errorf("want quiet, but it is not applicable: %s", h.none.Why)
		}
		if h.unknown != nil {
			return fmt.Errorf("want quiet, but it is unknown: %s", h.unknown.Why)
		}
		if len(h.firing)+len(h.ended) > 0 {
			return fmt.Errorf("want quiet (nothing has fired up to then): %s", h)
		}
	case ExpectPending:
		return t.oneOf(h, h.pending)
	case ExpectResolved:
		if len(h.firing) > 0 {
			return fmt.Errorf("want resolved, but it still fires: %s", h)
		}
		return t.oneOf(h, h.ended)
	default:
		return t.oneOf(h, h.firing)
	}
	return nil
}

// oneOf demands a finding with the test's subject and confidence.
func (t *TestCase) oneOf(h history, fs []model.Finding) error {
	for _, f := range fs {
		if hasAll(f.Subject, t.Subject) && (t.Confidence == "" || t.Confidence == f.Confidence) {
			return nil
		}
	}
	want := string(t.Expect)
	if len(t.Subject) > 0 {
		want += fmt.Sprintf(" with %v", t.Subject)
	}
	if t.Confidence != "" {
		want += ", " + string(t.Confidence)
	}
	return fmt.Errorf("want %s: %s", want, h)
}

func hasAll(subject, want map[string]string) bool {
	for k, v := range want {
		if subject[k] != v {
			return false
		}
	}
	return true
}

// String says what happened, in one line.
func (h history) String() string {
	text := ""
	for _, group := range []struct {
		name string
		fs   []model.Finding
	}{{"firing", h.firing}, {"pending", h.pending}, {"resolved", h.ended}} {
		for _, f := range group.fs {
			text += fmt.Sprintf("%s %v since %v, %s", group.name, f.Subject, f.Started.Sub(testStart()), f.Confidence)
			if f.Ended != nil {
				text += fmt.Sprintf(", until %v", f.Ended.Sub(testStart()))
			}
			for _, e := range f.Evidence {
				text += fmt.Sprintf(" [%s %s: %s]", e.Role, e.Title, evidenceText(e))
			}
			text += "; "
		}
	}
	if h.unknown != nil {
		text += "unknown: " + h.unknown.Why + "; "
	}
	if h.none != nil {
		text += "not applicable: " + h.none.Why + "; "
	}
	if text == "" {
		return "nothing has fired"
	}
	return text[:len(text)-2]
}

// evidenceText is a value with its threshold and state.
func evidenceText(e model.Evidence) string {
	text := string(e.State)
	if e.Value != nil {
		text += " " + Format(*e.Value, e.Unit)
	}
	if e.Threshold != nil {
		text += " against " + Format(*e.Threshold, e.Unit)
	}
	return text
}
