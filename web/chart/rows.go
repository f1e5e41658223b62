package chart

import "strconv"

// aboveY stacks the limits that are beyond the scale below the upper edge.
func aboveY(i int) string { return strconv.Itoa(padTop + 10 + 14*i) }

// Labels of marks stand below the time labels, a row each up to markRows.
const (
	markRows = 3
	rowPx    = 15
)

func markY(i int) string { return strconv.Itoa(13 + rowPx*(1+i%markRows)) }

func axisHeight(l Lanes) string {
	return strconv.Itoa(18 + rowPx*min(len(l.Marks), markRows))
}
