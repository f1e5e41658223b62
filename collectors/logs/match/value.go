package match

import (
	"math"
	"strconv"
	"strings"

	"stallmark/storage/model"
)

// maxNumber is the longest text that is read as a number.
const maxNumber = 40

// value reads a field's text as its unit has it: times in seconds, sizes in
// bytes.
func value(text []byte, unit model.LogUnit) (float64, bool) {
	if len(text) == 0 || len(text) > maxNumber {
		return 0, false
	}
	switch unit {
	case model.UnitNanoseconds:
		return scaled(text, 1e-9)
	case model.UnitMicroseconds:
		return scaled(text, 1e-6)
	case model.UnitMilliseconds:
		return scaled(text, 1e-3)
	case model.UnitSeconds, model.UnitEpochMillis, model.UnitBytes, model.UnitCount, model.UnitRatio:
		return scaled(text, 1)
	case model.UnitPercent:
		return scaled(text, 1e-2)
	case model.UnitKiB:
		return scaled(text, 1<<10)
	case model.UnitMiB:
		return scaled(text, 1<<20)
	case model.UnitTime:
		return withUnits(string(text), timeUnit)
	case model.UnitSize:
		return withUnits(string(text), sizeUnit)
	}
	return 0, false
}

func scaled(text []byte, by float64) (float64, bool) {
	v, err := strconv.ParseFloat(strings.ReplaceAll(string(text), ",", ""), 64)
	if err != nil || math.IsInf(v, 0) || math.IsNaN(v) {
		return 0, false
	}
	return v * by, true
}

// withUnits adds up numbers with their units: 1m3.5s, 1.5gb.
func withUnits(s string, unit func(string) (float64, bool)) (float64, bool) {
	sum := 0.0
	for s = strings.TrimSpace(s); s != ""; s = strings.TrimSpace(s) {
		n := strings.IndexFunc(s, func(r rune) bool { return r != '.' && (r < '0' || r > '9') })
		if n <= 0 {
			return 0, false
		}
		v, err := strconv.ParseFloat(s[:n], 64)
		if err != nil {
			return 0, false
		}
		s = strings.TrimLeft(s[n:], " ")
		if n = strings.IndexFunc(s, func(r rune) bool { return r >= '0' && r <= '9' || r == ' ' }); n < 0 {
			n = len(s)
		}
		factor, ok := unit(s[:n])
		if !ok {
			return 0, false
		}
		sum, s = sum+v*factor, s[n:]
	}
	return sum, true
}

func timeUnit(s string) (float64, bool) {
	switch strings.ToLower(s) {
	case "ns", "nanos", "nanoseconds":
		return 1e-9, true
	case "us", "µs", "μs", "micros", "microseconds":
		return 1e-6, true
	case "ms", "millis", "milliseconds":
		return 1e-3, true
	case "s", "sec", "secs", "second", "seconds":
		return 1, true
	case "m", "min", "mins", "minutes":
		return 60, true
	case "h", "hours":
		return 3600, true
	case "d", "days":
		return 86400, true
	}
	return 0, false
}

// sizeUnit takes powers of 1024, as the products that print sizes do.
func sizeUnit(s string) (float64, bool) {
	switch strings.TrimSuffix(strings.TrimSuffix(strings.ToLower(s), "b"), "i") {
	case "":
		return 1, true
	case "k":
		return 1 << 10, true
	case "m":
		return 1 << 20, true
	case "g":
		return 1 << 30, true
	case "t":
		return 1 << 40, true
	}
	return 0, false
}
