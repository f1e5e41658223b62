package work

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"

	"stallmark/cmd/stalldrill/host"
)

// small are all operations with sizes that a test can bear.
func small(dir string) []Task {
	at := func(name string) string { return filepath.Join(dir, name) }
	const much = 1 << 62 // no memory is above this floor: nothing is taken
	return []Task{
		{Do: Append, Path: at("a"), Size: 64 << 10, Bytes: 16 << 10},
		{Do: Fsync, Path: at("f"), Size: 64 << 10, Bytes: 4 << 10},
		{Do: MapAppend, Path: at("m"), Size: 64 << 10, Bytes: 4 << 10},
		{Do: MapCold, Path: at("c"), Size: 16 << 10, Bytes: 4 << 10},
		{Do: MapStore, Path: at("s"), Size: 64 << 10, Bytes: 8},
		{Do: ColdRead, Path: at("r"), Size: 64 << 10, Bytes: 4 << 10},
		{Do: HotRead, Path: at("r"), Size: 64 << 10, Bytes: 4 << 10},
		{Do: ColdMap, Path: at("r"), Size: 64 << 10, Bytes: 4 << 10},
		{Do: HotMap, Path: at("r"), Size: 64 << 10, Bytes: 4 << 10},
		{Do: Anon, Size: 64 << 10},
		{Do: Huge, Size: 8 << 20, Bytes: 4 << 20},
		{Do: Churn, Bytes: 64 << 10},
		{Do: Protect, Bytes: 64 << 10},
		{Do: Tick},
		{Do: Spin, Bytes: 1000},
		{Do: Flush, Path: at("m")},
		{Do: FlushRange, Path: at("m")},
		{Do: Direct, Path: at("d"), Size: 64 << 10, Bytes: 4 << 10},
		{Do: SmallFiles, Name: "x", Path: at("small"), Bytes: 4 << 10},
		{Do: SmallSyncs, Name: "y", Path: at("small"), Bytes: 4 << 10},
		{Do: Copy, Path: at("r"), Size: 64 << 10, Bytes: 16 << 10},
		{Do: Eat, Floor: much},
		{Do: FillCache, Path: at("hole"), Size: 1 << 20, Bytes: 64 << 10, Floor: much},
		{Do: Fragment, Path: at("hole"), Size: 1 << 20, Bytes: 64 << 10, Floor: much},
	}
}

func TestOperations(t *testing.T) {
	dir := t.TempDir()
	h := host.Live()
	for _, task := range small(dir) {
		t.Run(string(task.Do), func(t *testing.T) {
			do, err := open(h, task)
			if err != nil {
				if task.Do == Direct && errors.Is(err, syscall.EINVAL) {
					t.Skip("the file system has no O_DIRECT")
				}
				t.Fatal(err)
			}
			for range 20 { // past the end of every file
				if err := do(); err != nil {
					if task.Do == Huge && errors.Is(err, unix.EINVAL) {
						t.Skip("the kernel has no huge pages")
					}
					t.Fatal(err)
				}
			}
		})
	}
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		info, err := e.Info()
		if err != nil {
			t.Fatal(err)
		}
		if limit := int64(64 << 10); !info.IsDir() && e.Name() != "hole" && info.Size() > limit {
			t.Errorf("%s has %d bytes, more than it may", e.Name(), info.Size())
		}
	}
}

func TestOpenTellsMistakes(t *testing.T) {
	for name, task := range map[string]Task{
		"unknown":               {Do: "dance"},
		"eater without a floor": {Do: Eat},
		"folder is not there":   {Do: Append, Path: filepath.Join(t.TempDir(), "none", "a"), Size: 1, Bytes: 1},
	} {
		if _, err := open(host.Live(), task); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
}

func TestDiskCountsAFileOnce(t *testing.T) {
	specs := []Spec{
		{Tasks: []Task{{Do: HotRead, Path: "/d/r", Size: 100}, {Do: HotMap, Path: "/d/r", Size: 100}}},
		{Tasks: []Task{{Do: Copy, Path: "/d/c", Size: 50}, {Do: Flush, Path: "/d/r", Size: 999}, {Do: Tick}}},
	}
	if got := Disk(specs); got != 200 {
		t.Errorf("got %d", got)
	}
	specs[0].Tasks = append(specs[0].Tasks, Task{Do: Anon, Size: 7}, Task{Do: Churn, Bytes: 3})
	if got := Memory(specs); got != 10 {
		t.Errorf("memory %d", got)
	}
}

func TestEaterGivesBackBelowItsFloor(t *testing.T) {
	root := t.TempDir()
	available := func(mib int) {
		t.Helper()
		text := fmt.Sprintf("MemTotal: 1 kB\nMemFree: 1 kB\nMemAvailable: %d kB\n", mib*1024)
		if err := os.WriteFile(filepath.Join(root, "meminfo"), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	e := &eater{host: host.Host{Proc: root}, floor: 1000 << 20}
	available(2000)
	for range 3 {
		if grew, err := e.adjust(); !grew || err != nil {
			t.Fatalf("grew %v, %v", grew, err)
		}
	}
	available(1010) // above the floor, but a bite would go below
	if grew, err := e.adjust(); grew || err != nil || len(e.held) != 3 {
		t.Fatalf("grew %v, %v, holds %d", grew, err, len(e.held))
	}
	available(950)
	if grew, err := e.adjust(); grew || err != nil || len(e.held) != 0 {
		t.Fatalf("grew %v, %v, holds %d", grew, err, len(e.held))
	}
	e.stalled = true
	available(2000)
	if grew, _ := e.adjust(); grew {
		t.Error("an eater that once stalled grows again")
	}
}
