package matrix

import (
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
)

func TestResultsGoOn(t *testing.T) {
	path := filepath.Join(t.TempDir(), "results")
	var want Matrix
	for _, mode := range []string{"a", "b"} {
		r, err := OpenResults(path)
		if err != nil || !reflect.DeepEqual(r.Earlier, want) {
			t.Fatalf("before %s: %+v, %v; want %+v", mode, r, err, want)
		}
		v := Judge(provoked(mode), nil, nil)
		v.Mode = mode
		if err := r.Add(v); err != nil {
			t.Fatal(err)
		}
		if err := r.Close(); err != nil {
			t.Fatal(err)
		}
		want = append(want, v)
	}
}

func TestResultsThatAreNone(t *testing.T) {
	for text, want := range map[string]string{
		"{\"mode\":\"a\"}\n{": ":2: want a verdict",
		"{}\n":                ":1: want a verdict of stalldrill matrix as a line of JSON: no mode",
		"provoked  times\n":   ":1: want a verdict",
	} {
		path := filepath.Join(t.TempDir(), "results")
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := OpenResults(path); err == nil || !strings.Contains(err.Error(), path+want) {
			t.Errorf("%q: %v, want %q", text, err, want)
		}
	}
	if _, err := OpenResults(t.TempDir()); err == nil {
		t.Error("a folder is taken for a file")
	}
}
