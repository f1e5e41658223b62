package patterns

import (
	"compress/gzip"
	"flag"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"stallmark/collectors/logs/match"
)

var update = flag.Bool("update", false, "write testdata/real.golden anew")

// TestRealLogs goes through extracts of what RocketMQ and Kafka printed on
// loopback, started on a small heap, loaded and stopped for 12 s by SIGSTOP. The
// golden file has what is recognised, and the warnings that nothing recognises.
func TestRealLogs(t *testing.T) {
	pack, _ := Load()
	set, err := match.New(pack.Patterns)
	if err != nil {
		t.Fatal(err)
	}
	files, err := filepath.Glob("testdata/*.log.gz")
	if err != nil || len(files) == 0 {
		t.Fatal("no logs", err)
	}
	var got strings.Builder
	for _, file := range files {
		fmt.Fprintf(&got, "%s\n%s", filepath.Base(file), recognisedIn(t, set, file))
	}
	const golden = "testdata/real.golden"
	if *update {
		if err := os.WriteFile(golden, []byte(got.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(golden)
	if err != nil {
		t.Fatal(err)
	}
	if got.String() != string(want) {
		t.Errorf("differs from %s (-update writes it):\n%s", golden, got.String())
	}
}

func recognisedIn(t *testing.T, set *match.Set, file string) string {
	t.Helper()
	f, err := os.Open(file)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	z, err := gzip.NewReader(f)
	if err != nil {
		t.Fatal(err)
	}
	counts := map[string]int{}
	s := match.NewScanner(set)
	s.Recognised = func(r match.Record) {
		counts[string(r.Hit.Pattern.Proof)+" "+r.Hit.Pattern.ID]++
		if !r.Stamped {
			t.Errorf("%s:%d: no time: %s", file, r.Line, r.Text)
		}
	}
	s.Unknown = func(r match.Record) { counts["unknown "+match.Shape(r.Text)]++ }
	if err := s.Scan(z); err != nil {
		t.Fatal(err)
	}
	var out strings.Builder
	for _, id := range slices.Sorted(maps.Keys(counts)) {
		fmt.Fprintf(&out, "%5d %s\n", counts[id], id)
	}
	return out.String()
}
