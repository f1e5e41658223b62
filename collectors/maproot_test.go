package collectors_test

import (
	"errors"
	"io/fs"
	"slices"
	"syscall"
	"testing"

	"stallmark/collectors"
)

const tree = `a comment
-- proc/loadavg --
0.50 0.40 0.30 2/345 6789
-- proc/1/task/ --
-- proc/empty --
-- sys/block/vda -> ../devices/pci/vda --
-- sys/devices/pci/vda/size --
2048
-- sys/devices/pci/vda/bdi -> /sys/bdi --
-- sys/bdi/stable --
1
-- sys/loop -> loop --
-- proc/pressure/io ! EOPNOTSUPP --
-- proc/secret ! EACCES --
`

func mustTree(t *testing.T, text string) *collectors.MapRoot {
	t.Helper()
	r, err := collectors.ParseMapRoot(text)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func TestMapRootRead(t *testing.T) {
	r := mustTree(t, tree)
	for name, want := range map[string]string{
		"proc/loadavg":             "0.50 0.40 0.30 2/345 6789\n",
		"proc/empty":               "",
		"sys/block/vda/size":       "2048\n",
		"sys/block/vda/bdi/stable": "1\n",
	} {
		got, err := r.Read(name, make([]byte, 3, 8))
		if err != nil || string(got) != want {
			t.Errorf("Read(%q) = %q, %v; want %q", name, got, err, want)
		}
	}
	for name, want := range map[string]error{
		"proc/nothing":     fs.ErrNotExist,
		"proc/load":        fs.ErrNotExist,
		"proc/pressure/io": syscall.EOPNOTSUPP,
		"proc/secret":      fs.ErrPermission,
		"proc/secret/x":    fs.ErrPermission,
		"proc/1":           syscall.EISDIR,
		"sys/loop":         syscall.ELOOP,
	} {
		if _, err := r.Read(name, nil); !errors.Is(err, want) {
			t.Errorf("Read(%q) = %v; want %v", name, err, want)
		}
	}
}

func TestMapRootReadDir(t *testing.T) {
	r := mustTree(t, tree)
	for name, want := range map[string][]string{
		"proc":          {"1", "empty", "loadavg", "pressure", "secret"},
		"proc/1/task":   {},
		"proc/pressure": {"io"},
		"sys/block/vda": {"bdi", "size"},
	} {
		got, err := r.ReadDir(name)
		if err != nil || !slices.Equal(got, want) {
			t.Errorf("ReadDir(%q) = %q, %v; want %q", name, got, err, want)
		}
	}
	if _, err := r.ReadDir("proc/loadavg"); !errors.Is(err, syscall.ENOTDIR) {
		t.Errorf("ReadDir of a file = %v; want ENOTDIR", err)
	}
	if _, err := r.ReadDir("proc/load"); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("ReadDir of nothing = %v; want not exist", err)
	}
}

func TestMapRootReadLink(t *testing.T) {
	r := mustTree(t, tree)
	if got, err := r.ReadLink("sys/block/vda/bdi"); err != nil || got != "/sys/bdi" {
		t.Errorf("ReadLink through a link = %q, %v; want /sys/bdi", got, err)
	}
	if _, err := r.ReadLink("proc/loadavg"); !errors.Is(err, syscall.EINVAL) {
		t.Errorf("ReadLink of a file = %v; want EINVAL", err)
	}
}

func TestParseMapRootUnknownError(t *testing.T) {
	if _, err := collectors.ParseMapRoot("x\n-- proc/a ! EWHAT --\n"); err == nil || err.Error()[:7] != "line 2:" {
		t.Errorf("got %v; want an error that names line 2", err)
	}
}
