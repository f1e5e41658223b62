package pasted

import (
	"slices"
	"time"

	"stallmark/collectors"
	"stallmark/storage/model"
)

// track is the rows of one part, with times.
type track struct {
	rows     []Row
	interval time.Duration
	columns  []*column
}

// column is one series of a track.
type column struct {
	series *model.Series
	kind   Kind
	values []point
	sum    float64 // of a rate, up to the beat before
}

// point is a value that covers (from, to].
type point struct {
	from, to time.Time
	v        float64
}

func newTrack(rows []Row, interval time.Duration) *track {
	tr := &track{rows: rows, interval: interval}
	byName := map[string]*column{}
	var last time.Time
	for _, row := range rows {
		from := row.At.Add(-interval)
		if !last.IsZero() && row.At.Sub(last) <= 3*interval && row.At.After(last) {
			from = last
		}
		last = row.At
		for _, v := range row.Values {
			key := v.Series.Key()
			c, ok := byName[key]
			if !ok {
				c = &column{series: v.Series, kind: v.Kind}
				byName[key] = c
				tr.columns = append(tr.columns, c)
			}
			if n := len(c.values); n > 0 && !row.At.After(c.values[n-1].to) {
				continue // the same twice
			}
			c.values = append(c.values, point{from.UTC(), row.At.UTC(), v.V})
		}
	}
	return tr
}

// spans are the times that the rows cover, whole steps.
func (tr *track) spans(step time.Duration) []span {
	var list []span
	for i, row := range tr.rows {
		from := row.At.Add(-tr.interval)
		if len(tr.rows) == 1 {
			from = row.At // one reading tells of a moment
		}
		if n := len(list); i > 0 && n > 0 && !from.After(list[n-1].to.Add(3*step)) {
			list[n-1].to = row.At.UTC()
			continue
		}
		list = append(list, span{from.UTC(), row.At.UTC()})
	}
	return list
}

// put puts the values of a beat that reaches from before to at.
func (tr *track) put(out *collectors.Out, before, at time.Time) {
	for _, c := range tr.columns {
		if v, ok := c.at(before, at, tr.interval); ok {
			out.Add(c.series, v)
		}
	}
}

// at is the value of a column at a beat.
func (c *column) at(before, at time.Time, interval time.Duration) (float64, bool) {
	i, _ := slices.BinarySearchFunc(c.values, at, func(p point, at time.Time) int { return p.to.Compare(at) })
	switch c.kind {
	case Rate:
		return c.grow(before, at, i)
	case Total:
		return c.between(at, i, interval)
	}
	if i < len(c.values) && (c.values[i].from.Before(at) || c.values[i].to.Equal(at)) {
		return c.values[i].v, true
	}
	return 0, false
}

// grow adds what came in since the beat before. The counter begins at zero
// where its first row begins.
func (c *column) grow(before, at time.Time, i int) (float64, bool) {
	j, _ := slices.BinarySearchFunc(c.values, before, func(p point, t time.Time) int { return p.to.Compare(t) })
	for ; j < len(c.values) && c.values[j].from.Before(at); j++ {
		p := c.values[j]
		from, to := later(p.from, before), earlier(p.to, at)
		if d := to.Sub(from); d > 0 {
			c.sum += p.v * d.Seconds()
		}
	}
	if i < len(c.values) {
		return c.sum, !c.values[i].from.After(at)
	}
	return 0, false
}

// between is a counter at a time: as it was read, or on the line between two
// readings.
func (c *column) between(at time.Time, i int, interval time.Duration) (float64, bool) {
	switch {
	case i < len(c.values) && c.values[i].to.Equal(at):
		return c.values[i].v, true
	case i == 0 || i == len(c.values):
		return 0, false
	}
	a, b := c.values[i-1], c.values[i]
	if b.to.Sub(a.to) > 3*interval || b.v < a.v {
		return 0, false
	}
	return a.v + (b.v-a.v)*float64(at.Sub(a.to))/float64(b.to.Sub(a.to)), true
}

func later(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}

func earlier(a, b time.Time) time.Time {
	if a.Before(b) {
		return a
	}
	return b
}
