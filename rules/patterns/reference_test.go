package patterns

import (
	"bytes"
	_ "embed"
	"testing"

	"stallmark/collectors/logs/match"
)

//go:embed testdata/reference.tsv
var reference []byte

// TestReference goes through all texts that the products are known to print: each
// is taken by the pattern that is meant, and a text that proves nothing by none.
func TestReference(t *testing.T) {
	pack, problems := Load()
	if len(problems) > 0 {
		t.Fatal(problems)
	}
	set, err := match.New(pack.Patterns)
	if err != nil {
		t.Fatal(err)
	}
	known := map[string]bool{}
	for _, p := range pack.Patterns {
		known[p.ID] = true
	}
	var hit match.Hit
	n := 0
	for row := range bytes.Lines(reference) {
		if n++; row[0] == '#' {
			continue
		}
		id, line, ok := bytes.Cut(bytes.TrimRight(row, "\n"), []byte("\t"))
		want := string(id)
		if !ok || want != "-" && !known[want] {
			t.Errorf("reference.tsv:%d: no such pattern: %q", n, id)
			continue
		}
		got := "-"
		if set.Match(line, &hit) {
			got = hit.Pattern.ID
		}
		if got != want {
			t.Errorf("reference.tsv:%d: taken by %s, want %s: %s", n, got, want, line)
		}
	}
}
