package rules

import (
	"testing"
	"time"
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
