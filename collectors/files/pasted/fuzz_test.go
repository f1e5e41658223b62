package pasted

import (
	"math"
	"os"
	"path/filepath"
	"testing"
	"time"

	"stallmark/collectors"
)

// FuzzRead wants every line of any text to be in exactly one piece or left
// over, in order, and every value to be a number.
func FuzzRead(f *testing.F) {
	names, err := filepath.Glob("testdata/*.txt")
	if err != nil {
		f.Fatal(err)
	}
	for _, name := range names {
		data, err := os.ReadFile(name)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(data)
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		text := Read("x", data, Options{})
		last := 0
		for _, p := range text.Parts {
			if p.From <= last || p.To < p.From || p.To > text.Lines {
				t.Fatalf("piece %s of lines %d to %d after %d of %d", p.Format, p.From, p.To, last, text.Lines)
			}
			last = p.To
			for _, row := range p.Rows {
				for _, v := range row.Values {
					if math.IsNaN(v.V) || math.IsInf(v.V, 0) {
						t.Fatalf("%s: %s is %v", p.Format, v.Series.Name, v.V)
					}
				}
			}
		}
		for _, l := range text.Left {
			for _, p := range text.Parts {
				if l.From <= p.To && p.From <= l.To {
					t.Fatalf("lines %d to %d are left over and in %s", l.From, l.To, p.Format)
				}
			}
		}
		replay(NewTimeline([]Text{text}, time.Unix(1e9, 0)), 200)
	})
}

// replay runs the source over at most n beats.
func replay(line *Timeline, n int) (beats int) {
	src, out := NewSource(line), collectors.NewOut("pasted")
	for b := range line.Beats {
		out.Reset(b.At)
		if src.Collect(b.Root, out) != nil {
			panic("the source failed")
		}
		if beats++; beats == n {
			break
		}
	}
	return beats
}
