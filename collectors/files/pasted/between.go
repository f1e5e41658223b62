package pasted

import (
	"bytes"
	"math"
	"strconv"
	"strings"
)

// between is a file of the kernel's counters as it would have been at a share of
// the way from one copy to the next, if all numbers went evenly. Lines that are not
// alike stay as they were first.
func between(a, b []byte, share float64) []byte {
	as, bs := strings.Split(string(a), "\n"), strings.Split(string(b), "\n")
	if len(as) != len(bs) {
		return a
	}
	var out bytes.Buffer
	for i := range as {
		if i > 0 {
			out.WriteByte('\n')
		}
		out.WriteString(lineBetween(as[i], bs[i], share))
	}
	return out.Bytes()
}

func lineBetween(a, b string, share float64) string {
	as, bs := strings.Fields(a), strings.Fields(b)
	if a == b || len(as) != len(bs) {
		return a
	}
	for i := range as {
		key, x, named := strings.Cut(as[i], "=") // "total=123" of PSI
		other, y, _ := strings.Cut(bs[i], "=")
		if !named {
			x, y, key, other = as[i], bs[i], "", ""
		}
		v, ok := numberBetween(x, y, share)
		switch {
		case key != other || !ok && x != y:
			return a
		case ok && named:
			as[i] = key + "=" + v
		case ok:
			as[i] = v
		}
	}
	return strings.Join(as, " ")
}

// numberBetween keeps the decimals of the first.
func numberBetween(x, y string, share float64) (string, bool) {
	from, err := strconv.ParseFloat(x, 64)
	to, err2 := strconv.ParseFloat(y, 64)
	if err != nil || err2 != nil || math.IsInf(from, 0) || math.IsInf(to, 0) || math.IsNaN(from) || math.IsNaN(to) {
		return "", false
	}
	_, decimals, _ := strings.Cut(x, ".")
	return strconv.FormatFloat(from+(to-from)*share, 'f', len(decimals), 64), true
}
