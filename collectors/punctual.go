package collectors

import (
	"math/bits"
	"sync"
	"time"
)

// Punctuality is how well a sampler has kept its beat so far. Of lateness the
// percentiles are exact to an eighth.
type Punctuality struct {
	Beats      uint64
	Lost       uint64 // beats that were missed
	Unanswered uint64 // collections that had not ended when their beat did
	P50, P99   time.Duration
	Max        time.Duration
}

// punctual counts lateness in buckets that are an eighth of a power of two wide.
type punctual struct {
	mu      sync.Mutex
	now     Punctuality
	buckets [64 * 8]uint64
}

// beat counts a beat that came so late, after so many that were lost in all.
func (p *punctual) beat(late time.Duration, lost float64) {
	late = max(late, 0)
	p.mu.Lock()
	defer p.mu.Unlock()
	p.now.Beats++
	p.now.Lost = uint64(lost)
	p.now.Max = max(p.now.Max, late)
	p.buckets[bucketOf(late)]++
}

func (p *punctual) unanswered() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.now.Unanswered++
}

// Punctuality may be called from any goroutine.
func (s *Sampler) Punctuality() Punctuality {
	p := &s.punctual
	p.mu.Lock()
	defer p.mu.Unlock()
	now := p.now
	now.P50, now.P99 = p.percentile(0.5), p.percentile(0.99)
	return now
}

// percentile is the upper bound of the bucket in which it falls, no more than
// the greatest that was seen.
func (p *punctual) percentile(share float64) time.Duration {
	below := uint64(0)
	for i, n := range p.buckets {
		if below += n; n > 0 && float64(below) >= share*float64(p.now.Beats) {
			return min(boundOf(i), p.now.Max)
		}
	}
	return 0
}

// bucketOf is exact below 8 ns and has three bits of the number above.
func bucketOf(d time.Duration) int {
	n := uint64(d)
	if n < 8 {
		return int(n)
	}
	exponent := bits.Len64(n) - 4
	return (exponent+1)*8 + int(n>>exponent)&7
}

// boundOf is the greatest number in a bucket.
func boundOf(i int) time.Duration {
	if i < 8 {
		return time.Duration(i)
	}
	exponent := i/8 - 1
	return time.Duration((uint64(i%8)+9)<<exponent - 1)
}
