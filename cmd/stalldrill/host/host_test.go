package host

import (
	"os"
	"path/filepath"
	"testing"
)

// tree writes files below a new folder and returns a Host of it.
func tree(t *testing.T, files map[string]string) Host {
	t.Helper()
	root := t.TempDir()
	for name, text := range files {
		path := filepath.Join(root, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return Host{Proc: filepath.Join(root, "proc"), Sys: filepath.Join(root, "sys"), Sysctls: filepath.Join(root, "proc/sys")}
}

func TestReadMemory(t *testing.T) {
	const meminfo = "MemTotal:  1000 kB\nMemFree:  200 kB\nMemAvailable:  600 kB\nHugePages_Total: 0\n"
	h := tree(t, map[string]string{
		"proc/meminfo":  meminfo,
		"proc/zoneinfo": "Node 0, zone DMA\n  pages free 9\n        high     30\n              high_min: 14\nNode 0, zone Normal\n        high     12\n",
	})
	m, err := h.ReadMemory()
	if err != nil {
		t.Fatal(err)
	}
	want := Memory{Total: 1000 << 10, Free: 200 << 10, Available: 600 << 10, High: 42 * int64(os.Getpagesize())}
	if m != want {
		t.Errorf("got %+v, want %+v", m, want)
	}
	for name, text := range map[string]string{
		"old kernel": "MemTotal: 1 kB\nMemFree: 1 kB\n",
		"no number":  "MemTotal: 1 kB\nMemFree: x kB\nMemAvailable: 1 kB\n",
		"empty":      "",
	} {
		if _, err := tree(t, map[string]string{"proc/meminfo": text}).ReadMemory(); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
}

func TestReadStatOfAHostileName(t *testing.T) {
	h := tree(t, map[string]string{
		"proc/7/stat": "7 (x) R 1 (y) ) S 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 12345 20",
		"proc/8/stat": "8 (short) S 1 2",
		"proc/9/stat": "nothing",
	})
	st, err := h.ReadStat(7)
	if err != nil {
		t.Fatal(err)
	}
	if want := (Stat{State: 'S', Start: 12345, Major: 9}); st != want {
		t.Errorf("got %+v, want %+v", st, want)
	}
	for _, pid := range []int{8, 9, 10} {
		if _, err := h.ReadStat(pid); err == nil {
			t.Errorf("pid %d: no error", pid)
		}
	}
}

func TestWaits(t *testing.T) {
	h := tree(t, map[string]string{
		"proc/5/task/5/wchan": "balance_dirty_pages",
		"proc/5/task/6/wchan": "0",
		"proc/5/task/7/wchan": "",
	})
	if got := h.Waits(5); len(got) != 1 || got[0] != "balance_dirty_pages" {
		t.Errorf("got %q", got)
	}
	if got := h.Waits(6); len(got) != 0 {
		t.Errorf("of a process that is gone: %q", got)
	}
}

func TestFindCgroups(t *testing.T) {
	h := tree(t, map[string]string{"proc/self/cgroup": "4:memory:/own\n1:cpu,cpuacct:/gone\n0::/\n", "sys/v1/own/tasks": "", "sys/v2/cgroup.controllers": "io pids"})
	v1, v2 := filepath.Join(h.Sys, "v1"), filepath.Join(h.Sys, "v2")
	mounts := "29 23 0:26 / " + v1 + " rw,relatime - cgroup cgroup rw,blkio\n" +
		"31 23 0:28 / /x rw shared:1 - tmpfs tmpfs rw\n" +
		"35 31 0:32 / " + v1 + " rw,relatime - cgroup cgroup rw,memory\n" +
		"36 31 0:33 / " + v1 + " rw,relatime - cgroup cgroup rw,cpuacct,cpu\n" +
		"41 31 0:38 / " + v2 + " rw,relatime - cgroup2 cgroup2 rw\nbroken line\n"
	if err := os.WriteFile(filepath.Join(h.Proc, "self/mountinfo"), []byte(mounts), 0o600); err != nil {
		t.Fatal(err)
	}
	for controller, want := range map[string]Cgroups{
		"memory": {1, filepath.Join(v1, "own")},
		"cpu":    {1, v1}, // its own group is not in this mount
		"io":     {1, v1},
		"pids":   {2, v2},
	} {
		if got, err := h.FindCgroups(controller); err != nil || got != want {
			t.Errorf("%s: got %+v, %v, want %+v", controller, got, err, want)
		}
	}
	if got, err := h.FindCgroups("hugetlb"); err == nil {
		t.Errorf("hugetlb: got %+v", got)
	}
}

func TestWholeDisk(t *testing.T) {
	h := tree(t, map[string]string{"sys/disk/dev": "8:0\n", "sys/disk/part/partition": "1\n", "sys/disk/part/dev": "8:1\n", "sys/dev/block/x": ""})
	for device, folder := range map[string]string{"8:0": "disk", "8:1": "disk/part"} {
		if err := os.Symlink(filepath.Join(h.Sys, folder), filepath.Join(h.Sys, "dev/block", device)); err != nil {
			t.Fatal(err)
		}
	}
	for device, want := range map[string]string{"8:0": "8:0", "8:1": "8:0", "9:9": "9:9"} {
		if got := h.WholeDisk(device); got != want {
			t.Errorf("%s: got %s, want %s", device, got, want)
		}
	}
}

func TestReadCounters(t *testing.T) {
	h := tree(t, map[string]string{
		"proc/vmstat":          "allocstall_normal 3\nallocstall_movable 4\nnr_written 100\n",
		"proc/pressure/memory": "some avg10=0.00 avg60=0.00 avg300=0.00 total=2500000\nfull avg10=0.00 total=1\n",
		"proc/interrupts":      "      CPU0 CPU1\n 0: 9 9 IO-APIC timer\nTLB: 10 20 TLB shootdowns\n",
		"proc/diskstats":       " 254 0 vda 1 2 16 4 5 6 32 8 0 10 2000 0 0 0 0 77 1\n 254 1 vda1 9 9 9 9 9 9 9 9 9 9 9 9 9 9 9 9 9\n",
		"proc/5/io":            "rchar: 1\nread_bytes: 4096\n",
		"proc/5/stat":          "5 (v) S 1 2 3 4 5 6 7 8 33 10 11 12 13 14 15 16 17 18 12345 20",
		"proc/5/status":        "Name: v\nRssFile:  12 kB\n",
		"sys/g/memory.events":  "low 0\nhigh 0\nmax 8\n",
		"sys/g/cpu.stat":       "nr_periods 10\nnr_throttled 6\n",
	})
	c := h.ReadCounters(Scope{Pid: 5, Device: "254:0", Group: filepath.Join(h.Sys, "g")})
	for name, want := range map[string]float64{
		"nr_written": 100, "psi.memory.some": 2.5, "interrupts.TLB": 30,
		"disk.read_bytes": 8192, "disk.written_bytes": 16384, "disk.queue_seconds": 2, "disk.flushes": 77,
		"victim.read_bytes": 4096, "victim.major_faults": 33, "victim.rss_file_bytes": 12288,
		"group.limit_hits": 8, "group.nr_throttled": 6,
	} {
		if got, ok := c[name]; !ok || got != want {
			t.Errorf("%s: got %v (%v), want %v", name, got, ok, want)
		}
	}
	if _, ok := c["psi.io.some"]; ok {
		t.Error("pressure that the kernel does not tell has a value")
	}
}

func TestGrowth(t *testing.T) {
	from := Counters{"allocstall_normal": 1, "allocstall_movable": 2, "pswpin": 5}
	to := Counters{"allocstall_normal": 3, "allocstall_movable": 7, "pswpin": 5, "new": 4}
	for _, c := range []struct {
		pattern string
		want    float64
		ok      bool
	}{
		{"allocstall*", 7, true},
		{"pswpin", 0, true},
		{"new", 0, false},     // not in the first reading
		{"missing", 0, false}, // in neither
		{"missing*", 0, false},
	} {
		if got, ok := Growth(from, to, c.pattern); got != c.want || ok != c.ok {
			t.Errorf("%s: got %v, %v, want %v, %v", c.pattern, got, ok, c.want, c.ok)
		}
	}
}

func TestWriteMakesNoFiles(t *testing.T) {
	path := filepath.Join(t.TempDir(), "missing")
	if err := Write(path, "1"); !os.IsNotExist(err) {
		t.Errorf("got %v", err)
	}
}
