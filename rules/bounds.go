package rules

import (
	"math"

	"github.com/prometheus/prometheus/promql/parser"
)

// bounds says what an expression can be over a set of times: how many series it
// has at most at one of them, and between what all its values lie, NaN aside.
// They may be wider than the truth and are never narrower. Low above high means
// that there is no value but NaN.
type bounds struct {
	series    int
	low, high float64
}

// manySeries stands for any number of series.
const manySeries = math.MaxInt32

// rounding is how far, relative to the values that go in, the engine's sums and
// means may lie beside ours.
const rounding = 1e-9

// nothing is no series at all, anything whatever there may be.
func nothing() bounds  { return bounds{0, math.Inf(1), math.Inf(-1)} }
func anything() bounds { return bounds{manySeries, math.Inf(-1), math.Inf(1)} }

func exactly(v float64) bounds { return nothing().with(v) }

// empty reports that there is certainly no result.
func (b bounds) empty() bool { return b.series == 0 }

// with is a series' bounds with one more of its values.
func (b bounds) with(v float64) bounds {
	b.series = 1
	if v == v {
		b.low, b.high = min(b.low, v), max(b.high, v)
	}
	return b
}

// of is so many series of other values.
func (b bounds) of(low, high float64) bounds {
	if b.empty() {
		return nothing()
	}
	if low != low || high != high {
		low, high = math.Inf(-1), math.Inf(1)
	}
	return bounds{b.series, low, high}
}

// unmeasured is so many series of any values.
func (b bounds) unmeasured() bounds { return b.of(math.Inf(-1), math.Inf(1)) }

// or is the series of both.
func (b bounds) or(o bounds) bounds {
	return bounds{min(b.series+o.series, manySeries), min(b.low, o.low), max(b.high, o.high)}
}

// largest is the largest absolute value.
func (b bounds) largest() float64 { return max(math.Abs(b.low), math.Abs(b.high)) }

// loose allows for rounding in something made of n values.
func (b bounds) loose(n int) bounds {
	if b.low > b.high {
		return b
	}
	slack := rounding * float64(n) * b.largest()
	return b.of(b.low-slack, b.high+slack)
}

// sum is sums of 1 to n of the values.
func (b bounds) sum(n int) bounds {
	b = b.loose(n)
	low, high := b.low, b.high
	if low < 0 {
		low *= float64(n)
	}
	if high > 0 {
		high *= float64(n)
	}
	if n == manySeries {
		low, high = min(low, low*math.Inf(1)), max(high, high*math.Inf(1))
	}
	return b.of(low, high)
}

// spread is deviations of the values from each other.
func (b bounds) spread() bounds {
	if b.low > b.high {
		return b
	}
	return b.of(0, b.high-b.low+rounding*b.largest())
}

// mayExceed reports whether a value within the bounds can say more than one
// that is known.
func (o Op) mayExceed(b bounds, known float64) bool {
	return !b.empty() && (o.Further(b.low, known) || o.Further(b.high, known))
}

// mayHold reports whether a value within the bounds can stand on the
// threshold's side.
func (o Op) mayHold(b bounds, threshold float64) bool {
	return !b.empty() && (o.Holds(b.low, threshold) || o.Holds(b.high, threshold))
}

// arithmetic is l op r, in so many series.
func arithmetic(op parser.ItemType, n bounds, l, r bounds) bounds {
	switch op {
	case parser.ADD:
		return n.of(l.low+r.low, l.high+r.high)
	case parser.SUB:
		return n.of(l.low-r.high, l.high-r.low)
	case parser.MUL:
		return n.ofAny(l.low*r.low, l.low*r.high, l.high*r.low, l.high*r.high)
	case parser.DIV:
		switch {
		case r.low > 0 || r.high < 0:
			return n.ofAny(l.low/r.low, l.low/r.high, l.high/r.low, l.high/r.high)
		case l.low == 0 && l.high == 0:
			return n.of(0, 0) // or NaN
		}
	}
	return n.unmeasured()
}

// ofAny is so many series of values between the least and the greatest.
func (b bounds) ofAny(a, c, d, e float64) bounds {
	return b.of(min(a, c, d, e), max(a, c, d, e)) // NaN if one is
}

// possible reports whether l op r can be true of any two values.
func possible(op parser.ItemType, l, r bounds) bool {
	switch op {
	case parser.GTR:
		return l.high > r.low
	case parser.GTE:
		return l.high >= r.low
	case parser.LSS:
		return l.low < r.high
	case parser.LTE:
		return l.low <= r.high
	case parser.EQLC:
		return max(l.low, r.low) <= min(l.high, r.high)
	}
	return true
}
