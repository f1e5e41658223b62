package chart

import (
	"strconv"
	"strings"
	"unicode/utf8"
)

// The sizes of the drawing as attributes.
func height() string { return strconv.Itoa(plotHeight + axisHeight) }
func ground() string { return strconv.Itoa(plotHeight) }
func top() string    { return strconv.Itoa(padTop) }
func inner() string  { return strconv.Itoa(plotHeight - padTop) }
func box() string    { return "0 0 " + strconv.Itoa(xMax) + " " + strconv.Itoa(plotHeight*ySteps) }

// A short unit ends at the axis as the numbers do, a long one begins at the edge
// of the chart and runs over the axis.
const shortUnit = 6

func unitAnchor(unit string) string {
	if utf8.RuneCountInString(unit) <= shortUnit {
		return "end"
	}
	return "start"
}

func unitX(unit string) string {
	if utf8.RuneCountInString(unit) <= shortUnit {
		return "40"
	}
	return "8"
}

// Labels of marks stand below the time labels, a row each up to markRows.
const (
	markRows = 3
	rowPx    = 15
)

// A letter is taken to be 6 px wide in lanes of 780 px, which is about right on a
// laptop; on a wider screen there is room to spare.
const letterWidth = 6.0 / 780

// placeRows gives each mark's text the first row in which it keeps clear of those
// before it. Where there is none it has no text: the line stays, and each chart
// lists the change.
func placeRows(all []MarkLine) {
	var free [markRows]float64 // where the last text of each row ends
	for i := range all {
		m := &all[i]
		width := float64(utf8.RuneCountInString(m.Text)+2) * letterWidth
		from, to := m.rel, m.rel+width
		if m.Anchor == "end" {
			from, to = m.rel-width, m.rel
		}
		m.Row = -1
		for row := range free {
			if free[row] <= max(from, 0) {
				m.Row, free[row] = row, to
				break
			}
		}
	}
}

func markY(row int) string { return strconv.Itoa(13 + rowPx*(1+row)) }

func marksHeight(l Lanes) string {
	rows := 1
	for _, m := range l.Marks {
		rows = max(rows, m.Row+1)
	}
	return strconv.Itoa(18 + rowPx*rows)
}

// maxMark bounds the text at a mark.
const maxMark = 60

func short(s string) string {
	if r := []rune(s); len(r) > maxMark {
		return string(r[:maxMark-1]) + "…"
	}
	return s
}

// ShortTitle leaves out the tail of a long title: what follows a comma, a
// parenthesis or a comparison.
func ShortTitle(title string) string {
	const room = 34
	if len(title) <= room {
		return title
	}
	for _, end := range []string{" against ", " (", ", ", " as a share ", " by the "} {
		if head, _, cut := strings.Cut(title, end); cut && len(head) >= 12 {
			return strings.TrimRight(head, ",:;")
		}
	}
	return title
}
