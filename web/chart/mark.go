package chart

import "strconv"

// marksOpen is how many marks are listed below a chart before they are folded.
const marksOpen = 2

// Label is the mark in words.
func (m MarkLine) Label() string { return m.Letter + ", " + m.Clock + ": " + m.Text }

func (f Figure) marksTitle() string {
	first, last := f.Marks[0].Letter, f.Marks[len(f.Marks)-1].Letter
	return first + " to " + last + ": " + strconv.Itoa(len(f.Marks)) + " changes"
}
