package logs

import (
	"context"
	"errors"
	"io/fs"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// TestKernel reads records from a pipe, which like the device gives what was
// written in one piece, if it is read in time.
func TestKernel(t *testing.T) {
	got := &collector{}
	boot := time.Date(2026, 3, 1, 0, 0, 0, 0, time.UTC)
	k := NewKernel("/nowhere", boot, func(*File) Consumer { return got }, nil)
	k.take([]byte("4,1,5000000,-;page allocation stalls for 12000ms\n SUBSYSTEM=x\n"))
	k.take([]byte("6,2,6000000,-;next\n"))
	if got.text() != "page allocation stalls for 12000ms\nnext" {
		t.Errorf("got %q", got.text())
	}
}

func TestKernelThatIsNotThere(t *testing.T) {
	path := filepath.Join(t.TempDir(), "kmsg")
	k := NewKernel(path, time.Time{}, func(*File) Consumer { return discard{} }, nil)
	if _, err := k.open(); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("got %v", err)
	}
	must(t, unix.Mkfifo(path, 0o600)) // cannot be sought in
	ctx, cancel := context.WithCancel(t.Context())
	var done sync.WaitGroup
	done.Go(func() { k.Run(ctx) })
	for k.Status().Problem == nil {
		time.Sleep(time.Millisecond)
	}
	cancel()
	done.Wait()
	if st := k.Status(); st.Found || coverageOf(st).State == "ok" {
		t.Errorf("status %+v", st)
	}
}
