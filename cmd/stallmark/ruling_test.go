package main

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"stallmark/storage/model"
)

// ruling is a finding as a test wants it.
type ruling struct {
	sig      string
	sure     model.Confidence
	layer    model.Layer
	severity model.Severity
	from, to float64 // seconds since the first beat
	under    string  // the root of its incident, if it is not the root itself
}

// still is the end of what goes on when the recording ends.
var still = math.Inf(1)

func (v ruling) String() string {
	root := "root"
	if v.under != "" {
		root = "under " + v.under
	}
	return fmt.Sprintf("%s %s %s/%s %.1f to %.1f s, %s", v.sig, v.sure, v.layer, v.severity, v.from, v.to, root)
}

// judge says how close a report must come to the verdicts that are wanted.
type judge struct {
	tolerance float64  // seconds, at both ends
	anySure   bool     // another confidence is no difference
	bear      []string // signatures that may be there and may be missing
	pieces    bool     // one fault may be said in pieces that follow each other within ten seconds
}

func exactly(seconds float64) judge { return judge{tolerance: seconds} }

// compare reports each difference.
func (j judge) compare(t *testing.T, r model.Report, want []ruling) {
	t.Helper()
	got := rulingsOf(r)
	if j.pieces {
		got = joined(got)
	}
	for _, w := range want {
		i := slices.IndexFunc(got, func(g ruling) bool { return j.same(w, g) })
		if i >= 0 {
			got = slices.Delete(got, i, i+1)
		} else if !slices.Contains(j.bear, w.sig) {
			t.Errorf("not said: %s", w)
		}
	}
	for _, g := range got {
		if !slices.Contains(j.bear, g.sig) {
			t.Errorf("said: %s", g)
		}
	}
}

func (j judge) same(w, g ruling) bool {
	near := func(a, b float64) bool { return a == b || math.Abs(a-b) <= j.tolerance }
	return w.sig == g.sig && w.layer == g.layer && w.severity == g.severity &&
		(j.anySure || w.sure == g.sure) && w.under == g.under && near(w.from, g.from) && near(w.to, g.to)
}

// rulingsOf are the findings of a report in the words of the table.
func rulingsOf(r model.Report) []ruling {
	roots := map[string]string{}
	byID := map[string]string{}
	for _, f := range r.Findings {
		byID[f.ID] = f.Signature
	}
	for _, in := range r.Incidents {
		for _, id := range in.Findings {
			if id != in.Root {
				roots[id] = byID[in.Root]
			}
		}
	}
	var out []ruling
	for _, f := range r.Findings {
		v := ruling{sig: f.Signature, sure: f.Confidence, layer: f.Layer, severity: f.Severity, under: roots[f.ID]}
		v.from, v.to = f.Started.Sub(r.Window.From).Seconds(), still
		if f.Ended != nil {
			v.to = f.Ended.Sub(r.Window.From).Seconds()
		}
		out = append(out, v)
	}
	return out
}

// joined puts the pieces of one signature together.
func joined(list []ruling) []ruling {
	slices.SortFunc(list, func(a, b ruling) int { return cmp.Or(strings.Compare(a.sig, b.sig), cmp.Compare(a.from, b.from)) })
	var out []ruling
	for _, r := range list {
		last := len(out) - 1
		if last >= 0 && out[last].sig == r.sig && r.from-out[last].to <= 10 {
			out[last].to = max(out[last].to, r.to)
			continue
		}
		out = append(out, r)
	}
	return out
}
