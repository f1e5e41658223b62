package capture

import (
	"math"
	"math/rand/v2"

	"stallmark/storage/model"
)

// Loop turns the capture into an endless run of beats, one each interval from
// start on (both in milliseconds). Counters go on from where they were. The
// samples of a batch are reused for the next.
type Loop struct {
	c               *Capture
	start, interval int64
	tick            int // of the capture
	beat            int64
	offset          []float64 // of each counter
	counter         []bool
	samples         []model.Sample
	shuffle         *rand.Rand // nil for one round after the other
	left            int        // ticks until the next jump
}

// NewLoop makes a loop that plays the capture round after round.
func NewLoop(c *Capture, start, interval int64) *Loop {
	l := &Loop{
		c: c, start: start, interval: interval, tick: -1,
		offset: make([]float64, len(c.Series)), counter: make([]bool, len(c.Series)),
	}
	for i, vals := range c.Values {
		l.counter[i] = isCounter(vals)
	}
	return l
}

// NewShuffled makes a loop that jumps about in the capture, so that nothing
// repeats itself for long: a compressor must not profit from the loop.
func NewShuffled(c *Capture, start, interval int64) *Loop {
	l := NewLoop(c, start, interval)
	l.shuffle = rand.New(rand.NewPCG(1, 2))
	return l
}

// Next is the next beat.
func (l *Loop) Next() model.Batch {
	next := l.tick + 1
	if l.shuffle != nil {
		if l.left--; l.left < 0 {
			l.left = 5 + l.shuffle.IntN(15)
			next = 1 + l.shuffle.IntN(len(l.c.Times)-l.left-1)
		}
	}
	l.move(next % len(l.c.Times))
	l.samples = l.samples[:0]
	for s, series := range l.c.Series {
		if l.c.Has[s][l.tick] {
			l.samples = append(l.samples, model.Sample{Series: series, Value: decimal(l.c.Values[s][l.tick] + l.offset[s])})
		}
	}
	jitter := l.c.Times[l.tick] % 3 // a sampler is a millisecond or two late
	at := l.start + l.beat*l.interval + jitter
	l.beat++
	return model.Batch{At: at, Samples: l.samples}
}

// move goes to a tick. After a jump counters grow by as much as they did in the
// tick before it.
func (l *Loop) move(to int) {
	if from := l.tick; from >= 0 && to != from+1 {
		for s, vals := range l.c.Values {
			if l.counter[s] {
				grew := vals[max(from, 1)] - vals[max(from, 1)-1]
				l.offset[s] += vals[from] + grew - vals[to]
			}
		}
	}
	l.tick = to
}

// decimal takes the rounding error of a sum out again: sources give decimals.
func decimal(v float64) float64 {
	const nano = 1e9
	if v == math.Trunc(v) || math.Abs(v) > 1<<53/nano {
		return v
	}
	return math.Round(v*nano) / nano
}

func isCounter(vals []float64) bool {
	for i := 1; i < len(vals); i++ {
		if vals[i] < vals[i-1] {
			return false
		}
	}
	return vals[len(vals)-1] > vals[0]
}
