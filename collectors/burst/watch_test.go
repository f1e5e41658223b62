package burst

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"stallmark/collectors"
)

// psiRoot is a host whose io and memory have been stalled for so long.
func psiRoot(io, memory time.Duration) *collectors.MapRoot {
	text := func(d time.Duration) []byte {
		return fmt.Appendf(nil, "some avg10=0.00 avg60=0.05 avg300=0.13 total=%d\nfull avg10=0.00 avg60=0.00 avg300=0.00 total=77\n",
			d.Microseconds())
	}
	return &collectors.MapRoot{Files: map[string][]byte{"proc/pressure/io": text(io), "proc/pressure/memory": text(memory)}}
}

// oldRoot is a host without PSI.
func oldRoot(blocked, dma, normal int) *collectors.MapRoot {
	return &collectors.MapRoot{
		Files: map[string][]byte{
			"proc/stat":   fmt.Appendf(nil, "cpu  1 2 3 4\nprocs_running 2\nprocs_blocked %d\n", blocked),
			"proc/vmstat": fmt.Appendf(nil, "nr_dirty 5\nallocstall_dma %d\nallocstall_normal %d\npgscan_direct 0\n", dma, normal),
		},
		Errs: map[string]error{"proc/pressure/io": unix.EOPNOTSUPP},
	}
}

// step is one look: when, at what, and whether it should see pressure.
type step struct {
	ms   int
	root collectors.Root
	what string // of the cause, empty for none
}

func runSteps(t *testing.T, w *Watch, steps []step) {
	t.Helper()
	for i, s := range steps {
		at := time.Unix(1000, 0).Add(time.Duration(s.ms) * time.Millisecond)
		c, pressed, err := w.Look(s.root, at)
		if err != nil {
			t.Fatalf("look %d: %v", i, err)
		}
		if c.What != s.what || pressed != (s.what != "") {
			t.Errorf("look %d at %d ms: %v %+v, want %q", i, s.ms, pressed, c, s.what)
		}
		if pressed && (!c.At.Equal(at) || !strings.HasPrefix(c.Text, c.What+": tasks stalled ")) {
			t.Errorf("look %d: cause %+v", i, c)
		}
	}
}

func TestWatchPSI(t *testing.T) {
	ms := func(io, memory int) collectors.Root {
		return psiRoot(time.Duration(io)*time.Millisecond, time.Duration(memory)*time.Millisecond)
	}
	tests := map[string][]step{
		"the first look has nothing to compare with": {{0, ms(9000, 0), ""}},
		"enough in one look":                         {{0, ms(0, 0), ""}, {250, ms(150, 0), "io"}},
		"enough in four looks": {
			{0, ms(0, 0), ""}, {250, ms(40, 0), ""}, {500, ms(80, 0), ""}, {750, ms(120, 0), ""}, {1000, ms(160, 0), "io"},
		},
		"too slow to add up in a second": {
			{0, ms(0, 0), ""}, {500, ms(60, 0), ""}, {1000, ms(120, 0), ""}, {1500, ms(180, 0), ""}, {2000, ms(240, 0), ""},
		},
		"memory":                     {{0, ms(0, 0), ""}, {250, ms(150, 151), "memory"}},
		"over when it is over":       {{0, ms(0, 0), ""}, {500, ms(0, 400), "memory"}, {2000, ms(0, 400), ""}, {2500, ms(0, 400), ""}},
		"rare looks, not enough":     {{0, ms(0, 0), ""}, {5000, ms(740, 0), ""}},
		"rare looks, enough":         {{0, ms(0, 0), ""}, {5000, ms(760, 0), "io"}},
		"the clock goes back":        {{5000, ms(0, 0), ""}, {1000, ms(900, 0), ""}, {1250, ms(1100, 0), "io"}},
		"the total goes back (boot)": {{0, ms(500, 0), ""}, {250, ms(0, 0), ""}, {500, ms(200, 0), ""}},
	}
	for name, steps := range tests {
		t.Run(name, func(t *testing.T) {
			w := NewWatch(150*time.Millisecond, time.Second)
			runSteps(t, w, steps)
			if w.NoPSI() != nil {
				t.Errorf("PSI taken for missing: %v", w.NoPSI())
			}
		})
	}
}

func TestWatchWithoutPSI(t *testing.T) {
	tests := map[string][]step{
		"one blocked look is ordinary I/O": {{0, oldRoot(0, 0, 0), ""}, {250, oldRoot(3, 0, 0), ""}, {500, oldRoot(0, 0, 0), ""}},
		"blocked at both ends":             {{0, oldRoot(1, 0, 0), ""}, {250, oldRoot(2, 0, 0), "io"}},
		"somebody reclaims":                {{0, oldRoot(0, 7, 7), ""}, {250, oldRoot(0, 7, 8), "memory"}},
		"an old count is no reclaim":       {{0, oldRoot(0, 7, 7), ""}, {250, oldRoot(0, 7, 7), ""}},
	}
	for name, steps := range tests {
		t.Run(name, func(t *testing.T) {
			w := NewWatch(150*time.Millisecond, time.Second)
			runSteps(t, w, steps)
			if w.NoPSI() == nil {
				t.Error("the reason for doing without PSI is missing")
			}
		})
	}
}

func TestWatchSaysWhatItCannotRead(t *testing.T) {
	garbled := psiRoot(0, 0)
	garbled.Files["proc/pressure/memory"] = []byte("some avg10=0.00 total=many\n")
	roots := map[string]collectors.Root{
		"garbled":     garbled,
		"nothing":     &collectors.MapRoot{},
		"io error":    &collectors.MapRoot{Errs: map[string]error{"proc/pressure/io": unix.EIO}},
		"stat only":   &collectors.MapRoot{Files: map[string][]byte{"proc/stat": nil}},
		"no newlines": &collectors.MapRoot{Files: map[string][]byte{"proc/pressure/io": []byte("full")}},
	}
	for name, root := range roots {
		if _, pressed, err := NewWatch(time.Second, time.Second).Look(root, time.Unix(1, 0)); err == nil || pressed {
			t.Errorf("%s: %v, %v; want an error", name, pressed, err)
		}
	}
}

func FuzzPSISome(f *testing.F) {
	f.Add([]byte("some avg10=0.00 avg60=0.05 avg300=0.13 total=14275482\nfull avg10=0.00 avg60=0.04 avg300=0.09 total=13063999\n"))
	f.Add([]byte("some total=99999999999999999999"))
	f.Add([]byte("some "))
	f.Fuzz(func(t *testing.T, data []byte) {
		if d, ok := psiSome(data); d < 0 || !ok && d != 0 {
			t.Errorf("%v, %v", d, ok)
		}
	})
}

func BenchmarkWatchLook(b *testing.B) {
	root := collectors.NewLiveRoot(collectors.Paths{Procfs: "/proc", Sysfs: "/sys", Rootfs: "/"})
	for name, w := range map[string]*Watch{
		"psi":    NewWatch(150*time.Millisecond, time.Second),
		"no-psi": {threshold: 150 * time.Millisecond, window: time.Second, noPSI: unix.EOPNOTSUPP},
	} {
		b.Run(name, func(b *testing.B) {
			at := time.Unix(0, 0)
			for b.Loop() {
				at = at.Add(250 * time.Millisecond)
				if _, _, err := w.Look(root, at); err != nil {
					b.Skip(err)
				}
			}
		})
	}
}
