package chart

import "strconv"

// path builds the d attribute of an SVG path.
type path []byte

func (p *path) point(cmd byte, x, y float64) {
	*p = append(*p, cmd)
	*p = strconv.AppendFloat(*p, x, 'f', 1, 64)
	*p = append(*p, ' ')
	*p = strconv.AppendFloat(*p, y, 'f', 1, 64)
}

func (p *path) close() { *p = append(*p, 'Z') }

// drawn are the paths of one series: the line through the mean of each
// column, the band between smallest and largest, the area down to the
// ground.
type drawn struct {
	line, band, area path
}

// draw adds one run of columns.
func (d *drawn) draw(cols []column, f frame) {
	if len(cols) == 0 {
		return
	}
	ground := f.y(max(f.bottom, 0))
	enveloped := false
	for i, c := range cols {
		cmd := byte('L')
		if i == 0 {
			cmd = 'M'
		}
		d.line.point(cmd, f.x(c.t), f.y(c.mean()))
		d.area.point(cmd, f.x(c.t), f.y(c.mean()))
		enveloped = enveloped || c.min != c.max
	}
	if len(cols) == 1 { // a lonely sample is a dot: a line of no length with round ends
		d.line.point('L', f.x(cols[0].t)+0.1, f.y(cols[0].max))
	}
	d.area.point('L', f.x(cols[len(cols)-1].t), ground)
	d.area.point('L', f.x(cols[0].t), ground)
	d.area.close()
	if !enveloped {
		return
	}
	for i, c := range cols {
		cmd := byte('L')
		if i == 0 {
			cmd = 'M'
		}
		d.band.point(cmd, f.x(c.t), f.y(c.max))
	}
	for i := len(cols) - 1; i >= 0; i-- {
		d.band.point('L', f.x(cols[i].t), f.y(cols[i].min))
	}
	d.band.close()
}
