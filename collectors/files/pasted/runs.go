package pasted

import "time"

// started is where in a table a tool was started anew: by a collector that writes
// the time first, as OSWatcher and loops of the shell do, or below another heading
// of sysstat's.
type started struct {
	row int       // its first row
	at  time.Time // of the line above it, zero if there was none
}

// oneSecond is how far apart the rows of a started tool are if no command line
// tells: what collectors ask for ("vmstat 1 3").
const oneSecond = time.Second

// startAnew notes that the next row is the first of another start.
func (p *Part) startAnew(at time.Time) {
	if n := len(p.starts); n > 0 && p.starts[n-1].row == len(p.Rows) {
		if p.starts[n-1].at.IsZero() {
			p.starts[n-1].at = at
		}
		return
	}
	p.starts = append(p.starts, started{len(p.Rows), at})
}

// placeRows gives the rows below each start their times and leaves the first out,
// which is the mean since boot unless the tool was told not to print it. Several
// starts are samples of a longer time: the rows of each become one, their mean.
func (p *Part) placeRows(tool string, each time.Duration, keepFirst bool) {
	if each == 0 {
		each = oneSecond
	}
	skip := 1
	if keepFirst {
		skip = 0
	}
	rows := p.Rows
	p.Rows = nil
	first, longest := 0, 0
	for i, s := range p.starts {
		end := len(rows)
		if i+1 < len(p.starts) {
			end = p.starts[i+1].row
		}
		group := rows[s.row:end]
		if len(group) == 0 {
			continue
		}
		for k := range group {
			if group[k].At.IsZero() && !s.at.IsZero() {
				group[k].At = s.at.Add(time.Duration(k) * each)
			}
		}
		if first == 0 {
			first = group[0].Line
		}
		group = group[min(skip, len(group)):]
		longest = max(longest, len(group))
		switch {
		case len(p.starts) == 1:
			p.Rows = append(p.Rows, group...)
		case len(group) > 0:
			p.Rows = append(p.Rows, meanRow(group))
		}
	}
	p.sayPlaced(tool, first, longest, each, keepFirst)
}

// sayPlaced says what was left out and what the rows stand for.
func (p *Part) sayPlaced(tool string, first, longest int, each time.Duration, keepFirst bool) {
	switch {
	case len(p.Rows) == 0 && !keepFirst:
		p.note(first, "%s was started %d times with one report each, which is the mean since boot: it says nothing about a stall. Run: %s 1 60", tool, len(p.starts), tool)
		return
	case !keepFirst:
		p.note(first, "the first report of each of %d starts is the mean since boot and is left out", len(p.starts))
	}
	if p.Interval = stampedInterval(p.Rows); len(p.starts) > 1 && p.Interval > time.Duration(longest)*each {
		p.note(first, "%d samples of %v, one each %v: what was in between is taken to have been the same", len(p.Rows), time.Duration(longest)*each, p.Interval)
	}
}

// meanRow is the mean of rows that follow each other, at the time of the last.
func meanRow(rows []Row) Row {
	type sum struct {
		value Value
		n     int
	}
	byKey := map[string]*sum{}
	var order []string
	for _, row := range rows {
		for _, v := range row.Values {
			key := v.Series.Key()
			s := byKey[key]
			if s == nil {
				s = &sum{value: Value{v.Series, v.Kind, 0}}
				byKey[key] = s
				order = append(order, key)
			}
			s.value.V += v.V
			s.n++
		}
	}
	mean := Row{Line: rows[0].Line, At: rows[len(rows)-1].At}
	for _, key := range order {
		s := byKey[key]
		s.value.V /= float64(s.n)
		mean.Values = append(mean.Values, s.value)
	}
	return mean
}
