package pagecache

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"stallmark/collectors"
	"stallmark/collectors/process"
)

// plainOpener opens without regard to a process.
type plainOpener struct{}

func (plainOpener) Open(_ process.ID, path string) (*os.File, error) { return os.Open(path) }

func (plainOpener) ReadDir(_ process.ID, path string, limit int) ([]string, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return f.Readdirnames(limit)
}

// pageSize of this machine, in bytes.
var pageSize = int64(os.Getpagesize())

// partPages is how many pages each of the 64 parts of a test file has.
const partPages = 16

// uncached writes a file of 64 parts and throws it out of the page cache. On
// tmpfs the page cache is where the data is, so there it stays; it says which.
func uncached(t *testing.T, path string) (f *os.File, inMemory bool) {
	t.Helper()
	if err := os.WriteFile(path, make([]byte, maxParts*partPages*pageSize), 0o600); err != nil {
		t.Fatal(err)
	}
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { f.Close() })
	if err := errors.Join(
		f.Sync(),
		unix.Fadvise(int(f.Fd()), 0, 0, unix.FADV_DONTNEED),
		unix.Fadvise(int(f.Fd()), 0, 0, unix.FADV_RANDOM), // no read-ahead
	); err != nil {
		t.Fatal(err)
	}
	return f, onTmpfs(t, f)
}

// onTmpfs reports whether a file is on tmpfs, where nothing is ever written back
// or dropped, and says so.
func onTmpfs(t *testing.T, f *os.File) bool {
	t.Helper()
	var on unix.Statfs_t
	if err := unix.Fstatfs(int(f.Fd()), &on); err != nil {
		t.Fatal(err)
	}
	yes := int64(on.Type) == unix.TMPFS_MAGIC
	if yes {
		t.Log("the folder for temporary files is on tmpfs: all of a file is always in memory")
	}
	return yes
}

// readParts reads some parts back into memory.
func readParts(t *testing.T, f *os.File, parts ...int64) {
	t.Helper()
	buf := make([]byte, partPages*pageSize)
	for _, i := range parts {
		if _, err := f.ReadAt(buf, i*partPages*pageSize); err != nil {
			t.Fatal(err)
		}
	}
}

func openLive(t *testing.T, path string) handle {
	t.Helper()
	h, err := live{plainOpener{}, pageSize}.open(process.ID{}, path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(h.close)
	return h
}

func newLooker() *looker {
	return &looker{page: pageSize, now: time.Now, patience: time.Minute}
}

// settled repeats an observation that the rest of the host may disturb: under
// pressure the kernel evicts pages whenever it likes.
func settled(t *testing.T, observe func() error) {
	t.Helper()
	var err error
	for range 5 {
		if err = observe(); err == nil {
			return
		}
	}
	t.Error(err)
}

func TestLookSeesWhatIsResident(t *testing.T) {
	for _, without := range []bool{false, true} {
		settled(t, func() error {
			path := filepath.Join(t.TempDir(), "segment")
			f, inMemory := uncached(t, path)
			readParts(t, f, 3, 10, 63)
			l := newLooker()
			l.noCachestat = without
			r, err := l.look(openLive(t, path))
			if err != nil {
				return err
			}
			if without && r.detailed {
				t.Error("mincore cannot tell details")
			}
			for i, share := range r.shares() {
				if want := inMemory || i == 3 || i == 10 || i == 63; (share == 1) != want || share != 0 && share != 1 {
					return fmt.Errorf("without cachestat %v: part %d is resident by %v", without, i, share)
				}
			}
			return nil
		})
	}
}

func TestCachestatAndMincoreAgree(t *testing.T) {
	settled(t, func() error {
		path := filepath.Join(t.TempDir(), "segment")
		f, _ := uncached(t, path)
		readParts(t, f, 0, 1, 7, 40)
		h := openLive(t, path)
		byCachestat, err := newLooker().look(h)
		if err != nil {
			return err
		}
		if !byCachestat.detailed {
			t.Log("no cachestat(2) for this file here: only mincore(2) is tested")
		}
		l := newLooker()
		l.noCachestat = true
		byMincore, err := l.look(h)
		if err != nil {
			return err
		}
		for i, n := range byMincore.parts {
			if byCachestat.parts[i] != n {
				return fmt.Errorf("part %d: %d pages by cachestat, %d by mincore", i, byCachestat.parts[i], n)
			}
		}
		return nil
	})
}

func TestDirtyBytesAreTold(t *testing.T) {
	settled(t, func() error {
		path := filepath.Join(t.TempDir(), "segment")
		if err := os.WriteFile(path, make([]byte, 8*pageSize), 0o600); err != nil {
			return err
		}
		f, err := os.Open(path)
		if err != nil {
			return err
		}
		defer f.Close()
		r, err := newLooker().look(&openFile{f: f, page: pageSize})
		if err != nil {
			return err
		}
		if r.total.cached != 8 {
			return fmt.Errorf("%d of 8 pages just written are resident", r.total.cached)
		}
		if told := r.total.dirty + r.total.writeback; r.detailed && told == 0 && !onTmpfs(t, f) || told > 8 {
			return fmt.Errorf("%d pages of 8 are dirty or being written", told)
		}
		return nil
	})
}

func TestLookingReadsNothing(t *testing.T) {
	path := filepath.Join(t.TempDir(), "segment")
	_, inMemory := uncached(t, path)
	var before unix.Stat_t
	if err := unix.Stat(path, &before); err != nil {
		t.Fatal(err)
	}
	for _, without := range []bool{true, false, true} {
		l := newLooker()
		l.noCachestat = without
		r, err := l.look(openLive(t, path))
		if err != nil {
			t.Fatal(err)
		}
		if r.total.cached != 0 && !inMemory {
			t.Errorf("%d pages are resident after looking", r.total.cached)
		}
	}
	var after unix.Stat_t
	if err := unix.Stat(path, &after); err != nil {
		t.Fatal(err)
	}
	if after.Atim != before.Atim {
		t.Error("looking changed the access time")
	}
}

func TestOwnFilesAreTold(t *testing.T) {
	path := filepath.Join(t.TempDir(), "segment")
	for _, size := range []int64{0, 1, 5*pageSize + 1} {
		settled(t, func() error {
			if err := os.WriteFile(path, make([]byte, size), 0o600); err != nil {
				return err
			}
			if truth, err := openLive(t, path).tells(); err != nil || !truth {
				return fmt.Errorf("size %d: %v %w, want the truth about a file of one's own", size, truth, err)
			}
			r, err := newLooker().look(openLive(t, path))
			if err != nil || r.resident(pageSize) != size {
				return fmt.Errorf("%d of %d bytes just written are resident, %w", r.resident(pageSize), size, err)
			}
			return nil
		})
	}
}

func TestLiveStore(t *testing.T) {
	dir := t.TempDir()
	if err := os.MkdirAll(filepath.Join(dir, "commitlog"), 0o700); err != nil {
		t.Fatal(err)
	}
	for i := range 3 {
		f, _ := uncached(t, filepath.Join(dir, segment("commitlog", i)))
		readParts(t, f, 5)
	}
	s := New(Config{
		Files: plainOpener{}, PageSize: int(pageSize), Now: time.Now, Budget: time.Minute,
		Brokers: func() []Broker {
			return []Broker{{ID: rocket.ID, Process: "b", Role: rocket.Role, Store: filepath.Join(dir, "commitlog")}}
		},
	})
	out := collectors.NewOut(s.Name())
	for at := epoch; s.passes == 0; at = at.Add(time.Second) {
		out.Reset(at)
		if err := s.Collect(&collectors.MapRoot{}, out); err != nil {
			t.Log(err)
		}
		if !s.running.IsZero() {
			<-s.slice
			s.slice <- struct{}{}
		}
	}
	files := s.Snapshot()
	if len(files) != 3 {
		t.Fatalf("%d files, want 3", len(files))
	}
	for _, f := range files {
		if f.Size != maxParts*partPages*pageSize || f.Parts[5] == 0 || f.Store != dir || f.Kind != CommitLog {
			t.Errorf("%+v", f)
		}
	}
	if last := out.Samples()[0].Series; !strings.HasPrefix(last.Name, s.Provides()[0]) {
		t.Errorf("%s is not among what is provided", last.Name)
	}
}
