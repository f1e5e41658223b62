package chart

import (
	"math"
	"strconv"
)

// aboveY stacks the limits that are beyond the scale below the upper edge.
func aboveY(i int) string { return strconv.Itoa(padTop + 10 + 14*i) }

// Labels of marks stand below the time labels, a row each up to markRows.
const (
	markRows = 3
	rowPx    = 15
)

func markY(i int) string { return strconv.Itoa(13 + rowPx*(1+i%markRows)) }

func axisHeight(l Lanes) string {
	return strconv.Itoa(18 + rowPx*min(max(len(l.Marks), 1), markRows))
}

// labelSide chooses the end of a limit at which the lines are farther from it,
// so that its label does not lie on them. A moving one is labelled at its end.
func labelSide(c Chart, l Limit) (x, anchor string) {
	if len(l.Points) > 0 {
		return "100%", "end"
	}
	third := c.To.Sub(c.From).Milliseconds() / 3
	left, right := math.Inf(1), math.Inf(1)
	for _, s := range c.Series {
		for _, p := range s.Points {
			far := math.Abs(p.V - l.Value)
			switch {
			case p.T < c.From.UnixMilli()+third:
				left = min(left, far)
			case p.T > c.To.UnixMilli()-third:
				right = min(right, far)
			}
		}
	}
	if left > right {
		return "0%", "start"
	}
	return "100%", "end"
}

func labelShift(anchor string) string {
	if anchor == "start" {
		return "3"
	}
	return "-3"
}

// maxMark bounds the text at a mark.
const maxMark = 60

func short(s string) string {
	if r := []rune(s); len(r) > maxMark {
		return string(r[:maxMark-1]) + "…"
	}
	return s
}
