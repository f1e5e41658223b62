package block

import "math"

// Most readings are decimals: counts, bytes, clock ticks (1/100 s),
// milliseconds, microseconds, nanoseconds. A column of them is stored as whole
// numbers and one scale.

// Scales is how many divisors there are: see [Scale].
const Scales = 5

// Scale is the divisor with that index; the index is what is stored.
func Scale(i int) float64 { return [Scales]float64{1, 100, 1e3, 1e6, 1e9}[i] }

// maxWhole is the largest number up to which every whole number is a float64.
const maxWhole = 1 << 53

// Whole is n such that float64(n)/scale has exactly the bits of v; false if
// there is none.
func Whole(v, scale float64) (n int64, ok bool) {
	n, off, ok := near(v, scale)
	return n, ok && off == 0
}

// maxOff is how far a value may be off the nearest decimal, in units of its last
// binary place: what a sum or product of decimals gathers.
const maxOff = 16

// near is n and off such that the bits of v are those of float64(n)/scale plus
// off; false if they are further than maxOff apart.
func near(v, scale float64) (n, off int64, ok bool) {
	x := math.RoundToEven(v * scale)
	if !(math.Abs(x) <= maxWhole) { // NaN as well
		return 0, 0, false
	}
	n = int64(x)
	off = int64(math.Float64bits(v) - math.Float64bits(float64(n)/scale))
	return n, off, -maxOff <= off && off <= maxOff
}

// zigzag maps small numbers of either sign to small unsigned ones.
func zigzag(n int64) uint64 { return uint64(n<<1) ^ uint64(n>>63) }

// unzigzag is its inverse.
func unzigzag(u uint64) int64 { return int64(u>>1) ^ -int64(u&1) }

// gcd is the greatest common divisor, of a and |b|.
func gcd(a, b uint64) uint64 {
	for b != 0 {
		a, b = b, a%b
	}
	return a
}
