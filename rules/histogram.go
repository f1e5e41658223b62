package rules

import (
	"maps"
	"math"
	"slices"
	"strconv"
)

// A histogram of a baseline has buckets that grow by a quarter of a power of two
// (1.19), so a quantile is right to 9 % whatever the size of the values, and one
// outlier among thousands moves no quantile that is used here.
const (
	bucketsPerDouble = 4
	leastBucket      = -30 * bucketsPerDouble // 1e-9
	mostBucket       = 60 * bucketsPerDouble  // 1e18
	zeroBucket       = leastBucket - 1        // 0, and what is not above it
)

// histogram is weights by bucket.
type histogram map[int]float64

// bucketOf is the bucket of a value that is a number.
func bucketOf(v float64) int {
	if v <= 0 {
		return zeroBucket
	}
	return int(min(max(math.Floor(math.Log2(v)*bucketsPerDouble), leastBucket), mostBucket))
}

// valueOf is the geometric middle of a bucket.
func valueOf(bucket int) float64 {
	if bucket == zeroBucket {
		return 0
	}
	return math.Exp2((float64(bucket) + 0.5) / bucketsPerDouble)
}

func (h histogram) total() (sum float64) {
	for _, w := range h {
		sum += w
	}
	return sum
}

// quantile is the value below which a share q of the weight lies.
func (h histogram) quantile(q float64) float64 {
	want, sum := q*h.total(), 0.0
	buckets := slices.Sorted(maps.Keys(h))
	for _, b := range buckets {
		if sum += h[b]; sum >= want {
			return valueOf(b)
		}
	}
	return valueOf(buckets[len(buckets)-1])
}

// learn takes in an hour, which counts as much as any other, after what was
// there has faded by a factor. Buckets that hardly count any more go.
func (h histogram) learn(hour histogram, fade float64) {
	for b := range h {
		if h[b] *= fade; h[b] < 1e-6 {
			delete(h, b)
		}
	}
	all := hour.total()
	for b, w := range hour {
		h[b] += w / all
	}
}

// encoded is the histogram for JSON, weights to six digits.
func (h histogram) encoded() map[string]float64 {
	out := map[string]float64{}
	for b, w := range h {
		out[strconv.Itoa(b)] = math.Round(w*1e6) / 1e6
	}
	return out
}

// decodeHistogram reads it back; what cannot be right is left out.
func decodeHistogram(from map[string]float64) histogram {
	h := histogram{}
	for text, w := range from {
		b, err := strconv.Atoi(text)
		if err == nil && b >= zeroBucket && b <= mostBucket && w > 0 && finite(w) {
			h[b] = w
		}
	}
	return h
}
