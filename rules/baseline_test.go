package rules

import (
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/prometheus/model/labels"
	"github.com/prometheus/prometheus/promql"

	"stallmark/storage/model"
)

// slow is a signature that compares with a baseline.
const slow = `
title: Slow
layer: cause
severity: critical
needs: [wait]
baselines: [{name: usual-wait, expr: wait, unit: ms}]
when: wait > 100
evidence:
  - {title: W, expr: wait, unit: ms, threshold: '3 * stallmark_baseline{baseline="usual-wait",quantile="0.99"}', role: confirms}
what: It is slow.
`

// day makes a source with a gauge of one device every ten seconds.
func day(hours int, level func(second int) float64) *memSource {
	src := &memSource{facts: map[string]model.Fact{}}
	s := &memSeries{labels: labels.FromStrings(metricName, "wait", "device", "sda")}
	for sec := 0; sec <= hours*3600; sec += 10 {
		s.points = append(s.points, promql.FPoint{T: second(sec).UnixMilli(), F: level(sec)})
	}
	src.add(s)
	return src
}

// learning judges hours of a source with baselines attached.
func learning(t *testing.T, k *Baselines, src *memSource, from, to int) {
	t.Helper()
	e := NewEngine(packOf(signature(t, "slow", slow)), src, 10*time.Second)
	e.Learn(k)
	for sec := from; sec <= to; sec += 10 {
		if _, err := e.Step(t.Context(), second(sec)); err != nil {
			t.Fatal(err)
		}
	}
}

// usual is one series of the baselines, NaN if there is none.
func usual(k *Baselines, now time.Time, metric, quantile string) float64 {
	for _, v := range k.Series(now) {
		if v.Labels.Get(metricName) == metric && v.Labels.Get("quantile") == quantile && v.Labels.Get("device") == "sda" {
			return v.Value
		}
	}
	return math.NaN()
}

func near(got, want float64) bool { return math.Abs(got-want) <= 0.1*want }

func TestBaselineIsLearnedFromQuietHours(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	src := day(6, func(int) float64 { return 4 + 2*random.Float64() })
	k := NewBaselines()
	learning(t, k, src, 0, 2*3600+600)
	now := second(2*3600 + 600)
	if v := usual(k, now, "stallmark_baseline", "0.5"); !math.IsNaN(v) {
		t.Errorf("after two hours there is one already: %v", v)
	}
	if detail, mend := k.Gap(); !strings.Contains(detail, "2 of 3") || mend == "" {
		t.Errorf("gap %q, %q", detail, mend)
	}
	learning(t, k, src, 2*3600+610, 5*3600+600)
	now = second(5*3600 + 600)
	if v := usual(k, now, "stallmark_baseline", "0.5"); !near(v, 5) {
		t.Errorf("median %v, want 5", v)
	}
	if v := usual(k, now, "stallmark_baseline", "0.99"); !near(v, 6) {
		t.Errorf("0.99 quantile %v, want 6", v)
	}
	if v := usual(k, now, "stallmark_baseline_age_seconds", ""); v != 600 {
		t.Errorf("age %v, want 600", v)
	}
	// The engine of the second call began within the third hour.
	if v := usual(k, now, "stallmark_baseline_hours", ""); v != 5 {
		t.Errorf("%v hours, want 5", v)
	}
	if detail, _ := k.Gap(); detail != "" {
		t.Errorf("gap %q", detail)
	}
}

// Once there is a baseline, hours with a finding do not feed it, neither the
// hour in which it began nor the one in which it went on.
func TestHoursWithFindingsDoNotFeedIt(t *testing.T) {
	k := NewBaselines()
	src := day(8, func(sec int) float64 {
		if sec > 4*3600-60 && sec < 4*3600+120 {
			return 500
		}
		return 5
	})
	learning(t, k, src, 0, 3*3600+600)
	// What was learned is measured from now on.
	for _, v := range k.Series(second(3*3600 + 600)) {
		s := &memSeries{labels: v.Labels}
		for sec := 3*3600 + 600; sec <= 8*3600; sec += 10 {
			s.points = append(s.points, promql.FPoint{T: second(sec).UnixMilli(), F: v.Value})
		}
		src.add(s)
	}
	learning(t, k, src, 3*3600+610, 7*3600)
	// Hours 0, 1, 2 and, after the finding, 5; 6 has not settled.
	if v := usual(k, second(7*3600), "stallmark_baseline_hours", ""); v != 4 {
		t.Errorf("%v hours, want 4", v)
	}
	if v := usual(k, second(7*3600), "stallmark_baseline", "0.99"); !near(v, 5) {
		t.Errorf("0.99 quantile %v, want 5", v)
	}
}

func TestWithoutABaselineItIsPossible(t *testing.T) {
	for name, c := range map[string]struct {
		series     []string
		confidence model.Confidence
		caveat     string
	}{
		"none":        {nil, model.Possible, "no baseline yet"},
		"some hours":  {[]string{`stallmark_baseline_hours{baseline="usual-wait",device="sda"} 2x20`}, model.Possible, "no baseline yet (2 of 3 finding-free hours)"},
		"of another":  {[]string{`stallmark_baseline{baseline="usual-wait",quantile="0.99",device="sdb"} 5x20`}, model.Possible, "no baseline yet"},
		"another one": {[]string{`stallmark_baseline{baseline="else",quantile="0.99",device="sda"} 5x20`}, model.Possible, "no baseline yet"},
		"far above":   {[]string{`stallmark_baseline{baseline="usual-wait",quantile="0.99",device="sda"} 5x20`}, model.Likely, ""},
		"nothing new": {[]string{`stallmark_baseline{baseline="usual-wait",quantile="0.99",device="sda"} 180x20`}, model.Possible, ""},
	} {
		t.Run(name, func(t *testing.T) {
			src := data(t, append(c.series, `wait{device="sda"} 200x20`)...)
			e := NewEngine(packOf(signature(t, "slow", slow)), src, time.Second)
			fs := latest(steps(t, e, 0, 20))
			if len(fs) != 1 || fs[0].Confidence != c.confidence || fs[0].Caveat != c.caveat {
				t.Fatalf("%+v", fs)
			}
		})
	}
}

// A host that is always like that must get a baseline too.
func TestPossibleForWantOfItDoesNotStopTheLearning(t *testing.T) {
	k := NewBaselines()
	learning(t, k, day(4, func(int) float64 { return 200 }), 0, 3*3600+600)
	if v := usual(k, second(3*3600+600), "stallmark_baseline", "0.5"); !near(v, 200) {
		t.Errorf("median %v, want 200", v)
	}
}

func TestARestartKeepsBaselines(t *testing.T) {
	k := NewBaselines()
	learning(t, k, day(4, func(int) float64 { return 7 }), 0, 3*3600+600)
	saved, err := k.Save()
	if err != nil {
		t.Fatal(err)
	}
	again := NewBaselines()
	if err := again.Load(saved); err != nil {
		t.Fatal(err)
	}
	now := second(9 * 3600)
	if a, b := fmt.Sprint(k.Series(now)), fmt.Sprint(again.Series(now)); a != b || !strings.Contains(a, "quantile") {
		t.Errorf("before\n%s\nafter\n%s", a, b)
	}
}

func TestLoadBearsDamage(t *testing.T) {
	for _, text := range []string{"", "{", `{"format":2}`, `[]`} {
		k := NewBaselines()
		if err := k.Load([]byte(text)); err == nil || k.Version() != 0 {
			t.Errorf("%q is taken", text)
		}
	}
	k := NewBaselines()
	err := k.Load([]byte(`{"format":1,"baselines":[
		{"name":"Bad Name","hours":5,"buckets":{"1":1}},
		{"name":"empty","hours":5,"buckets":{}},
		{"name":"no-hours","hours":0,"buckets":{"1":1}},
		{"name":"bad-labels","hours":5,"labels":{"__name__":"x"},"buckets":{"1":1}},
		{"name":"far","hours":5,"buckets":{"99999":1}},
		{"name":"negative","hours":5,"buckets":{"1":-1}},
		{"name":"good","hours":5,"labels":{"device":"sda"},"buckets":{"8":2,"x":1}}]}`))
	if err != nil || len(k.Series(second(0))) != 5 {
		t.Errorf("%v, %v", err, k.Series(second(0)))
	}
}

func FuzzLoadBaselines(f *testing.F) {
	f.Add([]byte(`{"format":1,"baselines":[{"name":"a","hours":3,"labels":{"d":"x"},"buckets":{"-121":1,"3":0.5}}]}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		k := NewBaselines()
		if k.Load(data) != nil {
			return
		}
		for _, v := range k.Series(second(0)) {
			if v.Value < 0 || math.IsNaN(v.Value) {
				t.Fatalf("%v", v)
			}
		}
		if _, err := k.Save(); err != nil {
			t.Fatal(err)
		}
	})
}

// Half an hour is the least that counts; a hole in the hours drops the hour
// before it, and a clock that goes back drops what it was gathering.
func TestPartsOfHours(t *testing.T) {
	flat := day(8, func(int) float64 { return 5 })
	hours := func(spans ...[2]int) float64 {
		k := NewBaselines()
		for _, s := range spans {
			learning(t, k, flat, s[0], s[1])
		}
		return usual(k, second(8*3600), "stallmark_baseline_hours", "")
	}
	if v := hours([2]int{1900, 3600 + 600}); !math.IsNaN(v) {
		t.Errorf("28 minutes count: %v hours", v)
	}
	if v := hours([2]int{1700, 3600 + 600}); v != 1 {
		t.Errorf("31 minutes: %v hours, want 1", v)
	}
	if v := hours([2]int{0, 3500}, [2]int{3*3600 + 10, 4*3600 + 600}); v != 1 {
		t.Errorf("around a hole: %v hours, want the one after it", v)
	}
	if v := hours([2]int{4 * 3600, 5*3600 + 100}, [2]int{3600, 2*3600 + 600}); v != 1 {
		t.Errorf("around a step back: %v hours, want 1", v)
	}
}

func TestHistogram(t *testing.T) {
	for _, v := range []float64{1e-6, 0.004, 1, 17, 4096, 3e11} {
		if got := valueOf(bucketOf(v)); math.Abs(got-v) > 0.095*v {
			t.Errorf("%v comes back as %v", v, got)
		}
	}
	for _, v := range []float64{0, -5} {
		if got := valueOf(bucketOf(v)); got != 0 {
			t.Errorf("%v comes back as %v", v, got)
		}
	}
	h := histogram{}
	fade := math.Exp2(-1.0 / halfLifeHours)
	for range 10 * halfLifeHours {
		h.learn(histogram{bucketOf(100): 360}, fade)
	}
	for range halfLifeHours {
		h.learn(histogram{bucketOf(10): 360}, fade)
	}
	if share := h[bucketOf(10)] / h.total(); share < 0.49 || share > 0.51 {
		t.Errorf("after a half-life the new value has %v of the weight, want half", share)
	}
}
