package chart

import (
	"slices"
	"strconv"
)

// path builds the d attribute of an SVG path. Thousandths of the width and
// halves of a pixel of the height are as fine as anybody can see; in these steps
// all numbers are whole. Lines are relative to the point before, which makes
// them a third as long, and points on a flat stretch are left out.
type path struct {
	text []byte
	x, y int  // the pen
	flat int  // a horizontal stretch that is not written yet
	cmd  byte // the last command written, which need not be repeated
}

// Steps of the path in a CSS pixel of the height.
const ySteps = 2

func (p *path) move(x, y float64) {
	p.flush()
	p.x, p.y = whole(x), whole(y*ySteps)
	p.command('M')
	p.number(p.x)
	p.number(p.y)
	p.cmd = 0 // numbers after M would be absolute lines
}

func (p *path) line(x, y float64) {
	dx, dy := whole(x)-p.x, whole(y*ySteps)-p.y
	p.x, p.y = p.x+dx, p.y+dy
	if dy == 0 && (p.flat == 0 || (dx > 0) == (p.flat > 0)) {
		p.flat += dx
		return
	}
	p.flush()
	p.command('l')
	p.number(dx)
	p.number(dy)
}

func (p *path) close() {
	p.flush()
	p.command('Z')
}

func (p *path) flush() {
	if p.flat != 0 {
		p.command('h')
		p.number(p.flat)
		p.flat = 0
	}
}

func (p *path) command(c byte) {
	if c != p.cmd || c == 'Z' {
		p.text = append(p.text, c)
		p.cmd = c
	}
}

// number appends n after a space where one is needed.
func (p *path) number(n int) {
	if last := p.text[len(p.text)-1]; n >= 0 && last >= '0' && last <= '9' {
		p.text = append(p.text, ' ')
	}
	p.text = strconv.AppendInt(p.text, int64(n), 10)
}

func (p *path) String() string {
	p.flush()
	return string(p.text)
}

func whole(v float64) int { return int(v + 0.5) }

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
	if len(cols) == 1 { // a lonely sample is a dot: a line of hardly any length with round ends
		d.line.line(f.x(cols[0].t)+1, f.y(cols[0].mean()))
	}
	if d.withArea {
		ground := f.y(max(f.bottom, 0))
		outline(&d.area, cols, f, column.mean)
		d.area.line(f.x(cols[len(cols)-1].t), ground)
		d.area.line(f.x(cols[0].t), ground)
		d.area.close()
	}
	d.envelope(cols, f)
}

// envelope adds the bands of the stretches in which columns have a height.
func (d *drawn) envelope(cols []column, f frame) {
	for len(cols) > 0 {
		n := slices.IndexFunc(cols, func(c column) bool { return tall(c, f) })
		if n < 0 {
			return
		}
		cols = cols[max(n-1, 0):] // from the point before, and to the one after
		n = min(n, 1)
		for n < len(cols) && tall(cols[n], f) {
			n++
		}
		part := cols[:min(n+1, len(cols))]
		outline(&d.band, part, f, func(c column) float64 { return c.max })
		for _, c := range slices.Backward(part) {
			d.band.line(f.x(c.t), f.y(c.min))
		}
		d.band.close()
		cols = cols[n:]
	}
}

// tall reports whether a column's smallest and largest value can be told apart.
func tall(c column, f frame) bool { return f.y(c.min)-f.y(c.max) > 1 }

// outline starts a path at the first column and goes through all.
func outline(p *path, cols []column, f frame, value func(column) float64) {
	p.move(f.x(cols[0].t), f.y(value(cols[0])))
	for _, c := range cols[1:] {
		p.line(f.x(c.t), f.y(value(c)))
	}
}
