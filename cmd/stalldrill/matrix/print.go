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

// Print writes the confusion matrix as a table of Markdown. A cell says in how
// many of the drills a signature was said, and after how many seconds: the
// median and the worst. What was wanted has a star, what was not there an
// exclamation mark, what only was true before stands in brackets. The last
// column is what the victim felt most.
func (m Matrix) Print(w io.Writer) {
	columns := m.columns()
	out := tabwriter.NewWriter(w, 0, 0, 1, ' ', 0)
	line := func(cells ...string) { fmt.Fprintf(out, "| %s\t|\n", strings.Join(cells, "\t| ")) }
	line(slices.Concat([]string{"provoked", "right"}, columns, []string{"felt: p99 before, in it"})...)
	line(slices.Repeat([]string{"---"}, len(columns)+3)...)
	for _, mode := range m.modes() {
		of := m.of(mode)
		right := 0
		cells := map[string]*cell{}
		for _, v := range of {
			if v.Right {
				right++
			}
			v.count(cells)
		}
		row := []string{mode, fmt.Sprintf("%d of %d", right, len(of))}
		for _, c := range columns {
			row = append(row, cells[c].String())
		}
		line(append(row, of.felt())...)
	}
	out.Flush()
	m.printReasons(w)
}

// of are the verdicts on one mode that prove something.
func (m Matrix) of(mode string) Matrix {
	return slices.DeleteFunc(slices.Clone(m), func(v Verdict) bool { return v.Mode != mode || v.Spoilt != "" })
}

// count adds the words of a verdict to its row.
func (v Verdict) count(cells map[string]*cell) {
	counted := map[string]bool{} // several subjects are one word
	for _, word := range v.Said {
		if cells[word.Signature] == nil {
			cells[word.Signature] = &cell{}
		}
		cells[word.Signature].add(word, !counted[word.Signature])
		counted[word.Signature] = true
	}
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
	seconds []float64 // one for each drill in which it was said
	wanted  bool
	untrue  bool
	now     bool // said of the drill at least once, not only of what was before
}

func (c *cell) add(w Word, first bool) {
	if first {
		c.seconds = append(c.seconds, w.Seconds)
	}
	c.wanted = c.wanted || w.Kind == Wanted
	c.untrue = c.untrue || w.Kind == Untrue
	c.now = c.now || w.Kind != Earlier
}

// String implements fmt.Stringer.
func (c *cell) String() string {
	if c == nil {
		return ""
	}
	text := fmt.Sprintf("%d: %.1f, %.1f s", len(c.seconds), median(c.seconds), slices.Max(c.seconds))
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
