package gclog

import "time"

// scale is how many parts a unit has in decimals: nanoseconds of a second.
const scale = 1_000_000_000

// maxUnits bounds the whole part of a number, so that it fits scaled.
const maxUnits = 1<<63/scale - 1

// decimal reads a number at the start of b, scaled by 1e9, and says how many
// bytes it took: 0 if there is none. The decimal point is the locale's: a point,
// a comma between digits, or the Arabic U+066B.
func decimal(b []byte) (v int64, n int) {
	for n < len(b) && isDigit(b[n]) {
		if v > maxUnits/10-1 {
			return 0, 0
		}
		v = v*10 + int64(b[n]-'0')
		n++
	}
	if n == 0 {
		return 0, 0
	}
	v *= scale
	point := decimalPoint(b[n:])
	if point == 0 || n+point >= len(b) || !isDigit(b[n+point]) {
		return v, n
	}
	n += point
	for part := int64(scale / 10); n < len(b) && isDigit(b[n]); n++ {
		v += int64(b[n]-'0') * part
		part /= 10
	}
	return v, n
}

// decimalPoint is the length of a decimal point at the start of b, or 0.
func decimalPoint(b []byte) int {
	switch {
	case len(b) > 0 && (b[0] == '.' || b[0] == ','):
		return 1
	case len(b) > 1 && b[0] == 0xd9 && b[1] == 0xab:
		return 2
	}
	return 0
}

// decimalBefore reads the number that ends at the end of b, with blanks between
// allowed, and says where it starts: -1 if there is none.
func decimalBefore(b []byte) (v int64, start int) {
	end := len(b)
	for end > 0 && b[end-1] == ' ' {
		end--
	}
	i := end
	for i > 0 && (isDigit(b[i-1]) || b[i-1] == '.' || b[i-1] == 0xab || b[i-1] == 0xd9 || b[i-1] == ',' && i < end && isDigit(b[i])) {
		i--
	}
	for i < end && !isDigit(b[i]) {
		i++
	}
	v, n := decimal(b[i:end])
	if n == 0 || i+n != end {
		return 0, -1
	}
	return v, i
}

// seconds, millis turn a scaled number of that unit into a duration.
func seconds(v int64) time.Duration { return time.Duration(v) }
func millis(v int64) time.Duration  { return time.Duration((v + 500) / 1000) }

// whole reads digits at the start of b.
func whole(b []byte) (v int64, n int) {
	for n < len(b) && isDigit(b[n]) {
		if v > (1<<63-1)/10-1 {
			return 0, 0
		}
		v = v*10 + int64(b[n]-'0')
		n++
	}
	return v, n
}

func isDigit(c byte) bool { return '0' <= c && c <= '9' }

// size reads "123K", "92.7M", "0.0B", "1.5G" or a plain number of bytes at the
// start of b: bytes, and how many it took.
func size(b []byte) (bytes int64, n int) {
	v, n := decimal(b)
	if n == 0 {
		return 0, 0
	}
	shift := 0
	if n < len(b) {
		switch b[n] {
		case 'B':
			n++
		case 'K':
			shift, n = 10, n+1
		case 'M':
			shift, n = 20, n+1
		case 'G':
			shift, n = 30, n+1
		case 'T':
			shift, n = 40, n+1
		}
	}
	units, parts := v/scale, v%scale
	if units > (1<<63-1)>>shift-1 {
		return 0, 0
	}
	return units<<shift + int64(float64(parts)/scale*float64(int64(1)<<shift)+0.5), n
}

// Unknown stands for a size that the log does not tell.
const Unknown = -1

// Heap is how much of the heap was in use around a collection, in bytes;
// [Unknown] where it is not told.
type Heap struct {
	Before, After, Capacity int64
}

func noHeap() Heap { return Heap{Unknown, Unknown, Unknown} }

// heapOf reads the last "BEFORE->AFTER(CAPACITY)" of a text: "6M->6M(96M)",
// "92.7M(119.0M)->97.0M(128.0M)", "96M(100%)->38M(40%)" (no capacity). start is
// where it begins, -1 if there is none.
func heapOf(b []byte) (h Heap, start int) {
	h = noHeap()
	arrow := lastIndex(b, "->")
	if arrow < 0 {
		return h, -1
	}
	start = arrow
	for start > 0 && b[start-1] != ' ' && b[start-1] != ']' && b[start-1] != ':' {
		start--
	}
	before, n := size(b[start:arrow])
	after, m := size(b[arrow+2:])
	if n == 0 || m == 0 {
		return h, -1
	}
	h.Before, h.After = before, after
	rest := b[arrow+2+m:]
	if len(rest) > 0 && rest[0] == '(' {
		if c, k := size(rest[1:]); k > 0 && 1+k < len(rest) && rest[1+k] == ')' {
			h.Capacity = c
		}
	}
	return h, start
}

func lastIndex(b []byte, s string) int {
	for i := len(b) - len(s); i >= 0; i-- {
		if string(b[i:i+len(s)]) == s {
			return i
		}
	}
	return -1
}
