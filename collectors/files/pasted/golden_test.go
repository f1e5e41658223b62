package pasted

import (
	"bytes"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"stallmark/storage/model"
)

var update = flag.Bool("update", false, "write the golden files")

// TestGolden reads every text of testdata and compares what was understood:
// each piece with its lines, its remarks and the values of its last row.
func TestGolden(t *testing.T) {
	names, err := filepath.Glob("testdata/*.txt")
	if err != nil || len(names) == 0 {
		t.Fatal(names, err)
	}
	for _, name := range names {
		t.Run(filepath.Base(name), func(t *testing.T) {
			data, err := os.ReadFile(name)
			if err != nil {
				t.Fatal(err)
			}
			got := dump(Read(filepath.Base(name), data, Options{}))
			golden := strings.TrimSuffix(name, ".txt") + ".golden"
			if *update {
				if err := os.WriteFile(golden, got, 0o644); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(golden)
			if err != nil {
				t.Fatal(err)
			}
			if !bytes.Equal(got, want) {
				t.Errorf("got:\n%s\nwant:\n%s", got, want)
			}
		})
	}
}

// dump writes what a text was understood to be.
func dump(text Text) []byte {
	var b bytes.Buffer
	for _, p := range text.Parts {
		fmt.Fprintf(&b, "%d-%d %s every %v\n", p.From, p.To, p.Format, p.Interval)
		for _, s := range p.Says {
			fmt.Fprintf(&b, "  says: %s\n", s)
		}
		for _, n := range p.Signs {
			fmt.Fprintf(&b, "  sign: line %d: %s\n", n.Line, n.Text)
		}
		for _, n := range p.Notes {
			fmt.Fprintf(&b, "  note: line %d: %s\n", n.Line, n.Text)
		}
		for _, row := range p.Rows {
			fmt.Fprintf(&b, "  row of line %d %s\n", row.Line, stamp(row.At))
		}
		if n := len(p.Rows); n > 0 {
			var lines []string
			for _, v := range p.Rows[n-1].Values {
				lines = append(lines, fmt.Sprintf("    %s %s %.6g\n", seriesText(v.Series), [...]string{"=", "+", "total"}[v.Kind], v.V))
			}
			slices.Sort(lines)
			b.WriteString(strings.Join(lines, ""))
		}
		for _, f := range p.Files {
			fmt.Fprintf(&b, "  file of line %d %s %s: %q\n", f.Line, f.Path, stamp(f.At), f.Data)
		}
		for _, e := range p.Events {
			fmt.Fprintf(&b, "  event %s %s: %s %v\n", stamp(e.From), stamp(e.To), e.Text, e.Attrs)
		}
	}
	for _, l := range text.Left {
		fmt.Fprintf(&b, "%d-%d not known: %q\n", l.From, l.To, l.Text)
	}
	return b.Bytes()
}

func seriesText(s *model.Series) string {
	var labels []string
	for _, l := range s.Labels {
		labels = append(labels, fmt.Sprintf("%s=%q", l.Name, l.Value))
	}
	return s.Name + "{" + strings.Join(labels, ",") + "}"
}

func stamp(at time.Time) string {
	if at.IsZero() {
		return "no time"
	}
	return at.UTC().Format(time.RFC3339)
}
