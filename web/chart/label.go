package chart

import (
	"math"
	"unicode/utf8"
)

// Label is a text in the plot.
type Label struct {
	X, Y   string
	DX     string // pixels away from the edge that X names
	Anchor string
	Text   string
}

// How large a label is about, in CSS pixels: charts are drawn before their width
// is known, and most are about this wide.
const (
	usualWidth = 350
	letter     = 6.0
	lineHeight = 11.0
	clear      = 3.0 // between a label and its line
)

// placing finds room for labels: where the fewest lines run through them.
type placing struct {
	c     Chart
	f     frame
	taken []room
}

// room is a rectangle: x in shares of the width, y in pixels.
type room struct{ left, right, top, bottom float64 }

// newPlacing keeps the letters of the marks free.
func newPlacing(c Chart, f frame, marks []MarkLine) *placing {
	p := &placing{c: c, f: f}
	for _, m := range marks {
		half := letter / usualWidth
		p.taken = append(p.taken, room{m.rel - half, m.rel + half, 0, lineHeight})
	}
	return p
}

// site is a place where a limit could be labelled.
type site struct {
	room
	label Label
	price float64
}

// label places the label of a limit. One that moves is labelled with its value
// while something fired, if it did. One beyond the scale is an arrow.
func (p *placing) label(l Limit, points []Point) (Label, bool) {
	var best *site
	anchors, fired := p.anchors(points)
	for i, at := range anchors {
		for _, s := range p.sites(l, points, at) {
			s.price += p.cost(s.room, points) + 0.02*float64(i)
			if fired && i > 0 && len(l.Points) > 0 {
				s.price += 2
			}
			if best == nil || s.price < best.price-1e-9 {
				best = &s
			}
		}
	}
	if best == nil {
		return Label{}, false
	}
	p.taken = append(p.taken, best.room)
	return best.label, true
}

// anchors are the shares of the width where a label may stand, the best first:
// the middle of what fired (the first one if fired is set), the ends, the middle.
func (p *placing) anchors(points []Point) (all []float64, fired bool) {
	for _, b := range p.c.Fired {
		from, to := max(p.share(b.From.UnixMilli()), 0), min(p.share(b.To.UnixMilli()), 1)
		if to > from {
			all, fired = append(all, (from+to)/2), true
			break
		}
	}
	all = append(all, 1, 0, 0.5)
	if len(points) > 0 { // where a short one is
		all = append(all, (p.share(points[0].T)+p.share(points[len(points)-1].T))/2)
	}
	return all, fired
}

func (p *placing) share(t int64) float64 { return p.f.raw(t) }

// sites are the places above and below a limit about an anchor.
func (p *placing) sites(l Limit, points []Point, at float64) []site {
	value, ok := valueNear(points, p.f.from+int64(at*float64(p.f.to-p.f.from)), p.c)
	if !ok {
		return nil
	}
	text := limitText(l, value, p.c)
	if value > p.f.top*1.0001 {
		text = "↑ " + text
	}
	half := float64(utf8.RuneCountInString(text)) * letter / usualWidth / 2
	s := site{label: Label{X: percent(at), DX: "0", Anchor: "middle", Text: text}}
	switch {
	case at-half < 0:
		s.label.X, s.label.DX, s.label.Anchor = "0%", "3", "start"
		s.left, s.right = 0, 2*half
	case at+half > 1:
		s.label.X, s.label.DX, s.label.Anchor = "100%", "-3", "end"
		s.left, s.right = 1-2*half, 1
	default:
		s.left, s.right = at-half, at+half
	}
	if value > p.f.top*1.0001 {
		return []site{s.at(lineHeight)}
	}
	y := p.f.y(value)
	var out []site
	if above := y - clear; above-lineHeight >= 0 {
		out = append(out, s.at(above))
	}
	if below := y + clear + lineHeight; below <= plotHeight {
		below := s.at(below)
		below.price = 0.01
		out = append(out, below)
	}
	over := s.at(lineHeight) // over the plot, where no line runs
	over.price, over.label.Text = 0.1, "┄ "+text
	return append(out, over)
}

// at is the site with its text's foot at y.
func (s site) at(y float64) site {
	s.top, s.bottom = y-lineHeight, y
	s.label.Y = px(y - 2)
	return s
}

// cost is the share of the samples under a room that lie in it, and whether
// another label does.
func (p *placing) cost(r room, limit []Point) float64 {
	cost := 0.0
	for _, o := range p.taken {
		if r.left < o.right && o.left < r.right && r.top < o.bottom && o.top < r.bottom {
			cost += 2
		}
	}
	for _, s := range p.c.Series {
		cost += p.hits(r, s.Points)
	}
	return cost + p.hits(r, limit)
}

func (p *placing) hits(r room, points []Point) float64 {
	n, in := 0, 0
	for _, q := range points {
		x := p.share(q.T)
		if x < r.left || x > r.right || math.IsNaN(q.V) || math.IsInf(q.V, 0) {
			continue
		}
		n++
		if y := p.f.y(q.V); y > r.top-1 && y < r.bottom+1 && q.V <= p.f.top {
			in++
		}
	}
	if n == 0 {
		return 0
	}
	return float64(in) / float64(n)
}

// valueNear is the value of a limit at a time. A moving one has none where it
// has no sample within a twelfth of the window.
func valueNear(points []Point, t int64, c Chart) (float64, bool) {
	far := c.To.Sub(c.From).Milliseconds() / 12
	if len(points) == 2 && points[0].V == points[1].V {
		return points[0].V, true
	}
	best, found := int64(math.MaxInt64), false
	value := 0.0
	for _, p := range points {
		d := max(p.T-t, t-p.T)
		if d < best && d <= far && !math.IsNaN(p.V) && !math.IsInf(p.V, 0) {
			best, value, found = d, p.V, true
		}
	}
	return value, found
}
