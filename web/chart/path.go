package chart

import (
	"slices"
	"strconv"
)

// path builds the d attribute of an SVG path.
type path []byte

// point adds a command. Whole thousandths of the width and tenths of a pixel of
// the height are as fine as anybody can see.
func (p *path) point(cmd byte, x, y float64) {
	*p = append(*p, cmd)
	*p = strconv.AppendInt(*p, int64(x+0.5), 10)
	*p = append(*p, ' ')
	*p = tenths(*p, y)
}

// tenths appends v with one decimal, without one if that is zero.
func tenths(b []byte, v float64) []byte {
	n := int64(v*10 + 0.5)
	b = strconv.AppendInt(b, n/10, 10)
	if n%10 != 0 {
		b = append(b, '.', byte('0'+n%10))
	}
	return b
}

func (p *path) close() { *p = append(*p, 'Z') }

// drawn are the paths of one series: the line through the mean of each
// column, the band between smallest and largest, and for the series that has
// one the area down to the ground.
type drawn struct {
	line, band, area path
	withArea         bool
}

// draw adds one run of columns.
func (d *drawn) draw(cols []column, f frame) {
	if len(cols) == 0 {
		return
	}
	outline(&d.line, cols, f, column.mean)
	if len(cols) == 1 { // a lonely sample is a dot: a line of no length with round ends
		d.line.point('L', f.x(cols[0].t)+1, f.y(cols[0].mean()))
	}
	if d.withArea {
		ground := f.y(max(f.bottom, 0))
		outline(&d.area, cols, f, column.mean)
		d.area.point('L', f.x(cols[len(cols)-1].t), ground)
		d.area.point('L', f.x(cols[0].t), ground)
		d.area.close()
	}
	if !slices.ContainsFunc(cols, func(c column) bool { return c.min != c.max }) {
		return
	}
	outline(&d.band, cols, f, func(c column) float64 { return c.max })
	for _, c := range slices.Backward(cols) {
		d.band.point('L', f.x(c.t), f.y(c.min))
	}
	d.band.close()
}

// outline starts a path at the first column and goes through all.
func outline(p *path, cols []column, f frame, value func(column) float64) {
	cmd := byte('M')
	for _, c := range cols {
		p.point(cmd, f.x(c.t), f.y(value(c)))
		cmd = 'L'
	}
}
