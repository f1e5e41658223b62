package storage

import (
	"context"
	"fmt"
	"math"
	"reflect"
	"testing"
	"time"

	"stallmark/storage/model"
)

// base is when the tests' clocks begin: a full hour.
const base = int64(1_800_000_000_000)

// feed appends n beats, one a second, of a few series, and returns what a
// querier must give.
func feed(s *Store, from, n int64) map[string][]sample {
	series := []*model.Series{
		model.NewSeries("up_total", "device", "a"),
		model.NewSeries("level", "device", "b"),
		model.NewSeries("sometimes"),
	}
	want := map[string][]sample{}
	for i := from; i < from+n; i++ {
		vals := []float64{float64(i) / 100, math.Sin(float64(i)), math.Inf(1)}
		if i%3 == 0 {
			vals = vals[:2]
		}
		if i%50 == 7 {
			vals[1] = model.Stale()
		}
		at := base + i*1000 + i%3
		s.Append(beatOf(at, series, vals...))
		for k, v := range vals {
			name := []string{`{__name__="up_total", device="a"}`, `{__name__="level", device="b"}`, `{__name__="sometimes"}`}[k]
			want[name] = append(want[name], sample{at, math.Float64bits(v)})
		}
	}
	return want
}

func add(a, b map[string][]sample) map[string][]sample {
	for k, v := range b {
		a[k] = append(a[k], v...)
	}
	return a
}

func checkSamples(t *testing.T, got, want map[string][]sample) {
	t.Helper()
	if len(got) != len(want) {
		t.Errorf("%d series, want %d", len(got), len(want))
	}
	for k := range want {
		if !reflect.DeepEqual(got[k], want[k]) {
			t.Errorf("%s: %d samples, want %d: %s", k, len(got[k]), len(want[k]), firstDifference(got[k], want[k]))
		}
	}
}

func firstDifference(a, b []sample) string {
	for i := range max(len(a), len(b)) {
		if i >= len(a) || i >= len(b) || a[i] != b[i] {
			var x, y any = "none", "none"
			if i < len(a) {
				x = a[i]
			}
			if i < len(b) {
				y = b[i]
			}
			return fmt.Sprintf("sample %d is %v, want %v", i, x, y)
		}
	}
	return "the same"
}

func TestSamplesSurviveReopening(t *testing.T) {
	path := dbPath(t)
	s := openTest(t, path)
	want := feed(s.Store, 0, 330)
	checkSamples(t, selectAll(t, s.Store, 0, math.MaxInt64, "__name__", ".+"), want)
	s.shut(t)
	s = openTest(t, path)
	checkSamples(t, selectAll(t, s.Store, 0, math.MaxInt64, "__name__", ".+"), want)
	want = add(want, feed(s.Store, 340, 700))
	s.drained(t)
	checkSamples(t, selectAll(t, s.Store, 0, math.MaxInt64, "__name__", ".+"), want)
	s.shut(t)
	s = openTest(t, path)
	checkSamples(t, selectAll(t, s.Store, 0, math.MaxInt64, "__name__", ".+"), want)
	s.drained(t) // the child has told its state by then
	if st := s.Status(); st.Blocks < 8 || !st.ChildUp {
		t.Errorf("status %+v", st)
	}
}

func TestNotesSurviveReopening(t *testing.T) {
	path := dbPath(t)
	at := func(sec int64) time.Time { return time.UnixMilli(base + sec*1000).UTC() }
	clock := func(o *Options) { o.Now = func() time.Time { return at(600) } }
	s := openTest(t, path, clock)
	s.Event(model.Event{From: at(1), To: at(2), Kind: model.EventBlocked, Source: "threads", Text: "x", Attrs: map[string]string{"wait": "reclaim"}})
	s.Event(model.Event{From: at(5), To: at(5), Kind: model.EventSetting, Text: "y"})
	s.Fact(model.Fact{At: at(1), Key: "k", Value: "1"})
	s.Fact(model.Fact{At: at(9), Key: "k", Value: "2"})
	s.Fact(model.Fact{At: at(9), Key: "k2", Value: "z"})
	s.Coverage([]model.Coverage{{Source: "vmstat", State: model.SourceOK, Since: at(1)}})
	nan := math.NaN()
	s.PutFinding(model.Finding{ID: "f1", Signature: "sig", Started: at(2), State: model.StateFiring, Evidence: []model.Evidence{{Title: "e", Value: &nan}}})
	end := at(8)
	s.PutFinding(model.Finding{ID: "f0", Started: at(1), Ended: &end, State: model.StateResolved})
	check := func(s *testStore) {
		t.Helper()
		ctx := context.Background()
		events, err := s.EventsIn(ctx, at(0), at(4))
		if err != nil || len(events) != 1 || events[0].Attrs["wait"] != "reclaim" {
			t.Errorf("events %v, %v", events, err)
		}
		events, err = s.EventsIn(ctx, at(0), at(10), model.EventSetting)
		if err != nil || len(events) != 1 || events[0].Text != "y" {
			t.Errorf("events %v, %v", events, err)
		}
		for sec, want := range map[int64]string{0: "", 1: "1", 8: "1", 9: "2", 100: "2"} {
			facts, err := s.FactsAt(ctx, at(sec))
			if err != nil || facts["k"].Value != want {
				t.Errorf("at %d: facts %v, %v, want %q", sec, facts, err, want)
			}
		}
		cov, err := s.CoverageAt(ctx, at(3))
		if err != nil || len(cov) != 1 || cov[0].State != model.SourceOK {
			t.Errorf("coverage %v, %v", cov, err)
		}
		fs, err := s.FindingsIn(ctx, at(9), at(10))
		if err != nil || len(fs) != 1 || fs[0].ID != "f1" || fs[0].Evidence[0].Value != nil {
			t.Errorf("findings %v, %v", fs, err)
		}
		fs, err = s.FindingsIn(ctx, at(0), at(10))
		if err != nil || len(fs) != 2 || fs[0].ID != "f0" {
			t.Errorf("findings %v, %v", fs, err)
		}
		f, ok, err := s.Finding(ctx, "f0")
		if err != nil || !ok || f.Ended == nil {
			t.Errorf("finding %v, %v, %v", f, ok, err)
		}
		if _, ok, err := s.Finding(ctx, "none"); ok || err != nil {
			t.Errorf("a finding that is not there: %v, %v", ok, err)
		}
	}
	check(s)
	s.shut(t)
	s = openTest(t, path, clock) // from the journal
	check(s)
	feed(s.Store, 0, 130)
	s.drained(t)
	s.shut(t)
	s = openTest(t, path, clock) // from the file
	check(s)
}
