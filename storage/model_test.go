package storage

import (
	"context"
	"math"
	"math/rand/v2"
	"slices"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/prometheus/prometheus/model/labels"

	"stallmark/storage/model"
)

// naive is a store as simple as can be, to compare with.
type naive struct {
	labels  map[string]labels.Labels
	samples map[string][]sample
}

func newNaive() *naive { return &naive{map[string]labels.Labels{}, map[string][]sample{}} }

func (n *naive) append(b model.Batch) {
	for _, s := range b.Samples {
		l, err := keyLabels(string(appendKey(nil, s.Series)))
		if err != nil {
			panic(err)
		}
		n.labels[l.String()] = l
		n.samples[l.String()] = append(n.samples[l.String()], sample{b.At, math.Float64bits(s.Value)})
	}
}

// stepBack forgets what is at or after t.
func (n *naive) stepBack(t int64) {
	for k, s := range n.samples {
		n.samples[k] = slices.DeleteFunc(s, func(s sample) bool { return s.t >= t })
	}
}

func (n *naive) selectAll(mint, maxt int64, ms []*labels.Matcher) map[string][]sample {
	out := map[string][]sample{}
	for k, l := range n.labels {
		if !matches(l, ms) {
			continue
		}
		for _, s := range n.samples[k] {
			if s.t >= mint && s.t <= maxt {
				out[k] = append(out[k], s)
			}
		}
	}
	return out
}

// world is a store and its model under random operations.
type world struct {
	t       *testing.T
	r       *rand.Rand
	s       *testStore
	n       *naive
	at      int64
	first   int64
	was     int64 // its time before that
	stepped bool  // the next beat comes after the clock went back
	series  []*model.Series
	vals    []float64
}

func newWorld(t *testing.T, seed uint64) *world {
	w := &world{t: t, r: rand.New(rand.NewPCG(seed, 9)), n: newNaive(), at: base, first: base}
	for i := range 30 {
		w.series = append(w.series, model.NewSeries("m"+strconv.Itoa(i%7), "i", strconv.Itoa(i), "parity", strconv.Itoa(i%2)))
		w.vals = append(w.vals, float64(i))
	}
	w.s = openTest(t, dbPath(t))
	return w
}

// beats appends some beats at uneven distances.
func (w *world) beats(n int) {
	for range n {
		if w.at += 1 + int64(w.r.IntN(2500)); w.stepped {
			w.at = min(w.at, w.was-stepBack)
			w.n.stepBack(w.at)
			w.stepped = false
		}
		b := model.Batch{At: w.at}
		for i, s := range w.series {
			switch w.r.IntN(10) {
			case 0:
				continue
			case 1:
				w.vals[i] = math.Float64frombits(w.r.Uint64())
			case 2, 3, 4:
				w.vals[i] = math.Trunc(w.vals[i]) + float64(w.r.IntN(50))
			}
			b.Samples = append(b.Samples, model.Sample{Series: s, Value: w.vals[i]})
		}
		w.r.Shuffle(len(b.Samples), func(i, j int) { b.Samples[i], b.Samples[j] = b.Samples[j], b.Samples[i] })
		w.s.Append(b)
		w.n.append(b)
	}
}

// replaceSeries makes the sources pass new pointers, some for new series.
func (w *world) replaceSeries() {
	for i, s := range w.series {
		switch w.r.IntN(4) {
		case 0:
			again := *s
			w.series[i] = &again
		case 1:
			w.series[i] = model.NewSeries(s.Name, "i", strconv.Itoa(w.r.IntN(1000)), "parity", s.Get("parity"), "n", strconv.Itoa(i))
		}
	}
}

// stepBack sets the clock back.
func (w *world) stepBack() {
	if w.at-stepBack-1 <= w.first {
		return
	}
	w.was = w.at
	back := int64(stepBack) + w.r.Int64N(min(w.at-w.first-stepBack, 1_500_000))
	w.at -= back
	w.stepped = true
}

// check compares the answer to a random question.
func (w *world) check() {
	w.t.Helper()
	span := w.at - w.first + 1
	mint := w.first - 1000 + w.r.Int64N(span)
	maxt := mint + w.r.Int64N(span)
	ms := []*labels.Matcher{labels.MustNewMatcher(labels.MatchEqual, "__name__", "m"+strconv.Itoa(w.r.IntN(8)))}
	switch w.r.IntN(4) {
	case 0:
		ms = []*labels.Matcher{labels.MustNewMatcher(labels.MatchRegexp, "__name__", ".+")}
	case 1:
		ms = append(ms, labels.MustNewMatcher(labels.MatchNotEqual, "parity", "0"))
	case 2:
		ms = []*labels.Matcher{labels.MustNewMatcher(labels.MatchRegexp, "i", "1.*|2")}
	}
	got := selectMatching(w.t, w.s.Store, mint, maxt, ms)
	checkSamples(w.t, got, w.n.selectAll(mint, maxt, ms))
}

// TestAgainstNaiveStore does random things to a store and to a naive one.
func TestAgainstNaiveStore(t *testing.T) {
	for seed := range uint64(4) {
		t.Run(strconv.FormatUint(seed, 10), func(t *testing.T) {
			w := newWorld(t, seed)
			for step := range 30 {
				switch w.r.IntN(9) {
				case 0, 1, 2, 3:
					w.beats(1 + w.r.IntN(200))
				case 4:
					w.replaceSeries()
				case 5:
					w.s.drained(t)
					w.s.trim()
				case 6:
					w.s.shut(t)
					w.s = openTest(t, w.path())
				case 7:
					w.killChild()
					w.beats(1 + w.r.IntN(100))
				case 8:
					if seed%2 == 1 {
						w.stepBack()
						w.beats(1)
					}
				}
				w.settle()
				if w.check(); t.Failed() {
					t.Fatalf("step %d", step)
				}
			}
		})
	}
}

func (w *world) killChild() {
	c := w.s.client
	c.mu.Lock()
	defer c.mu.Unlock()
	c.proc.kill()
}

func (w *world) path() string { return w.s.path }

// settle waits until a child is there: without one history is missing.
func (w *world) settle() {
	w.t.Helper()
	eventually(w.t, "a child that has everything", func() bool {
		ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
		defer cancel()
		return w.s.client.drain(ctx) == nil
	})
}

// TestConcurrentUse appends, asks and closes at the same time, for the race
// detector.
func TestConcurrentUse(t *testing.T) {
	s := openTest(t, dbPath(t))
	ctx, cancel := context.WithCancel(context.Background())
	var wg sync.WaitGroup
	for i := range 4 {
		wg.Go(func() {
			for ctx.Err() == nil {
				at := time.UnixMilli(base + int64(i)*60_000).UTC()
				selectAll(t, s.Store, base, base+1<<30, "__name__", "level|up_total")
				if _, err := s.FactsAt(context.Background(), at); err != nil {
					t.Error(err)
				}
				if _, err := s.EventsIn(context.Background(), at, at.Add(time.Minute)); err != nil {
					t.Error(err)
				}
				s.Status()
				s.Extent(context.Background())
			}
		})
	}
	for i := range int64(40) {
		feed(s.Store, i*30, 30)
		at := time.UnixMilli(base + i*30_000).UTC()
		s.Event(model.Event{From: at, To: at, Text: "x"})
		s.Fact(model.Fact{At: at, Key: "k", Value: strconv.FormatInt(i, 10)})
		s.PutFinding(model.Finding{ID: strconv.FormatInt(i%5, 10), Started: at})
	}
	cancel()
	wg.Wait()
	s.drained(t)
}
