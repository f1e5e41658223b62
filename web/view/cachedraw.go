package view

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"stallmark/web/format"
)

// The boxes that segments and strips are drawn in; both are stretched.
const (
	partsWide = 64
	partsHigh = 10
	stripWide = 1000
	stripHigh = 100
)

// partsPath draws the resident parts of a file: each as wide as its part, as
// high as its share of it that is in memory, in tenths, at least one if any is.
func partsPath(parts []float64) string {
	var b strings.Builder
	wide := float64(partsWide) / float64(max(len(parts), 1))
	for i := 0; i < len(parts); {
		level := levelOf(parts[i])
		k := i + 1
		for k < len(parts) && levelOf(parts[k]) == level {
			k++
		}
		if level > 0 {
			from, to := trimmed(float64(i)*wide), trimmed(float64(k)*wide)
			fmt.Fprintf(&b, "M%s %dV%dH%sV%dz", from, partsHigh, partsHigh-level, to, partsHigh)
		}
		i = k
	}
	return b.String()
}

// levelOf is a share in tenths: none only if nothing is there, ten only if all is.
func levelOf(share float64) int {
	switch {
	case math.IsNaN(share) || share <= 0:
		return 0
	case share >= 1:
		return partsHigh
	}
	return min(max(int(math.Round(share*partsHigh)), 1), partsHigh-1)
}

// trimmed is a coordinate with one decimal at most.
func trimmed(v float64) string { return strings.TrimSuffix(format.Fixed(v, 1), ".0") }

// strip draws a whole log, a column a file, oldest first: how much of each is
// in memory. Of a long log several files share a column, which then shows their
// mean.
func strip(files []DataFile) (out []StripColumn, scale string) {
	each := (len(files) + stripColumns - 1) / stripColumns
	n := (len(files) + each - 1) / each
	wide := float64(stripWide) / float64(n)
	for i := range n {
		var s sums
		age := ageOld
		for _, f := range files[i*each : min((i+1)*each, len(files))] {
			s.add(f)
			age = newer(age, ageOf(f))
		}
		high := 0.0
		if s.size > 0 && s.resident > 0 {
			high = max(float64(stripHigh)*float64(s.resident)/float64(s.size), 4)
		}
		out = append(out, StripColumn{
			X: trimmed(float64(i) * wide), W: trimmed(wide * 0.82), Y: trimmed(stripHigh - high), H: trimmed(high), Age: age,
		})
	}
	scale = "one column for each segment, the oldest left"
	if each > 1 {
		scale = "one column for " + strconv.Itoa(each) + " segments, the oldest left"
	}
	return out, scale
}

// newer is the age that stands out in a column of several files.
func newer(a, b string) string {
	for _, age := range ages() {
		if a == age || b == age {
			return age
		}
	}
	return a
}
