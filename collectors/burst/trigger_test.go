package burst

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"golang.org/x/sys/unix"

	"stallmark/collectors"
	"stallmark/storage/model"
)

// fakeKernel fires when told.
type fakeKernel struct {
	fires    chan error // nil fires, an error is the end
	released bool
}

func (k *fakeKernel) wait() (Cause, error) {
	if err := <-k.fires; err != nil {
		return Cause{}, err
	}
	return Cause{What: "io", Text: "io: kernel"}, nil
}
func (k *fakeKernel) stop()    { k.fires <- errEnded }
func (k *fakeKernel) release() { k.released = true }

// growingRoot has io stalled for the given share of the time.
type growingRoot struct {
	collectors.Root
	start time.Time
	share float64
	reads int
}

func (r *growingRoot) Read(name string, buf []byte) ([]byte, error) {
	r.reads++
	stalled := time.Duration(r.share * float64(time.Since(r.start)))
	return psiRoot(stalled, 0).Read(name, buf)
}

// runTrigger runs a trigger for some time and counts what it fires.
func runTrigger(t *testing.T, tr *Trigger, d time.Duration) (fired []Cause) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), d)
	defer cancel()
	if err := tr.Run(ctx, func(c Cause) { fired = append(fired, c) }); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("run ended with %v", err)
	}
	return fired
}

func gapOf(t *testing.T, err error) *collectors.Gap {
	t.Helper()
	gap, ok := errors.AsType[*collectors.Gap](err)
	if !ok {
		t.Fatalf("%v is no gap", err)
	}
	return gap
}

func TestTriggerUsesTheKernelsFineTriggersAlone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		k := &fakeKernel{fires: make(chan error)}
		root := &growingRoot{start: time.Now(), share: 1}
		tr := NewTrigger(TriggerConfig{
			Root: root, Now: time.Now, Procfs: "p", open: func(string) (waiter, error) { return k, nil },
		})
		start := time.Now()
		time.AfterFunc(3*time.Second, func() { k.fires <- nil })
		fired := runTrigger(t, tr, 10*time.Second)
		if len(fired) != 1 || fired[0].At.Sub(start) != 3*time.Second || fired[0].Text != "io: kernel" {
			t.Errorf("fired %+v, want once after 3 s", fired)
		}
		if root.reads != 0 || !k.released {
			t.Errorf("%d looks, released %v; want none and the files closed", root.reads, k.released)
		}
		if gap := gapOf(t, tr.How()); gap.State != model.SourceOK || gap.Mend != "" {
			t.Errorf("coverage %+v", gap)
		}
	})
}

func TestTriggerFallsBackToLooking(t *testing.T) {
	tests := map[string]struct {
		procfs string
		err    error
		detail string
		mend   string
	}{
		"recording":     {detail: "no proc file system"},
		"old kernel":    {procfs: "p", err: fs.ErrNotExist, detail: "does not exist", mend: "5.2"},
		"psi=0":         {procfs: "p", err: unix.EOPNOTSUPP, detail: "not supported", mend: "psi=1"},
		"no capability": {procfs: "p", err: unix.EPERM, detail: "not permitted", mend: "CAP_SYS_RESOURCE"},
		"coarse only":   {procfs: "p", err: errCoarse, detail: "every 2 s", mend: "CAP_SYS_RESOURCE"},
		"refused":       {procfs: "p", err: unix.EBUSY, detail: "busy"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				tr := NewTrigger(TriggerConfig{
					Root: &growingRoot{start: time.Now(), share: 0.2}, Now: time.Now, Procfs: tt.procfs,
					open: func(string) (waiter, error) { return nil, tt.err },
				})
				if fired := runTrigger(t, tr, 2*time.Second); len(fired) == 0 {
					t.Error("the watch did not fire")
				}
				gap := gapOf(t, tr.How())
				if !strings.Contains(gap.Detail, tt.detail) || !strings.Contains(gap.Mend, tt.mend) {
					t.Errorf("coverage %+v, want %q and %q", gap, tt.detail, tt.mend)
				}
			})
		})
	}
}

func TestTriggerGoesOnWhenTheKernelsTriggersEnd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		k := &fakeKernel{fires: make(chan error, 1)}
		k.fires <- errors.New("trigger is gone")
		tr := NewTrigger(TriggerConfig{
			Root: &growingRoot{start: time.Now(), share: 0.5}, Now: time.Now, Procfs: "p",
			open: func(string) (waiter, error) { return k, nil },
		})
		if fired := runTrigger(t, tr, 3*time.Second); len(fired) == 0 || !k.released {
			t.Errorf("fired %v, released %v", fired, k.released)
		}
		if gap := gapOf(t, tr.How()); !strings.Contains(gap.Detail, "trigger is gone") {
			t.Errorf("coverage %+v", gap)
		}
	})
}

func TestTriggerSaysThatItCannotRead(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		tr := NewTrigger(TriggerConfig{Root: &collectors.MapRoot{}, Now: time.Now})
		if fired := runTrigger(t, tr, time.Second); len(fired) != 0 {
			t.Errorf("fired %v", fired)
		}
		if err := tr.How(); err == nil || !strings.Contains(err.Error(), "cannot be read") {
			t.Errorf("coverage %v", err)
		}
	})
}

func TestTriggerFillsTheRing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ring := NewRing([]string{"proc/pressure/io"}, time.Minute, 1<<20)
		k := &fakeKernel{fires: make(chan error)}
		tr := NewTrigger(TriggerConfig{
			Root: &growingRoot{start: time.Now()}, Now: time.Now, Procfs: "p", Period: 100 * time.Millisecond, Ring: ring,
			open: func(string) (waiter, error) { return k, nil },
		})
		runTrigger(t, tr, time.Second+50*time.Millisecond)
		if n, _, _ := ring.Held(); n != 10 {
			t.Errorf("%d readings, want 10", n)
		}
	})
}

// TestTriggerText holds what the kernel demands: the last byte is lost to it.
func TestTriggerText(t *testing.T) {
	if got := triggerText(); got != "some 150000 1000000\n" {
		t.Errorf("%q", got)
	}
}

func TestOpenKernelNamesWhatFailed(t *testing.T) {
	dir := t.TempDir()
	if _, err := openKernel(dir); !errors.Is(err, fs.ErrNotExist) || !strings.Contains(err.Error(), "io") {
		t.Errorf("error %v", err)
	}
	// Ordinary files take the text, so opening works; poll finds nothing urgent.
	for _, what := range psiResources {
		if err := os.MkdirAll(filepath.Join(dir, "pressure"), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, "pressure", what), nil, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	k, err := openKernel(dir)
	if err != nil {
		t.Fatal(err)
	}
	k.stop()
	if _, err := k.wait(); !errors.Is(err, errEnded) {
		t.Errorf("wait ended with %v", err)
	}
	k.release()
	got, _ := os.ReadFile(filepath.Join(dir, "pressure", "io"))
	if string(got) != triggerText() {
		t.Errorf("written %q", got)
	}
}

// TestLiveKernelTriggers sets triggers in the running kernel and takes them
// away again. A root without CAP_SYS_RESOURCE can run it in a user namespace of
// its own: unshare -Ur go test -run LiveKernel -v ./collectors/burst
func TestLiveKernelTriggers(t *testing.T) {
	k, err := openKernel("/proc")
	if err != nil {
		if errors.Is(err, fs.ErrNotExist) || errors.Is(err, fs.ErrPermission) || errors.Is(err, unix.EOPNOTSUPP) ||
			errors.Is(err, unix.EROFS) || errors.Is(err, errCoarse) {
			t.Skipf("no PSI triggers here: %v", err)
		}
		t.Fatal(err)
	}
	defer k.release()
	k.stop()
	if _, err := k.wait(); err != nil && !errors.Is(err, errEnded) {
		t.Error(err)
	}
}

// BenchmarkTrigger is what waiting for pressure costs a second, timers and
// wake-ups included.
func BenchmarkTrigger(b *testing.B) {
	root := collectors.NewLiveRoot(collectors.Paths{Procfs: "/proc", Sysfs: "/sys", Rootfs: "/"})
	ring := NewRing(PrerollFiles(), 10*time.Second, 4<<20)
	for name, cfg := range map[string]TriggerConfig{
		"watch-250ms":           {},
		"watch-and-ring-250ms":  {Ring: ring},
		"watch-and-ring-100ms":  {Ring: ring, Period: 100 * time.Millisecond},
		"kernel-alone":          {Procfs: "p"},
		"kernel-and-ring-250ms": {Procfs: "p", Ring: ring},
	} {
		cfg.Root, cfg.Now = root, time.Now
		cfg.open = func(string) (waiter, error) {
			return &fakeKernel{fires: make(chan error)}, nil
		}
		b.Run(name, func(b *testing.B) {
			before, seconds := cpuTime(b), 0.0
			for b.Loop() {
				ctx, cancel := context.WithTimeout(b.Context(), 4*time.Second)
				_ = NewTrigger(cfg).Run(ctx, func(Cause) {})
				cancel()
				seconds += 4
			}
			b.ReportMetric(float64((cpuTime(b)-before).Microseconds())/seconds, "cpu-us/s")
		})
	}
}

// cpuTime is what this process has used so far.
func cpuTime(b *testing.B) time.Duration {
	b.Helper()
	var u unix.Rusage
	if err := unix.Getrusage(unix.RUSAGE_SELF, &u); err != nil {
		b.Fatal(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
