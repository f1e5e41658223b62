package matrix

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"text/tabwriter"
)

// Matrix is all verdicts, in the order in which they were reached.
type Matrix []Verdict

// Wrong counts the verdicts that are wrong, and those that prove nothing.
func (m Matrix) Wrong() (wrong, spoilt int) {
	for _, v := range m {
		switch {
		case v.Spoilt != "":
			spoilt++
		case !v.Right:
			wrong++
		}
	}
	return wrong, spoilt
}

// Print writes the confusion matrix. A cell says in how many of the drills a
// signature was said, and after how many seconds at the latest; what was wanted
// has a star, what was not there an exclamation mark, what only was true before
// stands in brackets.
func (m Matrix) Print(w io.Writer) {
	columns := m.columns()
	out := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintf(out, "provoked\ttimes\tright\t%s\n", strings.Join(columns, "\t"))
	for _, mode := range m.modes() {
		times, right := 0, 0
		cells := map[string]*cell{}
		for _, v := range m {
			if v.Mode != mode || v.Spoilt != "" {
				continue
			}
			times++
			if v.Right {
				right++
			}
			counted := map[string]bool{} // several subjects are one word
			for _, word := range v.Said {
				if cells[word.Signature] == nil {
					cells[word.Signature] = &cell{}
				}
				cells[word.Signature].add(word, !counted[word.Signature])
				counted[word.Signature] = true
			}
		}
		fmt.Fprintf(out, "%s\t%d\t%d", mode, times, right)
		for _, c := range columns {
			fmt.Fprintf(out, "\t%s", cells[c])
		}
		fmt.Fprintln(out)
	}
	out.Flush()
	m.printReasons(w)
}

func (m Matrix) printReasons(w io.Writer) {
	for i, v := range m {
		why := strings.Join(v.Wrong, "; ")
		if v.Spoilt != "" {
			why = "proves nothing: " + v.Spoilt
		}
		if why == "" {
			continue
		}
		if v.Kept != "" {
			why += "; recording: " + v.Kept
		}
		fmt.Fprintf(w, "drill %d, %s: %s\n", i+1, v.Mode, why)
	}
	wrong, spoilt := m.Wrong()
	fmt.Fprintf(w, "%d drills, %d wrong, %d prove nothing\n", len(m), wrong, spoilt)
}

// cell is one signature in the row of one mode.
type cell struct {
	times  int
	latest float64
	wanted bool
	untrue bool
	now    bool // said of the drill at least once, not only of what was before
}

func (c *cell) add(w Word, first bool) {
	if first {
		c.times++
		c.latest = max(c.latest, w.Seconds)
	}
	c.wanted = c.wanted || w.Kind == Wanted
	c.untrue = c.untrue || w.Kind == Untrue
	c.now = c.now || w.Kind != Earlier
}

// String implements fmt.Stringer.
func (c *cell) String() string {
	if c == nil {
		return "."
	}
	text := fmt.Sprintf("%d, %.0f s", c.times, c.latest)
	switch {
	case c.untrue:
		return "!" + text
	case c.wanted:
		return "*" + text
	case !c.now:
		return "(" + text + ")"
	}
	return text
}

// modes are the rows, in their first order.
func (m Matrix) modes() []string {
	var modes []string
	for _, v := range m {
		if !slices.Contains(modes, v.Mode) {
			modes = append(modes, v.Mode)
		}
	}
	return modes
}

// columns are all signatures that were said.
func (m Matrix) columns() []string {
	var columns []string
	for _, v := range m {
		for _, w := range v.Said {
			if v.Spoilt == "" && !slices.Contains(columns, w.Signature) {
				columns = append(columns, w.Signature)
			}
		}
	}
	slices.Sort(columns)
	return columns
}
