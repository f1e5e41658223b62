// Package chart draws time charts and swimlanes on the server as SVG.
//
// Text is never scaled: an outer SVG without a viewBox measures in CSS pixels
// and places text by percentages, and only the lines are stretched in an inner
// SVG. So one drawing serves every width, and works without scripts and without
// inline styles. A gap in the data is a gap in the line: absent is not zero.
// When there are more samples than columns, each column shows the span from its
// smallest to its largest sample, so that a short spike survives in a long view.
package chart
