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

// TestMarksOfLanesKeepClear puts many changes close together: no text below the
// swimlanes runs into another one of its row.
func TestMarksOfLanesKeepClear(t *testing.T) {
	var moments []Mark
	for i := range 12 {
		moments = append(moments, Mark{at(30 + 5*i), "vm.dirty_background_bytes 0 to 32 MiB, and more of it"})
	}
	lanes := LayLanes(nil, moments, at(0), at(100))
	ends, shown := map[int]float64{}, 0
	for _, m := range lanes.Marks {
		if m.Row < 0 {
			continue
		}
		shown++
		from, to := m.rel, m.rel+float64(len(m.Text))*letterWidth
		if m.Anchor == "end" {
			from, to = m.rel-float64(len(m.Text))*letterWidth, m.rel
		}
		if last, ok := ends[m.Row]; ok && from < last {
			t.Errorf("%q at %.2f runs into the text before it in row %d, which ends at %.2f", m.Text, from, m.Row, last)
		}
		ends[m.Row] = to
	}
	if shown < markRows || shown == len(lanes.Marks) {
		t.Errorf("%d of %d texts are shown: too few, or the test is too easy", shown, len(lanes.Marks))
	}
}
