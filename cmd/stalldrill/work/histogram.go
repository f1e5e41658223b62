package work

import (
	"fmt"
	"math"
	"math/bits"
	"time"
)

// Histogram counts durations without allocating: 32 buckets for each doubling,
// so a quantile is at most 3.2 % above the truth. The zero value is empty.
type Histogram struct {
	buckets [64 * perDoubling]uint64
	count   uint64
	max     time.Duration
}

const (
	perDoubling = 32
	logPer      = 5 // log2 of perDoubling
)

// bucketOf gives small values a bucket each, and larger ones by their five bits
// after the leading one.
func bucketOf(ns uint64) int {
	if ns < perDoubling {
		return int(ns)
	}
	shift := bits.Len64(ns) - 1 - logPer
	return (shift+1)*perDoubling + int(ns>>shift) - perDoubling
}

// upperEdge is the largest value in a bucket.
func upperEdge(bucket int) time.Duration {
	if bucket < perDoubling {
		return time.Duration(bucket)
	}
	shift := bucket/perDoubling - 1
	low := uint64(bucket%perDoubling+perDoubling) << shift
	return time.Duration(min(low+1<<shift-1, math.MaxInt64))
}

// Add counts one duration; one below zero counts as zero.
func (h *Histogram) Add(d time.Duration) {
	d = max(d, 0)
	h.buckets[bucketOf(uint64(d))]++
	h.count++
	h.max = max(h.max, d)
}

// Merge counts all that another histogram has.
func (h *Histogram) Merge(o *Histogram) {
	for i, n := range o.buckets {
		h.buckets[i] += n
	}
	h.count += o.count
	h.max = max(h.max, o.max)
}

// Count is how many durations were added.
func (h *Histogram) Count() uint64 { return h.count }

// Max is the longest duration, exactly.
func (h *Histogram) Max() time.Duration { return h.max }

// Quantile is the duration that the share q of all does not exceed, 0 of none.
func (h *Histogram) Quantile(q float64) time.Duration {
	rank := uint64(math.Ceil(q * float64(h.count)))
	var seen uint64
	for i, n := range h.buckets {
		if seen += n; n > 0 && seen >= rank {
			return min(upperEdge(i), h.max)
		}
	}
	return h.max
}

// Felt are the figures that are printed of a histogram, in milliseconds.
type Felt struct {
	P50  float64 `json:"p50_ms"`
	P99  float64 `json:"p99_ms"`
	P999 float64 `json:"p999_ms"`
	Max  float64 `json:"max_ms"`
}

// Felt sums the histogram up.
func (h *Histogram) Felt() Felt {
	ms := func(d time.Duration) float64 { return float64(d) / 1e6 }
	return Felt{ms(h.Quantile(0.5)), ms(h.Quantile(0.99)), ms(h.Quantile(0.999)), ms(h.max)}
}

// Text is a figure of Felt for people.
func (Felt) Text(ms float64) string {
	switch {
	case ms < 1:
		return fmt.Sprintf("%.0f us", ms*1000)
	case ms < 100:
		return fmt.Sprintf("%.1f ms", ms)
	case ms < 10000:
		return fmt.Sprintf("%.0f ms", ms)
	}
	return fmt.Sprintf("%.1f s", ms/1000)
}
