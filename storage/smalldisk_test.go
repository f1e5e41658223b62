package storage

import (
	"context"
	"fmt"
	"log/slog"
	"math"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/prometheus/prometheus/model/labels"
	"golang.org/x/sys/unix"

	"stallmark/storage/model"
)

// What a full or read-only file system does is tried on a real one: a small
// tmpfs that the child mounts over the data folder, in namespaces of its own.

// mountEnv is the size of the tmpfs, or "ro" for one that cannot be written to.
const mountEnv = "STALLMARK_TEST_MOUNT"

// mountedChild is a child on a file system of its own.
func mountedChild(path string) error {
	options, flags := "size="+os.Getenv(mountEnv), uintptr(0)
	if os.Getenv(mountEnv) == "ro" {
		options, flags = "size=1m", unix.MS_RDONLY
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return err
	}
	if err := unix.Mount("tmpfs", filepath.Dir(path), "tmpfs", flags, options); err != nil {
		return err
	}
	return RunChild(context.Background(), os.NewFile(ChildFD, "socket"), path, time.Now, func() {})
}

// openMounted opens a store whose child has such a file system.
func openMounted(t *testing.T, mount string) *Store {
	t.Helper()
	unshare := exec.Command("true")
	unshare.SysProcAttr = ownMounts()
	if err := unshare.Run(); err != nil {
		t.Skipf("no namespaces here: %v", err)
	}
	path := dbPath(t)
	child := childCommandOf(path, roleEnv+"=mounted", mountEnv+"="+mount)
	s, err := Open(context.Background(), Options{
		Path: path, Now: time.Now, Logger: slog.New(slog.DiscardHandler),
		Child: func(ctx context.Context) *exec.Cmd {
			cmd := child(ctx)
			cmd.SysProcAttr = ownMounts()
			return cmd
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), 2*time.Second)
		defer cancel()
		s.Close(ctx) // its disk may be full
	})
	return s
}

func ownMounts() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{
		Cloneflags:  syscall.CLONE_NEWUSER | syscall.CLONE_NEWNS,
		UidMappings: []syscall.SysProcIDMap{{ContainerID: 0, HostID: os.Getuid(), Size: 1}},
		GidMappings: []syscall.SysProcIDMap{{ContainerID: 0, HostID: os.Getgid(), Size: 1}},
	}
}

// noise appends n beats of values that nothing compresses.
func noise(s *Store, from, n int64) map[string][]sample {
	r := rand.New(rand.NewPCG(1, uint64(from)))
	var series []*model.Series
	for k := range 50 {
		series = append(series, model.NewSeries("noise", "k", strconv.Itoa(k)))
	}
	want := map[string][]sample{}
	for i := from; i < from+n; i++ {
		vals := make([]float64, len(series))
		for k := range vals {
			vals[k] = r.Float64()
			name := fmt.Sprintf(`{__name__="noise", k="%d"}`, k)
			want[name] = append(want[name], sample{base + i*1000, math.Float64bits(vals[k])})
		}
		s.Append(beatOf(base+i*1000, series, vals...))
	}
	return want
}

// TestSmallDisk fills a file system: the file stops growing, which is said, the
// oldest minutes make room as far as that goes, and what does not fit is given
// from memory.
func TestSmallDisk(t *testing.T) {
	for _, size := range []string{"200k", "600k"} {
		s := openMounted(t, size)
		want := map[string][]sample{}
		for i := range int64(30) {
			want = add(want, noise(s, i*60, 60))
		}
		eventually(t, "the status to say that the disk is full", func() bool { return s.Status().WriteError != "" })
		st := s.Status()
		if st.LostBeats != 0 || st.MovedAside != "" || !st.ChildUp {
			t.Errorf("%s: status %+v", size, st)
		}
		if strings.Contains(st.WriteError, "damaged") {
			t.Errorf("%s: %s", size, st.WriteError)
		}
		got := selectAll(t, s, 0, math.MaxInt64, "__name__", ".+")
		for name, all := range want { // the oldest minutes may have made room for the newest
			gone := len(all) - len(got[name])
			if gone < 0 || gone > 600 || gone%60 != 0 || !slices.Equal(got[name], all[gone:]) {
				t.Fatalf("%s: %s: %d samples of %d, not the newest ones, or not whole minutes", size, name, len(got[name]), len(all))
			}
		}
	}
}

// TestReadOnlyDisk has a file system that cannot be written to: service goes on
// in memory and says why.
func TestReadOnlyDisk(t *testing.T) {
	s := openMounted(t, "ro")
	want := feed(s, 0, 200)
	got, _ := selectWarned(t, s, 0, math.MaxInt64, []*labels.Matcher{labels.MustNewMatcher(labels.MatchNotEqual, metricName, "")})
	checkSamples(t, got, want)
	if st := s.Status(); st.ChildUp || !strings.Contains(st.ChildError, "read-only") || st.LostBeats != 0 {
		t.Errorf("status %+v", st)
	}
}
