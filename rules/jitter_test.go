package rules

import (
	"testing"
	"time"

	"github.com/prometheus/prometheus/model/labels"
	"github.com/prometheus/prometheus/promql"
)

// Beats come some milliseconds early or late; the beginning of a stall must be
// found all the same.
func TestEngineFindsSpansBetweenJitteringBeats(t *testing.T) {
	s := signature(t, "too-high", `
title: Too high
layer: cause
severity: critical
needs: [level]
when: max_over_time(level[10s]) > 10 and on() vector(time()) > 1767225618
extent: level > 10
lookback: 15s
for: 2s
what: The level is too high.
`)
	e := NewEngine(packOf(s), data(t, `level 0x9 20x20`), time.Second)
	for i := range 30 {
		jitter := time.Duration(i*37%90) * time.Millisecond
		fs, err := e.Step(t.Context(), second(i).Add(jitter))
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range fs {
			if got := since(f); got < 9 || got > 11 {
				t.Fatalf("beat %d: started %v after the first sample, want about 10 s", i, f.Started.Sub(testStart()))
			}
		}
	}
	if len(e.Open()) != 1 {
		t.Fatal("nothing has fired")
	}
}

// A beat that came late among punctual ones is asked for at its own step, not
// at the one of its neighbour: here the only beat that tells of the beginning
// is 60 ms late.
func TestEngineFindsLateBeatsInSpans(t *testing.T) {
	s := signature(t, "too-high", `
title: Too high
layer: cause
severity: critical
needs: [level]
when: sum_over_time(level[10s]) > 30 and level > 10
extent: level > 10
lookback: 15s
for: 1s
keep_firing_for: 5s
what: The level is too high.
`)
	level := &memSeries{labels: labels.FromStrings(metricName, "level")}
	src := &memSource{series: map[string][]*memSeries{"level": {level}}}
	e := NewEngine(packOf(s), src, time.Second)
	for i := range 20 {
		at, value := second(i), 0.0
		switch {
		case i == 8:
			at, value = at.Add(60*time.Millisecond), 20
		case i >= 12:
			value = 20
		}
		level.points = append(level.points, promql.FPoint{T: at.UnixMilli(), F: value})
		fs, err := e.Step(t.Context(), at)
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range fs {
			if since(f) != 8 {
				t.Fatalf("started after %d s, want 8", since(f))
			}
		}
	}
	if len(e.Open()) != 1 {
		t.Fatal("nothing has fired")
	}
}
