package pasted

import "slices"

// leastAlike is how many readings of one kind in a row become one piece: a
// collector's file has hundreds of them, and two or three are somebody's own.
const leastAlike = 4

// joinAlike makes one part of many readings of one kind that follow each other: of
// free, top or ps, or copies of a file. What the heaviest of them says is kept.
func joinAlike(parts []*Part) []*Part {
	var out []*Part
	for i := 0; i < len(parts); {
		n := i + 1
		for n < len(parts) && alike(parts[i], parts[n]) {
			n++
		}
		if n-i < leastAlike {
			out = append(out, parts[i:n]...)
		} else {
			out = append(out, joined(parts[i:n]))
		}
		i = n
	}
	return out
}

// alike reports whether two parts are readings of the same thing.
func alike(a, b *Part) bool {
	if a.Format != b.Format || a.Logged || b.Logged || a.Interval != 0 || b.Interval != 0 || len(a.Facts)+len(b.Facts) > 0 {
		return false
	}
	return slices.Contains([]string{"meminfo", "vmstat file", "free", "top", "ps", "interrupts"}, a.Format)
}

// joined is readings of one kind as one part.
func joined(parts []*Part) *Part {
	p, heaviest := *parts[0], parts[0]
	p.To = parts[len(parts)-1].To
	p.Rows, p.Files, p.Events, p.Signs, p.Notes, p.Says = nil, nil, nil, nil, nil, nil
	for _, one := range parts {
		if max(one.weight, len(one.Signs)) > max(heaviest.weight, len(heaviest.Signs)) {
			heaviest = one
		}
		p.Rows, p.Files, p.Events = append(p.Rows, one.Rows...), append(p.Files, one.Files...), append(p.Events, one.Events...)
	}
	p.say("%d readings; what follows is of lines %d to %d, which tell most", len(parts), heaviest.From, heaviest.To)
	p.Says, p.Notes = append(p.Says, heaviest.Says...), heaviest.Notes
	p.Signs = heaviest.Signs
	p.Interval = stampedInterval(p.Rows)
	return &p
}
