package collectors

import (
	"bytes"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"golang.org/x/sys/unix"

	"stallmark/storage/model"
)

func TestLiveRootReadsTreesAndRefusesOthers(t *testing.T) {
	dir := t.TempDir()
	big := bytes.Repeat([]byte("0123456789abcdef"), 4096)
	if err := os.WriteFile(filepath.Join(dir, "vmstat"), big, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("../devices/vda", filepath.Join(dir, "vda")); err != nil {
		t.Fatal(err)
	}
	r := NewLiveRoot(Paths{Procfs: dir, Sysfs: dir, Rootfs: dir})
	for _, name := range []string{"proc/vmstat", "sys/vmstat", "root/vmstat"} {
		got, err := r.Read(name, make([]byte, 0, 16))
		if err != nil || !bytes.Equal(got, big) {
			t.Errorf("%s: %d bytes, %v; want %d", name, len(got), err, len(big))
		}
	}
	if _, err := r.Read("etc/shadow", nil); !errors.Is(err, fs.ErrInvalid) {
		t.Errorf("a name outside the trees: %v, want fs.ErrInvalid", err)
	}
	if _, err := r.Read("proc/none", nil); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a missing file: %v, want fs.ErrNotExist", err)
	}
	if to, err := r.ReadLink("sys/vda"); err != nil || to != "../devices/vda" {
		t.Errorf("link %q, %v", to, err)
	}
	if names, err := r.ReadDir("proc"); err != nil || len(names) != 2 {
		t.Errorf("names %v, %v; want two", names, err)
	}
}

func TestLiveRootNeverBlocksOnAFIFO(t *testing.T) {
	dir := t.TempDir()
	if err := unix.Mkfifo(filepath.Join(dir, "fifo"), 0o600); err != nil {
		t.Fatal(err)
	}
	r := NewLiveRoot(Paths{Procfs: dir})
	if got, err := r.Read("proc/fifo", nil); err != nil || len(got) != 0 {
		t.Errorf("a FIFO without a writer: %q, %v; want nothing at once", got, err)
	}
}

func TestGapOf(t *testing.T) {
	tests := []struct {
		err  error
		want model.SourceState
	}{
		{&fs.PathError{Op: "open", Path: "p", Err: unix.ENOENT}, model.SourceAbsent},
		{&fs.PathError{Op: "read", Path: "p", Err: unix.EOPNOTSUPP}, model.SourceAbsent},
		{&fs.PathError{Op: "open", Path: "p", Err: unix.EACCES}, model.SourceDenied},
		{&fs.PathError{Op: "open", Path: "p", Err: unix.EPERM}, model.SourceDenied},
		{&fs.PathError{Op: "read", Path: "p", Err: unix.EIO}, model.SourceFailed},
	}
	for _, tt := range tests {
		if got := coverageOf(GapOf("proc/x", tt.err, "")).State; got != tt.want {
			t.Errorf("%v: %s, want %s", tt.err, got, tt.want)
		}
	}
}
