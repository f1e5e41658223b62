package main

import (
	"context"
	"fmt"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/prometheus/model/labels"
	"github.com/prometheus/prometheus/tsdb/chunkenc"

	"stallmark/rules"
	"stallmark/storage"
	"stallmark/storage/model"
)

// epoch is a whole second.
var epoch = time.Unix(1_700_000_000, 0).UTC()

// storeOf makes a store of one series with samples at the given milliseconds;
// a negative one is an end marker at that time.
func storeOf(t *testing.T, at ...int) *storage.Store {
	t.Helper()
	s := storage.NewMemory(storage.Options{Interval: time.Second, Now: func() time.Time { return epoch }})
	series := model.NewSeries("x")
	for _, ms := range at {
		v := float64(ms)
		if ms < 0 {
			ms, v = -ms, model.Stale()
		}
		s.Append(model.Batch{At: epoch.UnixMilli() + int64(ms), Samples: []model.Sample{{Series: series, Value: v}}})
	}
	return s
}

// walk lists the times of x as the iterator gives them, end markers negative.
func walk(t *testing.T, v slowView, mint, maxt int, seeks ...int) string {
	t.Helper()
	base := epoch.UnixMilli()
	q, err := v.Querier(base+int64(mint), base+int64(maxt))
	if err != nil {
		t.Fatal(err)
	}
	defer q.Close()
	set := q.Select(context.Background(), false, nil, labels.MustNewMatcher(labels.MatchEqual, "__name__", "x"))
	var got []string
	var it chunkenc.Iterator
	for set.Next() {
		it = set.At().Iterator(it)
		step := func(kind chunkenc.ValueType) bool {
			if kind == chunkenc.ValNone {
				return false
			}
			at, value := it.At()
			if at -= base; math.IsNaN(value) {
				at = -at
			}
			got = append(got, fmt.Sprint(at))
			return true
		}
		for _, s := range seeks {
			step(it.Seek(base + int64(s)))
		}
		for len(seeks) == 0 && step(it.Next()) {
		}
	}
	return strings.Join(got, " ")
}

func TestSlowView(t *testing.T) {
	burst := []int{1, 1002, 1500, 1600, 1700, 1800, 1900, 2000, 2100, 2200, 2990, 3100, 3950, 4200, 6003, 7300}
	for name, c := range map[string]struct {
		at         []int
		mint, maxt int
		seeks      []int
		want       string
	}{
		"an even pace":                    {[]int{0, 1003, 2000, 3900, 5001}, -5000, 9000, nil, "0 1003 2000 3900 5001"},
		"a burst":                         {burst, -5000, 9000, nil, "1 1002 2000 2990 3950 6003 7300"},
		"a beat a little early":           {[]int{0, 980, 1100, 1999, 2100}, -5000, 9000, nil, "0 980 1999"},
		"the window begins in a burst":    {burst, 1550, 2500, nil, "1002 2000"},
		"the window ends in a burst":      {burst, 0, 2150, nil, "1 1002 2000"},
		"an end and a beginning":          {[]int{0, 1000, 1100, -1200, 1300, 1400, 2000}, -5000, 9000, nil, "0 1000 -1200 1300 2000"},
		"seek in a burst":                 {burst, -5000, 9000, []int{1650, 1650, 2050}, "2000 2000 2990"},
		"seek to the first of its second": {burst, -5000, 9000, []int{2000, 7000}, "2000 7300"},
		"seek to where it is":             {burst, -5000, 9000, []int{0, 1, 1002}, "1 1 1002"},
		"seek beyond":                     {burst, -5000, 9000, []int{7400, 8000}, ""},
		"seek to an end":                  {[]int{0, -1200, 1300, 2000}, -5000, 9000, []int{1100, 1200, 1201}, "-1200 -1200 1300"},
	} {
		t.Run(name, func(t *testing.T) {
			v := slowView{storeOf(t, c.at...), time.Second}
			if got := walk(t, v, c.mint, c.maxt, c.seeks...); got != c.want {
				t.Errorf("%s, want %s", got, c.want)
			}
		})
	}
}

func TestSlowViewGivesTheSameAnswersInABurst(t *testing.T) {
	var even, mixed []int
	for ms := 0; ms <= 30_000; ms += 100 {
		if ms%1000 == 0 {
			even = append(even, ms)
		}
		if ms%1000 == 0 || ms > 12_300 && ms < 20_700 {
			mixed = append(mixed, ms)
		}
	}
	slow := rules.NewQuery(slowView{storeOf(t, even...), time.Second}, time.Second)
	fast := rules.NewQuery(slowView{storeOf(t, mixed...), time.Second}, time.Second)
	for _, expr := range []string{"sum_over_time(x[6s])", "quantile_over_time(0.8, x[6s])", "rate(x[10s])", "irate(x[3s])", "count_over_time(x[5s:1s])", "x"} {
		for at := 10; at <= 30; at++ {
			when := epoch.Add(time.Duration(at) * time.Second)
			a, err := slow.Instant(context.Background(), expr, when)
			b, err2 := fast.Instant(context.Background(), expr, when)
			if err != nil || err2 != nil || fmt.Sprint(a) != fmt.Sprint(b) || len(a) != 1 {
				t.Errorf("%s at %d s: %v in a burst, %v outside; %v %v", expr, at, b, a, err, err2)
			}
		}
	}
}
