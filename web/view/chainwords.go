package view

import "strconv"

// Sizes of a row of the chain in CSS pixels. The style sheet keeps to them, so
// that an arrow can go from row to row.
const (
	stepTall = 30
	barTall  = 12
)

func stepHeight() string { return strconv.Itoa(stepTall) }

func stepMiddle() string { return strconv.Itoa(stepTall / 2) }

func barTop() string { return strconv.Itoa((stepTall - barTall) / 2) }

func barHeight() string { return strconv.Itoa(barTall) }

// arrowFrom is where the arrow begins that comes from the bar so many rows
// above.
func arrowFrom(rows int) string {
	return strconv.Itoa((stepTall+barTall)/2 - rows*stepTall)
}
