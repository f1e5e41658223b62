package process

import (
	"io/fs"
	"strings"
	"testing"

	"golang.org/x/sys/unix"
)

const label = "{pid=42,process=kafka-broker}"

func TestCounters(t *testing.T) {
	tree := newBrokerTree()
	tree.Files["proc/42/stat"] = []byte("42 (java) S 1 42 42 0 -1 4194560 61536 1 10 0 250 50 3 4 20 0 7 0 3063 99 5\n")
	tree.Files["proc/42/io"] = []byte("rchar: 1\nwchar: 2\nsyscr: 3\nsyscw: 4\nread_bytes: 5\nwrite_bytes: 6\ncancelled_write_bytes: 7\n")
	tree.Files["proc/42/status"] = []byte("Name:\tjava\nVmRSS:\t 6 kB\nRssAnon:\t     1 kB\nRssFile:\t     2 kB\nRssShmem:\t     3 kB\nVmSwap:\t     4 kB\n")
	got := newBench(t, Config{Files: fakeFiles{}}).beat(tree)
	for series, want := range map[string]float64{
		"stallmark_process_minor_faults_total" + label:                                 61536,
		"stallmark_process_major_faults_total" + label:                                 10,
		"stallmark_process_cpu_seconds_total{mode=user,pid=42,process=kafka-broker}":   2.5,
		"stallmark_process_cpu_seconds_total{mode=system,pid=42,process=kafka-broker}": 0.5,
		"stallmark_process_read_chars_total" + label:                                   1,
		"stallmark_process_write_chars_total" + label:                                  2,
		"stallmark_process_read_bytes_total" + label:                                   5,
		"stallmark_process_write_bytes_total" + label:                                  6,
		"stallmark_process_cancelled_write_bytes_total" + label:                        7,
		"stallmark_process_resident_bytes{kind=anon,pid=42,process=kafka-broker}":      1024,
		"stallmark_process_resident_bytes{kind=file,pid=42,process=kafka-broker}":      2048,
		"stallmark_process_resident_bytes{kind=shmem,pid=42,process=kafka-broker}":     3072,
		"stallmark_process_swap_bytes" + label:                                         4096,
		"stallmark_process_info{pid=42,process=kafka-broker,role=kafka-broker}":        1,
	} {
		if v, ok := got.values[series]; !ok || v != want {
			t.Errorf("%s = %v %v, want %v", series, v, ok, want)
		}
	}
}

// TestCountersOfOldKernels: 2.6.32 has no split of resident memory, and io only
// with CONFIG_TASK_IO_ACCOUNTING; what is missing is not 0.
func TestCountersOfOldKernels(t *testing.T) {
	tree := newBrokerTree()
	tree.Files["proc/42/status"] = []byte("Name:\tjava\nVmRSS:\t 6 kB\n")
	got := newBench(t, Config{Files: fakeFiles{}}).beat(tree)
	for _, prefix := range []string{"stallmark_process_resident", "stallmark_process_swap", "stallmark_process_read", "stallmark_process_write"} {
		if keys := sortedKeys(got.values, prefix); len(keys) > 0 {
			t.Errorf("%v out of nothing", keys)
		}
	}
	if c := got.coverage["process"]; c.State != "partial" || !strings.Contains(c.Detail, "io") {
		t.Errorf("coverage %+v", c)
	}
}

func TestCountersDenied(t *testing.T) {
	tree := newBrokerTree()
	tree.Errs["proc/42/io"] = unix.EACCES
	got := newBench(t, Config{Files: fakeFiles{}}).beat(tree)
	if c := got.coverage["process"]; c.State != "partial" || !strings.Contains(c.Mend, "CAP_SYS_PTRACE") {
		t.Errorf("coverage %+v", c)
	}
}

func TestResources(t *testing.T) {
	tree := newBrokerTree()
	for _, fd := range []string{"0", "1", "7"} {
		tree.Links["proc/42/fd/"+fd] = "/opt/kafka/libs/kafka_2.13-3.9.1.jar"
	}
	tree.Files["proc/42/limits"] = []byte("Max open files            1024                 4096                 files     \n")
	tree.Files["proc/42/maps"] = []byte("7f0000000000-7f0000001000 rw-s 00000000 08:11 9 /kafka/t-0/00000000000000000000.index\n" +
		"7f1000000000-7f1000001000 r-xp 00000000 08:01 5 /lib/libmimalloc.so.2\n")
	tree.Files["proc/sys/vm/max_map_count"] = []byte("65530\n")
	tree.Files["proc/diskstats"] = []byte("   8      16 sdb 1 2 3\n   8      17 sdb1 1 2 3\n")
	b := newBench(t, Config{Files: fakeFiles{}, Disks: fakeDisks{"8:17": "sdb"}})
	b.beat(tree)
	c := &counting{tree, map[string]int{}}
	got := b.beat(c)
	for series, want := range map[string]float64{
		"stallmark_process_open_fds" + label: 3, "stallmark_process_max_fds" + label: 1024,
		"stallmark_process_mappings" + label: 2, "stallmark_process_max_mappings" + label: 65530,
		"stallmark_process_info{pid=42,process=kafka-broker,role=kafka-broker,store_device=sdb,store_volume=sdb1}": 1,
	} {
		if v, ok := got.values[series]; !ok || v != want {
			t.Errorf("%s = %v %v, want %v", series, v, ok, want)
		}
	}
	for key, want := range map[string]string{"allocator": "mimalloc", "store": "/kafka", "store_device": "sdb", "version": "3.9.1"} {
		if v := got.facts["process.42."+key]; v != want {
			t.Errorf("%s is %q, want %q", key, v, want)
		}
	}
	b.beats(c, 20)
	if n := c.reads["proc/42/maps"]; n != 2 {
		t.Errorf("maps was read %d times in 21 s", n)
	}
	if n := c.reads["proc/42/smaps"] + c.reads["proc/42/smaps_rollup"]; n > 0 {
		t.Error("smaps was read")
	}
}

type fakeDisks map[string]string

func (f fakeDisks) Backing(number string) string { return f[number] }

// TestStoreDevice resolves the store's disk in the ways that there are.
func TestStoreDevice(t *testing.T) {
	for name, c := range map[string]struct {
		disks  Disks
		config string
		want   string
		fstype string
	}{
		"by its mount, partition's own name": {nil, "log.dirs=/data/k", "vdb", ""},
		"by its mount, disk below":           {fakeDisks{"254:16": "nvme0n1,nvme1n1"}, "log.dirs=/data/k,/other", "nvme0n1,nvme1n1", ""},
		"btrfs by its source":                {fakeDisks{}, "log.dirs=/btr/k", "vdd", ""},
		"unknown":                            {nil, "log.dirs=/over/k", "", "overlay"},
		"in memory":                          {nil, "log.dirs=/mem/k", "", "tmpfs"},
	} {
		tree := newBrokerTree()
		tree.Files["proc/42/maps"] = []byte("7f1000000000-7f1000001000 r-xp 00000000 08:01 5 /lib/libc.so.6\n")
		tree.Files["proc/42/mountinfo"] = []byte("30 22 254:16 / /data rw - xfs /dev/vdb rw\n32 22 0:40 / /btr rw - btrfs /dev/vdd rw\n33 22 0:50 / /over rw - overlay overlay rw\n34 22 0:51 / /mem rw - tmpfs none rw\n")
		tree.Files["proc/diskstats"] = []byte(" 254      16 vdb 1 2 3\n")
		b := newBench(t, Config{Files: fakeFiles{"/etc/server.properties": c.config}, Disks: c.disks})
		got := b.beats(tree, 2)
		if v := got.facts["process.42.store_device"]; v != c.want {
			t.Errorf("%s: %q, want %q", name, v, c.want)
		}
		if v := got.facts["process.42.store_fstype"]; v != c.fstype {
			t.Errorf("%s: file system %q, want %q", name, v, c.fstype)
		}
	}
}

// TestResourcesOfARecording: the files that are read every ten seconds stand in
// a later beat than the one in which the process is found.
func TestResourcesOfARecording(t *testing.T) {
	tree := newBrokerTree()
	b := newBench(t, Config{WatchAllRecorded: true})
	if c := b.beat(tree).coverage["process-limits"]; c.State != "partial" {
		t.Errorf("before the files: %+v", c)
	}
	tree.Files["proc/42/limits"] = []byte("Max open files            1024                 4096                 files     \n")
	tree.Files["proc/42/maps"] = []byte("7f1000000000-7f1000001000 r-xp 00000000 08:01 5 /lib/libc.so.6\n")
	tree.Files["proc/42/cgroup"] = []byte("0::/a\n")
	tree.Links["proc/42/fd/0"] = "/dev/null"
	tree.Files["sys/fs/cgroup/a/memory.current"] = []byte("1\n")
	b.beat(tree)
	for _, name := range []string{"limits", "maps", "cgroup"} {
		delete(tree.Files, "proc/42/"+name)
	}
	delete(tree.Links, "proc/42/fd/0")
	got := b.beat(tree)
	for _, series := range []string{
		"stallmark_process_max_fds" + label, "stallmark_process_open_fds" + label, "stallmark_process_mappings" + label,
		own("container_memory_usage_bytes", "/a"),
	} {
		if _, ok := got.values[series]; !ok {
			t.Errorf("%s is missing", series)
		}
	}
	for _, source := range []string{"process-limits", "cgroup"} {
		if c := got.coverage[source]; c.State != "ok" {
			t.Errorf("%s: %+v", source, c)
		}
	}
}

func TestResourcesDenied(t *testing.T) {
	tree := newBrokerTree()
	tree.Files["proc/42/limits"] = []byte("Max open files            1024                 4096                 files     \n")
	tree.Errs["proc/42/fd"], tree.Errs["proc/42/maps"] = fs.ErrPermission, fs.ErrPermission
	got := newBench(t, Config{Files: fakeFiles{}}).beat(tree)
	if c := got.coverage["process-limits"]; c.State != "partial" || !strings.Contains(c.Mend, "CAP_SYS_PTRACE") {
		t.Errorf("coverage %+v", c)
	}
	if keys := sortedKeys(got.values, "stallmark_process_open_fds"); len(keys) != 0 {
		t.Errorf("%v out of nothing", keys)
	}
}
