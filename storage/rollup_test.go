package storage

import (
	"context"
	"log/slog"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/prometheus/model/labels"
	"github.com/prometheus/prometheus/promql"
	promstorage "github.com/prometheus/prometheus/storage"
	"github.com/prometheus/prometheus/tsdb/chunkenc"
	"go.etcd.io/bbolt"

	"stallmark/storage/model"
)

// hours feeds n beats of a counter, a gauge and a constant, one a second, and
// closes and opens the store, so that all is in the file.
func hours(t *testing.T, n int64, change ...func(*Options)) *testStore {
	t.Helper()
	series := []*model.Series{model.NewSeries("c_total"), model.NewSeries("g"), model.NewSeries("k")}
	path := dbPath(t)
	s := openTest(t, path, change...)
	for i := range n {
		s.Append(beatOf(base+i*1000, series, float64(3*i), gauge(i), 7))
		if i%600 == 0 {
			s.drained(t)
		}
	}
	s.drained(t)
	s.shut(t)
	return openTest(t, path, change...)
}

// gauge is a value that goes up and down.
func gauge(i int64) float64 { return math.Round(100 + 50*math.Sin(float64(i)/40)) }

// hinted selects with hints.
func hinted(t *testing.T, s *Store, name string, h promstorage.SelectHints) []sample {
	t.Helper()
	q, err := s.Querier(h.Start, h.End)
	if err != nil {
		t.Fatal(err)
	}
	set := q.Select(context.Background(), false, &h, labels.MustNewMatcher(labels.MatchEqual, "__name__", name))
	var out []sample
	for set.Next() {
		it := set.At().Iterator(nil)
		for it.Next() != chunkenc.ValNone {
			at, v := it.At()
			out = append(out, sample{at, math.Float64bits(v)})
		}
	}
	if set.Err() != nil || len(set.Warnings()) > 0 {
		t.Fatal(set.Err(), set.Warnings())
	}
	return out
}

// TestFirstHourKeepsItsSamples asks for a time before a store's beginning on, after the hour of that: what is there are the samples.
func TestFirstHourKeepsItsSamples(t *testing.T) {
	s := openTest(t, dbPath(t))
	series := []*model.Series{model.NewSeries("g")}
	const first, last = 58*60 + 21, 62*60 + 40 // seconds of an hour
	for i := int64(first); i < last; i++ {
		s.Append(beatOf(base+i*1000, series, gauge(i)))
	}
	s.drained(t)
	for _, function := range []string{"", "rate", "max_over_time"} {
		got := hinted(t, s.Store, "g", promstorage.SelectHints{Start: base + (first-60)*1000, End: base + (first+90)*1000, Step: 1000, Func: function})
		if len(got) != 91 {
			t.Fatalf("%q: %d samples, want 91", function, len(got))
		}
		for i, p := range got {
			if n := first + int64(i); p.t != base+n*1000 || math.Float64frombits(p.v) != gauge(n) {
				t.Fatalf("%q: sample %d is %v at %d", function, i, math.Float64frombits(p.v), p.t-base)
			}
		}
	}
}

// TestRollupsServeWideRanges asks for ranges of minutes: the answers are the
// points of the minutes, with the aggregate that the function wants.
func TestRollupsServeWideRanges(t *testing.T) {
	s := hours(t, 2*3600+100)
	h := promstorage.SelectHints{Start: base, End: base + 3600_000 - 1, Step: 600_000, Range: 600_000}
	want := map[string]func(m int64) float64{
		"min_over_time": func(m int64) float64 { return extreme(m, math.Min) },
		"max_over_time": func(m int64) float64 { return extreme(m, math.Max) },
		"avg_over_time": average60,
		"rate":          func(m int64) float64 { return gauge(m*60 + 59) },
		"":              func(m int64) float64 { return gauge(m*60 + 59) },
	}
	for function, value := range want {
		h.Func = function
		got := hinted(t, s.Store, "g", h)
		if len(got) != 60 {
			t.Errorf("%s: %d points, want 60", function, len(got))
			continue
		}
		for m, p := range got {
			if v := math.Float64frombits(p.v); p.t != base+int64(m)*60_000+59_000 || math.Abs(v-value(int64(m))) > 1e-9 {
				t.Errorf("%s: minute %d is %v at %d, want %v", function, m, v, p.t, value(int64(m)))
			}
		}
	}
	h.Func = "max_over_time"
	if got := hinted(t, s.Store, "c_total", h); len(got) != 60 || got[3].v != math.Float64bits(3*239) {
		t.Errorf("a counter's maximum: %v", got)
	}
	h.Range = 60_000 // too narrow for points of a minute
	if got := hinted(t, s.Store, "g", h); len(got) != 3600 {
		t.Errorf("%d samples for a narrow range, want 3600", len(got))
	}
	h.Step = 60_000 // a chart of a point a minute: one for each second that its minute stands for
	h.Func = "max_over_time"
	for i, p := range hinted(t, s.Store, "g", h) {
		if v := math.Float64frombits(p.v); v != extreme((p.t-base)/60_000, math.Max) {
			t.Fatalf("sample %d of a chart of minutes is %v at %d, want its minute's maximum", i, v, p.t-base)
		}
	}
}

func extreme(m int64, f func(a, b float64) float64) float64 {
	v := gauge(m * 60)
	for i := m * 60; i < m*60+60; i++ {
		v = f(v, gauge(i))
	}
	return v
}

func average60(m int64) float64 {
	sum := 0.0
	for i := m * 60; i < m*60+60; i++ {
		sum += gauge(i)
	}
	return sum / 60
}

func newEngine() *promql.Engine {
	return promql.NewEngine(promql.EngineOpts{MaxSamples: 50e6, Timeout: time.Minute, LookbackDelta: 3 * time.Second})
}

// queryRange evaluates over a range and returns the points of the one series.
func queryRange(t *testing.T, s *Store, expr string, from, to int64, step time.Duration) []promql.FPoint {
	t.Helper()
	q, err := newEngine().NewRangeQuery(context.Background(), s, nil, expr, time.UnixMilli(from), time.UnixMilli(to), step)
	if err != nil {
		t.Fatal(err)
	}
	defer q.Close()
	res := q.Exec(context.Background())
	m, err := res.Matrix()
	if err != nil || len(m) != 1 {
		t.Fatalf("%s: %d series, %v", expr, len(m), err)
	}
	return m[0].Floats
}

// expire deletes all blocks of samples, as age does.
func expire(t *testing.T, s *testStore) *testStore {
	t.Helper()
	s.shut(t)
	edit(t, s.path, func(tx *bbolt.Tx) error {
		if err := tx.DeleteBucket(bucketRaw); err != nil {
			return err
		}
		_, err := tx.CreateBucket(bucketRaw)
		return err
	})
	return openTest(t, s.path)
}

// TestExpiredSamplesComeFromRollups evaluates expressions of every kind where
// only rollups are left.
func TestExpiredSamplesComeFromRollups(t *testing.T) {
	s := expire(t, hours(t, 2*3600+100))
	from, to := base+600_000, base+3000_000
	for _, p := range queryRange(t, s.Store, "c_total", from, to, 7*time.Second) {
		if want := 3 * float64(p.T-base) / 1000; math.Abs(p.F-want) > 180 {
			t.Errorf("c_total at %d is %v, want about %v", p.T, p.F, want)
		}
	}
	for _, expr := range []string{"rate(c_total[3s])", "rate(c_total[30s])", "rate(c_total[10m])"} {
		points := queryRange(t, s.Store, expr, from, to, 7*time.Second)
		if n := (to-from)/7000 + 1; int64(len(points)) < n-1 {
			t.Errorf("%s: %d points of %d", expr, len(points), n)
		}
		for _, p := range points {
			if math.Abs(p.F-3) > 0.1 {
				t.Errorf("%s at %d is %v, want about 3", expr, p.T, p.F)
			}
		}
	}
	for _, p := range queryRange(t, s.Store, "max_over_time(g[10s])", from, to, time.Minute) {
		if m := (p.T - base) / 60_000; p.F != extreme(m, math.Max) && p.F != extreme(m-1, math.Max) {
			t.Errorf("maximum at %d is %v", p.T, p.F)
		}
	}
	for _, p := range queryRange(t, s.Store, "k", from, to, 13*time.Second) {
		if p.F != 7 {
			t.Errorf("k at %d is %v", p.T, p.F)
		}
	}
}

// TestSeriesEndInRollups checks that a series that ended is not held beyond the
// minute of its end.
func TestSeriesEndInRollups(t *testing.T) {
	path := dbPath(t)
	s := openTest(t, path)
	series := []*model.Series{model.NewSeries("here"), model.NewSeries("gone")}
	for i := range int64(3700) {
		vals := []float64{1, 1}
		if i == 130 {
			vals[1] = model.Stale()
		}
		if i > 130 {
			vals = vals[:1]
		}
		s.Append(beatOf(base+i*1000, series, vals...))
	}
	s.drained(t)
	s = expire(t, s)
	points := queryRange(t, s.Store, "gone", base+10_000, base+600_000, 10*time.Second)
	if last := points[len(points)-1]; last.T > base+130_000 || last.F != 1 {
		t.Errorf("gone is %v at %d", last.F, last.T)
	}
}

// TestRetention lets blocks age: samples go gently and are not shown before
// that, rollups stay for longer, findings for good, and names of days without
// blocks go.
func TestRetention(t *testing.T) {
	short := func(o *Options) { o.Retention, o.RollupRetention = time.Hour, 24*time.Hour }
	path := dbPath(t)
	s := openTest(t, path, short)
	series := []*model.Series{model.NewSeries("g")}
	day := func(d int64) time.Time { return time.UnixMilli(base + d*dayMillis).UTC() }
	s.PutFinding(model.Finding{ID: "old", Started: day(0), Ended: new(day(0))})
	s.Event(model.Event{From: day(0), To: day(0), Text: "old"})
	s.Fact(model.Fact{At: day(0), Key: "k", Value: "replaced"})
	s.Fact(model.Fact{At: day(0).Add(time.Second), Key: "k", Value: "lasting"})
	for i := range int64(4 * 180) { // a beat every 20 s: 4 hours
		s.Append(beatOf(base+i*20_000, series, float64(i%100)))
	}
	s.drained(t)
	st := s.Status()
	if st.Rollups < 3 || st.Blocks > 20 {
		t.Errorf("after 4 h there are %d blocks and %d rollups", st.Blocks, st.Rollups)
	}
	s.shut(t)
	s = openTest(t, path, short)
	raw := promstorage.SelectHints{Start: base, End: base + 4*hourMillis}
	got := hinted(t, s.Store, "g", raw)
	if len(got) == 0 || got[0].t > base+60_000 {
		t.Errorf("rollups do not reach back: %d samples", len(got))
	}
	for i := range int64(30 * 12) { // a beat every 5 min: 30 hours, two days later
		s.Append(beatOf(base+2*dayMillis+i*300_000, series, 1))
	}
	s.drained(t)
	s.shut(t)
	edit(t, path, func(tx *bbolt.Tx) error {
		if first, _, _ := ends(tx.Bucket(bucketRollup)); first < base+2*dayMillis {
			t.Errorf("the oldest rollup is of %v", time.UnixMilli(first).UTC())
		}
		if k, _ := tx.Bucket(bucketSeries).Cursor().First(); keyTime(k) < dayStart(base+2*dayMillis) {
			t.Errorf("names of %v are left", time.UnixMilli(keyTime(k)).UTC())
		}
		if k, _ := tx.Bucket(bucketEvents).Cursor().First(); k != nil {
			t.Errorf("an event of %v is left", time.UnixMilli(keyTime(k)).UTC())
		}
		if n, _, _ := extentOf(tx.Bucket(bucketFacts)); n != 1 {
			t.Errorf("%d values of a fact are left, want 1", n)
		}
		return nil
	})
	s = openTest(t, path, short)
	if _, ok, err := s.Finding(context.Background(), "old"); !ok || err != nil {
		t.Errorf("the finding has gone: %v", err)
	}
}

// TestBytesAreBounded keeps the file below its bound, the newest samples in it.
func TestBytesAreBounded(t *testing.T) {
	const limit = 200 << 10
	s := openTest(t, dbPath(t), func(o *Options) { o.MaxBytes = limit })
	l := loop(t, "c_direct_reclaim")
	for i := range 2700 {
		s.Append(l.Next())
		if i%60 == 0 {
			s.drained(t)
		}
	}
	s.drained(t)
	st := s.Status()
	if st.UsedBytes > limit*5/4 {
		t.Errorf("status %+v", st)
	}
	if got := hinted(t, s.Store, "node_load1", promstorage.SelectHints{Start: base + 2100_000, End: base + 2700_000}); len(got) != 600 {
		t.Errorf("%d of the newest 600 samples are there", len(got))
	}
}

// TestFreeSpaceFloor stops the file from growing when the disk is nearly full,
// and goes on once it is not.
func TestFreeSpaceFloor(t *testing.T) {
	s := openTest(t, dbPath(t))
	want := feed(s.Store, 0, 200)
	s.drained(t)
	blocks := s.Status().Blocks
	s.room.Store(false)
	want = add(want, feed(s.Store, 200, 100))
	eventually(t, "the status to say that it is full", func() bool { return s.Status().Full })
	want = add(want, feed(s.Store, 300, 200))
	ctx, cancel := context.WithTimeout(context.Background(), 100*time.Millisecond)
	defer cancel()
	if err := s.client.drain(ctx); err == nil {
		t.Error("all is said to be on a full disk")
	}
	if st := s.Status(); st.Blocks != blocks || !strings.Contains(st.WriteError, "free space") || st.Unconfirmed == 0 {
		t.Errorf("status %+v", st)
	}
	checkSamples(t, selectAll(t, s.Store, 0, math.MaxInt64, "__name__", ".+"), want)
	s.room.Store(true)
	s.client.killChild() // or wait until it is tried again
	eventually(t, "all to be stored", func() bool {
		ctx, cancel := context.WithTimeout(context.Background(), time.Second)
		defer cancel()
		return s.client.drain(ctx) == nil
	})
	want = add(want, feed(s.Store, 500, 100))
	s.drained(t)
	checkSamples(t, selectAll(t, s.Store, 0, math.MaxInt64, "__name__", ".+"), want)
	if st := s.Status(); st.Full || st.Blocks <= blocks {
		t.Errorf("status %+v", st)
	}
}

func TestLabels(t *testing.T) {
	s := hours(t, 400)
	s.Append(beatOf(base+401_000, []*model.Series{model.NewSeries("new", "device", "vda")}, 1))
	q, err := s.Querier(base, base+500_000)
	if err != nil {
		t.Fatal(err)
	}
	names, _, err := q.LabelNames(context.Background(), nil)
	if err != nil || strings.Join(names, " ") != "__name__ device" {
		t.Errorf("names %v, %v", names, err)
	}
	values, _, err := q.LabelValues(context.Background(), "__name__", nil)
	if err != nil || strings.Join(values, " ") != "c_total g k new" {
		t.Errorf("values %v, %v", values, err)
	}
	m := labels.MustNewMatcher(labels.MatchEqual, "__name__", "g")
	values, _, err = q.LabelValues(context.Background(), "__name__", &promstorage.LabelHints{Limit: 1}, m)
	if err != nil || strings.Join(values, " ") != "g" {
		t.Errorf("values %v, %v", values, err)
	}
}

// TestLabelsOfTheFile: which names the file has is not told by the clock, which
// may have gone back.
func TestLabelsOfTheFile(t *testing.T) {
	s := hours(t, 400)
	s.shut(t)
	d, err := openDisk(childConfig{
		path: s.path, now: func() time.Time { return time.UnixMilli(base).AddDate(0, -1, 0) },
		log: slog.New(slog.DiscardHandler), space: func(string) (int64, int64) { return 1 << 40, 1 },
	}, hello{Interval: time.Second, Retention: time.Hour, RollupRetention: time.Hour, MaxBytes: 1 << 40})
	if err != nil {
		t.Fatal(err)
	}
	defer d.close()
	keys, err := d.labelSets(base, base+500_000, nil)
	if err != nil || len(keys) != 3 {
		t.Errorf("keys %q, %v", keys, err)
	}
}
