package rules

import (
	"testing"
	"time"

	"stallmark/storage/model"
)

// signature parses a file's text; a mistake fails the test.
func signature(tb testing.TB, id, text string) *Signature {
	tb.Helper()
	s, problems := parseSignature(id+".yaml", []byte("id: "+id+"\n"+text), nil)
	for _, p := range problems {
		tb.Fatalf("%s", p)
	}
	return s
}

// packOf is a pack of signatures already parsed.
func packOf(sigs ...*Signature) *Pack {
	l := &loader{pack: &Pack{byID: map[string]*Signature{}}}
	for _, s := range sigs {
		l.pack.byID[s.ID] = s
		l.pack.Signatures = append(l.pack.Signatures, s)
	}
	l.finish()
	return l.pack
}

// data makes a source of series in promtool's notation, a sample a second.
func data(tb testing.TB, series ...string) *memSource {
	tb.Helper()
	c := TestCase{Interval: time.Second, Series: series}
	src, _, err := c.source()
	if err != nil {
		tb.Fatal(err)
	}
	return src
}

// second is a time after the start of the data.
func second(n int) time.Time { return testStart().Add(time.Duration(n) * time.Second) }

// steps judges the beats from..to, and gives what came out of each.
func steps(tb testing.TB, e *Engine, from, to int) [][]model.Finding {
	tb.Helper()
	var out [][]model.Finding
	for i := from; i <= to; i++ {
		fs, err := e.Step(tb.Context(), second(i))
		if err != nil {
			tb.Fatalf("beat %d: %v", i, err)
		}
		out = append(out, fs)
	}
	return out
}

// latest is the last state of every finding that came out, in order of their
// first sight.
func latest(beats [][]model.Finding) []model.Finding {
	var out []model.Finding
	place := map[string]int{}
	for _, fs := range beats {
		for _, f := range fs {
			if i, ok := place[f.ID]; ok {
				out[i] = f
				continue
			}
			place[f.ID] = len(out)
			out = append(out, f)
		}
	}
	return out
}

// since and until are a finding's times in seconds after the start; -1 is open.
func since(f model.Finding) int { return int(f.Started.Sub(testStart()) / time.Second) }

func until(f model.Finding) int {
	if f.Ended == nil {
		return -1
	}
	return int(f.Ended.Sub(testStart()) / time.Second)
}

// level is a small signature over one gauge by device.
const level = `
title: Too high
layer: cause
severity: critical
needs: [level]
when: level > 10
for: 2s
keep_firing_for: 3s
what: The level is too high.
`
