package host

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"testing"
)

func TestLiveStatfs(t *testing.T) {
	dir := t.TempDir()
	if err := os.Mkdir(filepath.Join(dir, "data"), 0o755); err != nil {
		t.Fatal(err)
	}
	statfs := LiveStatfs(dir)
	s, err := statfs("/data")
	if err != nil || s.SizeBytes <= 0 || s.AvailBytes > s.SizeBytes || s.FilesFree > s.Files {
		t.Errorf("statfs = %+v, %v; want sizes that fit each other", s, err)
	}
	if _, err := statfs("/nothing"); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("statfs of nothing = %v; want not exist", err)
	}
}
