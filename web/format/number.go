package format

import (
	"math"
	"strconv"
	"strings"

	"stallmark/rules"
)

// space stands between a number and its unit and does not break.
const space = "\u00a0"

// dash stands where there is no number.
const dash = "–"

// Value is a number with its unit: 1.5 GiB, 76 %, 12 ms, 853/s. It is the rule
// pack's own notation, so that a chart and a ruled-out line agree. Not a number
// reads as a dash.
func Value(v float64, unit string) string {
	if math.IsNaN(v) {
		return dash
	}
	text := rules.Format(v, unit)
	if number, found := strings.CutSuffix(text, " us"); found {
		text = number + " µs"
	}
	return strings.ReplaceAll(text, " ", space)
}

// Optional is Value of a number that may be absent: absent is not zero.
func Optional(v *float64, unit string) string {
	if v == nil {
		return "unmeasured"
	}
	return Value(*v, unit)
}

// Fixed writes v with the given number of decimals, a dash if it is not a
// number: for the columns of a table.
func Fixed(v float64, decimals int) string {
	if math.IsNaN(v) || math.IsInf(v, 0) {
		return dash
	}
	return group(strconv.FormatFloat(v, 'f', decimals, 64))
}

// Scale turns values of one unit into numbers of one readable size, so that
// all labels of an axis share their unit.
type Scale struct {
	Div    float64 // values are divided by it
	Unit   string  // of the divided values, for instance "MiB" or "%"; may be empty
	Binary bool    // ticks go by powers of two
}

type size struct {
	div  float64
	unit string
}

// sizes lists the sizes of a unit, largest first.
func sizes(unit string) (all []size, binary bool) {
	switch unit {
	case "bytes":
		return []size{{1 << 40, "TiB"}, {1 << 30, "GiB"}, {1 << 20, "MiB"}, {1 << 10, "KiB"}, {1, "B"}}, true
	case "bytes/s":
		return []size{{1 << 30, "GiB/s"}, {1 << 20, "MiB/s"}, {1 << 10, "KiB/s"}, {1, "B/s"}}, true
	case "seconds":
		return []size{{1, "s"}, {1e-3, "ms"}, {1e-6, "µs"}}, false
	case "ms":
		return []size{{1e3, "s"}, {1, "ms"}, {1e-3, "µs"}}, false
	case "us":
		return []size{{1e6, "s"}, {1e3, "ms"}, {1, "µs"}}, false
	case "seconds/s":
		return []size{{1, "s per s"}, {1e-3, "ms per s"}}, false
	case "ms/s":
		return []size{{1, "ms per s"}}, false
	case "percent":
		return []size{{1, "%"}}, false
	case "per_second":
		return []size{{1e6, "M/s"}, {1e3, "k/s"}, {1, "/s"}}, false
	case "ratio":
		return []size{{1, ""}}, false
	case "count", "":
		return []size{{1e9, "G"}, {1e6, "M"}, {1e3, "k"}, {1, ""}}, false
	}
	return []size{{1e6, "M " + unit}, {1e3, "k " + unit}, {1, unit}}, false
}

// ScaleFor chooses the size in which a value of about this magnitude reads
// well. Zero reads in the unit itself.
func ScaleFor(magnitude float64, unit string) Scale {
	all, binary := sizes(unit)
	magnitude = math.Abs(magnitude)
	best := all[len(all)-1]
	for _, s := range all {
		if magnitude >= s.div*0.9995 || magnitude == 0 && s.div == 1 {
			best = s
			break
		}
	}
	return Scale{best.div, best.unit, binary}
}

// Number is the value in the scale, without its unit, with three significant
// digits.
func (s Scale) Number(v float64) string {
	v /= s.Div
	abs := math.Abs(v)
	switch {
	case math.IsNaN(v):
		return dash
	case math.IsInf(v, 0):
		return strconv.FormatFloat(v, 'g', 2, 64)
	case abs >= 99.95:
		return group(strconv.FormatFloat(v, 'f', 0, 64))
	case abs >= 9.995:
		return trim(strconv.FormatFloat(v, 'f', 1, 64))
	case abs >= 0.01:
		return trim(strconv.FormatFloat(v, 'f', 2, 64))
	case abs < 1e-9:
		return "0"
	}
	return strconv.FormatFloat(v, 'g', 2, 64)
}

// trim drops idle zeros after the point.
func trim(s string) string {
	if !strings.Contains(s, ".") {
		return s
	}
	return strings.TrimSuffix(strings.TrimRight(s, "0"), ".")
}

// group puts a comma between thousands, as the rule pack does.
func group(s string) string {
	whole, rest, point := strings.Cut(s, ".")
	sign := ""
	if strings.HasPrefix(whole, "-") {
		sign, whole = "-", whole[1:]
	}
	for i := len(whole) - 3; i > 0; i -= 3 {
		whole = whole[:i] + "," + whole[i:]
	}
	if point {
		whole += "." + rest
	}
	return sign + whole
}
