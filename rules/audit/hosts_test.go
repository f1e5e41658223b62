package audit

import (
	"bytes"
	"encoding/json"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"
)

var update = flag.Bool("update", false, "write the golden files anew")

// TestHosts judges whole hosts. The results are golden files, which the command
// prints in its own test.
func TestHosts(t *testing.T) {
	paths, err := filepath.Glob(filepath.Join("testdata", "hosts", "*.yaml"))
	if err != nil || len(paths) < 2 {
		t.Fatal(paths, err)
	}
	for _, path := range paths {
		t.Run(filepath.Base(path), func(t *testing.T) {
			data, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			var f fixture
			if err := yaml.Unmarshal(data, &f); err != nil {
				t.Fatal(err)
			}
			results := f.run(t, builtInPack(t))
			for _, r := range results {
				complete(t, r)
			}
			compare(t, strings.TrimSuffix(path, ".yaml")+".json", results)
		})
	}
}

func compare(t *testing.T, path string, results []Result) {
	t.Helper()
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetIndent("", "  ")
	enc.SetEscapeHTML(false)
	if err := enc.Encode(results); err != nil {
		t.Fatal(err)
	}
	if *update {
		if err := os.WriteFile(path, b.Bytes(), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(b.Bytes(), want) {
		t.Errorf("%s differs (go test -update writes it anew):\n%s", path, b.String())
	}
}
