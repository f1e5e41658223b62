package process

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"golang.org/x/sys/unix"
)

// namesIn lists a folder below a root folder as somebody.
func namesIn(t *testing.T, root string, who credentials, path string, limit int) ([]string, error) {
	t.Helper()
	fd, err := unix.Open(root, unix.O_PATH|unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
	must(t, err)
	w := walker{who: who, self: "/proc/self/fd", dirs: []int{fd}}
	defer w.close()
	names, err := w.list(path, limit)
	slices.Sort(names)
	return names, err
}

func TestListFolder(t *testing.T) {
	root := jail(t)
	must(t, os.MkdirAll(filepath.Join(root, "etc/hidden"), 0o711))
	must(t, os.Chmod(filepath.Join(root, "etc/hidden"), 0o711))
	for _, c := range []struct {
		path string
		want []string
		err  error
	}{
		{"/etc/open", []string{"conf"}, nil},
		{"/etc/dirlink", []string{"conf"}, nil},
		{"/data", nil, nil},
		{"/../data/..", []string{"data", "etc", "outside"}, nil}, // the root's parent is the root
		{"/etc/private", nil, ErrRefused},
		{"/etc/hidden", nil, ErrRefused}, // may be entered, not listed
		{"/etc/open/conf", nil, unix.ENOTDIR},
		{"/etc/open/conf/x", nil, unix.ENOTDIR},
		{"/etc/fifo", nil, ErrRefused},
		{"/etc/none", nil, unix.ENOENT},
	} {
		names, err := namesIn(t, root, someone, c.path, 100)
		if !slices.Equal(names, c.want) || !errors.Is(err, c.err) {
			t.Errorf("%s: %q %v, want %q %v", c.path, names, err, c.want, c.err)
		}
	}
	if names, err := namesIn(t, root, me(), "/etc", 3); len(names) != 3 || err != nil {
		t.Errorf("%q %v, want three names", names, err)
	}
}

func TestProcesses(t *testing.T) {
	w := NewWatched()
	b := newBench(t, Config{Files: fakeFiles{"/etc/server.properties": "log.dirs=/d1,/d2\n"}, Watched: w})
	if len(w.Processes()) != 0 {
		t.Error("processes before anything was found")
	}
	b.beat(newBrokerTree())
	got := w.Processes()
	if len(got) != 1 || got[0].Name != roleKafkaBroker || got[0].Role != roleKafkaBroker || got[0].Pid != 42 {
		t.Fatalf("%+v, want the broker", got)
	}
	if store := b.got.facts["process.42.store"]; got[0].Store != store || store == "" {
		t.Errorf("store %q, the fact says %q", got[0].Store, store)
	}
}

func TestOpenFolderIsCheckedAsAListingIs(t *testing.T) {
	root := jail(t)
	for path, want := range map[string]error{"/etc/open": nil, "/etc/private": ErrRefused, "/etc/open/conf": unix.ENOTDIR} {
		fd, err := unix.Open(root, unix.O_PATH|unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
		must(t, err)
		w := walker{who: someone, self: "/proc/self/fd", dirs: []int{fd}}
		f, err := w.folder(path)
		if !errors.Is(err, want) {
			t.Errorf("%s: %v, want %v", path, err, want)
		}
		if f != nil {
			f.Close()
		}
		w.close()
	}
}
