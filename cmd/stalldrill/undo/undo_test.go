package undo

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"stallmark/cmd/stalldrill/host"
)

// settings makes a folder of settings in place of /proc/sys.
func settings(t *testing.T, values map[string]string) host.Host {
	t.Helper()
	root := t.TempDir()
	for name, v := range values {
		path := filepath.Join(root, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(v+"\n"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return host.Host{Proc: "/proc", Sys: filepath.Join(root, "sys"), Sysctls: root}
}

func journal(t *testing.T, h host.Host) *Journal {
	t.Helper()
	j, err := Create(h, t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	return j
}

func value(t *testing.T, path string) string {
	t.Helper()
	v, err := host.Read(path)
	if err != nil {
		t.Fatal(err)
	}
	return v
}

func TestSetSavesTheFirstValueAndUndoRestoresIt(t *testing.T) {
	h := settings(t, map[string]string{"vm/a": "500", "thp": "always [madvise] never"})
	j := journal(t, h)
	for _, s := range [][2]string{{"vm/a", "10"}, {"vm/a", "20"}, {"thp", "always"}} {
		if err := j.Set(h.Sysctl(s[0]), s[1]); err != nil {
			t.Fatal(err)
		}
	}
	if got := value(t, h.Sysctl("vm/a")); got != "20" {
		t.Fatalf("set to %s", got)
	}
	entries, err := Read(j.Path())
	if err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(entries, j.entries) {
		t.Errorf("the file says %v, the journal %v", entries, j.entries)
	}
	if out := Undo(h, entries); len(out.Problems) > 0 {
		t.Fatal(out.Problems)
	}
	if a, thp := value(t, h.Sysctl("vm/a")), value(t, h.Sysctl("thp")); a != "500" || thp != "madvise" {
		t.Errorf("restored to %s and %s", a, thp)
	}
	if _, err := os.Stat(j.Folder()); !os.IsNotExist(err) {
		t.Error("the folder is still there")
	}
}

// The kernel zeroes the twin of what is written and ignores 0 in the bytes.
func TestRestoringTwins(t *testing.T) {
	for _, c := range []struct{ bytes, ratio, set, path, value string }{
		{"0", "20", "dirty_bytes", "dirty_ratio", "20"},
		{"0", "20", "dirty_ratio", "dirty_ratio", "20"},
		{"4096", "0", "dirty_bytes", "dirty_bytes", "4096"},
		{"4096", "0", "dirty_ratio", "dirty_bytes", "4096"},
		{"0", "0", "dirty_bytes", "dirty_ratio", "0"},
		{"0", "0", "dirty_ratio", "dirty_ratio", "0"},
	} {
		h := settings(t, map[string]string{"vm/dirty_bytes": c.bytes, "vm/dirty_ratio": c.ratio})
		j := journal(t, h)
		if err := j.Set(h.Sysctl("vm/"+c.set), "7"); err != nil {
			t.Fatal(err)
		}
		// As the kernel does; the second Set must not save the drill's own value.
		if err := j.Set(twinOf(h.Sysctl("vm/"+c.set)), "0"); err != nil {
			t.Fatal(err)
		}
		want := []Entry{{Kind: Folder, Path: j.Folder()}, {Kind: Value, Path: h.Sysctl("vm/" + c.path), Value: c.value}}
		if !slices.Equal(j.entries, want) {
			t.Errorf("%+v: got %v", c, j.entries)
		}
	}
}

func TestUndoGoesBackwardsAndOnAfterAProblem(t *testing.T) {
	h := settings(t, map[string]string{"a": "1", "b": "2"})
	j := journal(t, h)
	for _, name := range []string{"a", "b"} {
		if err := j.Set(h.Sysctl(name), "9"); err != nil {
			t.Fatal(err)
		}
	}
	extra := filepath.Join(j.Folder(), "data")
	if err := os.WriteFile(extra, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	entries := append(slices.Clone(j.entries), Entry{Kind: "unheard of"})
	out := Undo(h, entries)
	if len(out.Problems) != 2 || !strings.Contains(out.Problems[1], "kept") {
		t.Errorf("problems: %q", out.Problems)
	}
	if want := []string{h.Sysctl("b") + " = 2", h.Sysctl("a") + " = 1"}; !slices.Equal(out.Done, want) {
		t.Errorf("done: %q", out.Done)
	}
	if _, err := os.Stat(extra); !os.IsNotExist(err) {
		t.Error("files are still there")
	}
	if _, err := Read(j.Path()); err != nil {
		t.Errorf("the journal is not kept: %v", err)
	}
}

func TestUndoTellsAValueThatDoesNotHold(t *testing.T) {
	h := settings(t, map[string]string{"a": "1"})
	e := Entry{Kind: Value, Path: filepath.Join(h.Sysctls, "missing"), Value: "1"}
	if out := Undo(h, []Entry{e}); len(out.Problems) != 1 {
		t.Errorf("got %+v", out)
	}
	if err := restore(Entry{Path: "/dev/null", Value: "1"}); err == nil {
		t.Error("a file that forgets what is written is no problem")
	}
}

func TestGroupsAreMadeAndRemoved(t *testing.T) {
	h := settings(t, map[string]string{"cg/cgroup.subtree_control": "cpu"})
	parent := h.Sysctl("cg")
	j := journal(t, h)
	path, err := j.MakeGroup(host.Cgroups{Version: 2, Parent: parent}, "memory", "1")
	if err != nil {
		t.Fatal(err)
	}
	control := filepath.Join(parent, "cgroup.subtree_control")
	if got := value(t, control); got != "+memory" {
		t.Errorf("order: %s", got)
	}
	if out := j.Undo(); len(out.Problems) > 0 {
		t.Fatal(out.Problems)
	}
	if _, err := os.Stat(path); !os.IsNotExist(err) {
		t.Error("the group is still there")
	}
	if got := value(t, control); got != "-memory" {
		t.Errorf("order back: %s", got)
	}
}

func TestReadLeavesOutATornLine(t *testing.T) {
	h := settings(t, map[string]string{"a": "1"})
	j := journal(t, h)
	if err := j.Set(h.Sysctl("a"), "2"); err != nil {
		t.Fatal(err)
	}
	if _, err := j.file.WriteString(`{"kind":"value","path":"/proc/sys/kernel/pa`); err != nil {
		t.Fatal(err)
	}
	entries, err := Read(j.Path())
	if err != nil || !slices.Equal(entries, j.entries) {
		t.Errorf("got %v, %v", entries, err)
	}
}

func TestReadRefusesForeignJournals(t *testing.T) {
	dir := t.TempDir()
	write := func(name string, mode os.FileMode, entries ...Entry) string {
		path := filepath.Join(dir, name)
		var text strings.Builder
		for _, e := range entries {
			line, _ := json.Marshal(e)
			fmt.Fprintf(&text, "%s\n", line)
		}
		if err := os.WriteFile(path, []byte(text.String()), mode); err != nil {
			t.Fatal(err)
		}
		if err := os.Chmod(path, mode); err != nil {
			t.Fatal(err)
		}
		return path
	}
	own := Entry{Kind: Folder, Path: dir}
	good := write("good", 0o600, own)
	link := filepath.Join(dir, "link")
	if err := os.Symlink(good, link); err != nil {
		t.Fatal(err)
	}
	if _, err := Read(good); err != nil {
		t.Fatal(err)
	}
	for name, path := range map[string]string{
		"writable by others":   write("open", 0o666, own),
		"a link":               link,
		"of another folder":    write("moved", 0o600, Entry{Kind: Folder, Path: "/home"}),
		"without a folder":     write("headless", 0o600, Entry{Kind: Value, Path: "/x"}),
		"empty":                write("empty", 0o600),
		"not there":            filepath.Join(dir, "none"),
		"a folder, not a file": dir,
	} {
		if _, err := Read(path); err == nil {
			t.Errorf("%s: accepted", name)
		}
	}
}

func TestKillSparesAnotherProcessOfThatPid(t *testing.T) {
	h := host.Host{Proc: "/proc"}
	st, err := h.ReadStat(os.Getpid())
	if err != nil {
		t.Fatal(err)
	}
	if err := kill(h, Entry{Kind: Child, Pid: os.Getpid(), Start: st.Start - 1}); err != nil {
		t.Error(err) // and we are alive
	}
}

func TestOneDrillAtATime(t *testing.T) {
	name := fmt.Sprintf("@stalldrill-test-%d", os.Getpid())
	first, err := Lock(name)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := Lock(name); err == nil {
		t.Error("two hold the lock")
	}
	first.Close()
	again, err := Lock(name)
	if err != nil {
		t.Fatal(err)
	}
	again.Close()
}

func TestSwapHeader(t *testing.T) {
	path := filepath.Join(t.TempDir(), "swap")
	size := int64(8 * os.Getpagesize())
	if err := os.WriteFile(path, make([]byte, size), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := writeSwapHeader(path, size); err != nil {
		t.Fatal(err)
	}
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	page := b[:os.Getpagesize()]
	if string(page[len(page)-10:]) != "SWAPSPACE2" || page[1024] != 1 || page[1028] != 7 {
		t.Errorf("magic %q, version %d, last page %d", page[len(page)-10:], page[1024], page[1028])
	}
}

func TestZRAMTakesAnUnusedDevice(t *testing.T) {
	h := settings(t, map[string]string{
		"sys/block/zram0/disksize": "4096", "sys/block/zram0/reset": "",
		"sys/block/zram1/disksize": "0", "sys/block/zram1/reset": "",
	})
	j := journal(t, h)
	device, err := j.ZRAM(1 << 20)
	if err != nil || device != "/dev/zram1" {
		t.Fatalf("got %s, %v", device, err)
	}
	if got := value(t, filepath.Join(h.Sys, "block/zram1/disksize")); got != "1048576" {
		t.Errorf("size %s", got)
	}
	if out := j.Undo(); len(out.Problems) > 0 || value(t, filepath.Join(h.Sys, "block/zram1/reset")) != "1" {
		t.Errorf("not reset: %+v", out)
	}
	if _, err := journal(t, settings(t, nil)).ZRAM(1 << 20); err == nil {
		t.Error("zram where there is none")
	}
}
