package chart

import (
	"math"
	"strconv"
	"strings"

	"stallmark/web/format"
)

// values lists what a crosshair shows, the largest value of each column in the
// axis's unit: "1.5,2,0*7,*3" is 1.5, 2, seven times 0 and three columns without
// a value.
func values(points []Point, c Chart, scale format.Scale) string {
	span := c.To.Sub(c.From).Milliseconds()
	step := max(c.Step.Milliseconds(), 1)
	n := min(span/step+1, Columns)
	if span <= 0 || n < 1 {
		return ""
	}
	cells := make([]float64, n)
	for i := range cells {
		cells[i] = math.NaN()
	}
	for _, p := range points {
		k := (p.T - c.From.UnixMilli()) * (n - 1) / span
		if k < 0 || k >= n || math.IsNaN(p.V) {
			continue
		}
		if math.IsNaN(cells[k]) || p.V > cells[k] {
			cells[k] = p.V
		}
	}
	return counted(cells, scale)
}

// counted writes cells, equal neighbours as one with their number.
func counted(cells []float64, scale format.Scale) string {
	var b strings.Builder
	for i, n := 0, 0; i < len(cells); i += n {
		text := cell(cells[i], scale)
		for n = 1; i+n < len(cells) && cell(cells[i+n], scale) == text; n++ {
		}
		if i > 0 {
			b.WriteByte(',')
		}
		b.WriteString(text)
		if n > 1 {
			b.WriteString("*" + strconv.Itoa(n))
		}
	}
	return b.String()
}

func cell(v float64, scale format.Scale) string {
	if math.IsNaN(v) {
		return ""
	}
	return strings.ReplaceAll(scale.Number(v), ",", "") // a comma parts cells
}
