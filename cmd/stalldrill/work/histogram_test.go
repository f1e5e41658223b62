package work

import (
	"math/rand/v2"
	"slices"
	"testing"
	"time"
)

func TestQuantilesAreAtMostOneBucketAbove(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for range 50 {
		var h Histogram
		var all []time.Duration
		for range 1 + rng.IntN(3000) {
			d := time.Duration(rng.ExpFloat64() * float64(time.Millisecond))
			all = append(all, d)
			h.Add(d)
		}
		slices.Sort(all)
		for _, q := range []float64{0.01, 0.5, 0.99, 0.999, 1} {
			rank := max(int(q*float64(len(all))+0.9999999)-1, 0)
			exact, got := all[rank], h.Quantile(q)
			if got < exact || float64(got) > float64(exact)*1.04+1 {
				t.Fatalf("quantile %v of %d: got %v, want %v", q, len(all), got, exact)
			}
		}
		if h.Max() != all[len(all)-1] {
			t.Fatalf("max %v, want %v", h.Max(), all[len(all)-1])
		}
	}
}

func TestHistogramEdges(t *testing.T) {
	var h Histogram
	if h.Quantile(0.5) != 0 || h.Count() != 0 {
		t.Error("an empty histogram has a value")
	}
	h.Add(-time.Second) // a clock that went back
	h.Add(time.Duration(1<<63 - 1))
	if h.Quantile(0.5) != 0 || h.Quantile(1) != 1<<63-1 || h.Count() != 2 {
		t.Errorf("got %v, %v, %d", h.Quantile(0.5), h.Quantile(1), h.Count())
	}
	for ns := range uint64(100000) {
		if b := bucketOf(ns); uint64(upperEdge(b)) < ns || b > 0 && uint64(upperEdge(b-1)) >= ns {
			t.Fatalf("%d ns is in bucket %d, up to %d", ns, b, upperEdge(b))
		}
	}
}

func TestMerge(t *testing.T) {
	var a, b Histogram
	a.Add(1)
	b.Add(5)
	b.Add(3)
	a.Merge(&b)
	if a.Count() != 3 || a.Max() != 5 || a.Quantile(0.5) != 3 {
		t.Errorf("count %d, max %v, median %v", a.Count(), a.Max(), a.Quantile(0.5))
	}
}

func TestText(t *testing.T) {
	for ms, want := range map[float64]string{0.0123: "12 us", 1.25: "1.2 ms", 203.4: "203 ms", 12345: "12.3 s"} {
		if got := (Felt{}).Text(ms); got != want {
			t.Errorf("%v: got %s, want %s", ms, got, want)
		}
	}
}
