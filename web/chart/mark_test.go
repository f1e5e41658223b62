package chart

import (
	"bytes"
	"strings"
	"testing"
)

// TestManyMarksAreFolded lists few marks openly and many behind a summary; each
// has a letter of its own as long as there are letters.
func TestManyMarksAreFolded(t *testing.T) {
	for _, n := range []int{0, 2, 3, 30} {
		c := base(Series{Points: points(1, 1, 2)})
		for i := range n {
			c.Marks = append(c.Marks, Mark{at(2 * i), "vm.x " + letterOf(i)})
		}
		fig := Lay(c)
		var buf bytes.Buffer
		if err := Draw(fig).Render(t.Context(), &buf); err != nil {
			t.Fatal(err)
		}
		page := buf.String()
		if got := strings.Count(page, `class="moment"`); got != n || len(fig.Marks) != n {
			t.Errorf("%d of %d marks can be reached", got, n)
		}
		if folded := strings.Contains(page, `<details class="marked"`); folded != (n > marksOpen) {
			t.Errorf("%d marks are folded: %v", n, folded)
		}
		if listed := strings.Count(page, "<li title="); listed != n {
			t.Errorf("%d of %d marks are listed", listed, n)
		}
	}
	if got := (Figure{Marks: []MarkLine{{Letter: "A"}, {Letter: "B"}, {Letter: "C"}}}).marksTitle(); got != "A to C: 3 changes" {
		t.Errorf("the summary is %q", got)
	}
}
