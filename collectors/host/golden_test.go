package host

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestGolden reads each tree of testdata once with all sources and compares
// everything that they gave. `go test -update` writes the goldens anew.
func TestGolden(t *testing.T) {
	trees, err := filepath.Glob("testdata/*.tree")
	if err != nil || len(trees) == 0 {
		t.Fatalf("no trees: %v", err)
	}
	for _, path := range trees {
		name := strings.TrimSuffix(filepath.Base(path), ".tree")
		t.Run(name, func(t *testing.T) {
			config := Config{}
			if strings.Contains(name, "64k") {
				config.PageSize = 65536
			}
			r := newReader(t, Sources(config)...)
			r.read(treeFile(t, name))
			compareGolden(t, filepath.Join("testdata", name+".golden"), r.dump())
		})
	}
}

func compareGolden(t *testing.T, path string, got []byte) {
	t.Helper()
	if *update {
		if err := os.WriteFile(path, got, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if bytes.Equal(got, want) {
		return
	}
	gotLines, wantLines := strings.Split(string(got), "\n"), strings.Split(string(want), "\n")
	for i := range min(len(gotLines), len(wantLines)) {
		if gotLines[i] != wantLines[i] {
			t.Fatalf("%s line %d:\n got %s\nwant %s", path, i+1, gotLines[i], wantLines[i])
		}
	}
	t.Fatalf("%s: got %d lines, want %d", path, len(gotLines), len(wantLines))
}
