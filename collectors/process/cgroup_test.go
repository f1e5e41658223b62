package process

import (
	"strings"
	"testing"
)

// cgroupTree is a broker in the given groups.
func cgroupTree(cgroup string, files map[string]string) brokerTree {
	tree := newBrokerTree()
	tree.Files["proc/42/cgroup"] = []byte(cgroup)
	for name, text := range files {
		tree.Files["sys/fs/cgroup/"+name] = []byte(text)
	}
	return tree
}

// own writes a series of the broker in a group.
func own(name, id string, labels ...string) string {
	w := newWatched(ID{Pid: 42})
	w.name = "kafka-broker"
	return seriesText(w.series(name, append([]string{"id", id}, labels...)...))
}

const (
	hybrid = "9:name=systemd:/\n4:memory:/rk\n2:cpuacct:/rk\n1:cpu:/rk\n0::/sys\n"
	noMax  = "9223372036854771712\n"
)

func TestCgroupV1(t *testing.T) {
	for name, c := range map[string]struct {
		cgroup string
		files  map[string]string
		want   map[string]float64
		absent []string
	}{
		"recorded on 6.18, mixed set-up": {hybrid, map[string]string{
			"memory/rk/memory.usage_in_bytes": "419336192\n", "memory/rk/memory.limit_in_bytes": "419430400\n", "memory/rk/memory.failcnt": "145290\n",
			"memory/rk/memory.stat":        "cache 1\nrss 2\ntotal_cache 8192\ntotal_rss 417026048\ntotal_mapped_file 3\ntotal_swap 543780864\ntotal_workingset_refault_anon 184958\ntotal_workingset_refault_file 2\nhierarchical_memory_limit 419430400\n",
			"memory/rk/memory.oom_control": "oom_kill_disable 0\nunder_oom 0\noom_kill 3\n",
			"cpu/rk/cpu.cfs_quota_us":      "25000\n", "cpu/rk/cpu.cfs_period_us": "100000\n",
			"cpu/rk/cpu.stat":             "nr_periods 180\nnr_throttled 170\nthrottled_time 30612815153\nnr_bursts 0\n",
			"unified/sys/memory.pressure": "some avg10=0.00 avg60=0.00 avg300=0.00 total=1500000\nfull avg10=0.00 avg60=0.00 avg300=0.00 total=500000\n",
			"unified/sys/cpu.pressure":    "some avg10=0.00 avg60=0.00 avg300=0.00 total=2000000\n",
		}, map[string]float64{
			own("container_memory_usage_bytes", "/rk"): 419336192, own("container_spec_memory_limit_bytes", "/rk"): 419430400,
			own("container_memory_failcnt", "/rk"): 145290, own("container_memory_stat_bytes", "/rk", "kind", "file"): 8192,
			own("container_memory_stat_bytes", "/rk", "kind", "anon"): 417026048, own("container_memory_stat_bytes", "/rk", "kind", "swap"): 543780864,
			own("container_memory_refaults_total", "/rk"): 184960, own("container_memory_events_total", "/rk", "event", "oom_kill"): 3,
			own("container_spec_cpu_quota", "/rk"): 25000, own("container_spec_cpu_period", "/rk"): 100000,
			own("container_cpu_cfs_periods_total", "/rk"): 180, own("container_cpu_cfs_throttled_periods_total", "/rk"): 170,
			own("container_cpu_cfs_throttled_seconds_total", "/rk"):        30.612815153,
			own("container_pressure_memory_waiting_seconds_total", "/sys"): 1.5, own("container_pressure_memory_stalled_seconds_total", "/sys"): 0.5,
			own("container_pressure_cpu_waiting_seconds_total", "/sys"): 2,
		}, []string{own("container_pressure_cpu_stalled_seconds_total", "/sys"), own("container_pressure_io_waiting_seconds_total", "/sys")}},
		"unlimited, cpu with cpuacct, single refault key": {
			"4:memory:/a\n1:cpu,cpuacct:/a\n",
			map[string]string{
				"memory/a/memory.usage_in_bytes": "1\n", "memory/a/memory.limit_in_bytes": noMax, "memory/a/memory.stat": "total_workingset_refault 7\n",
				"cpu,cpuacct/a/cpu.cfs_quota_us": "-1\n", "cpu,cpuacct/a/cpu.cfs_period_us": "100000\n", "cpu,cpuacct/a/cpu.stat": "nr_periods 0\nnr_throttled 0\nthrottled_time 0\n",
			},
			map[string]float64{own("container_memory_usage_bytes", "/a"): 1, own("container_memory_refaults_total", "/a"): 7},
			[]string{own("container_spec_memory_limit_bytes", "/a"), own("container_spec_cpu_quota", "/a"), own("container_cpu_cfs_periods_total", "/a")},
		},
		"64 KiB pages say unlimited otherwise": {"4:memory:/a\n", map[string]string{
			"memory/a/memory.usage_in_bytes": "1\n", "memory/a/memory.limit_in_bytes": "9223372036854710272\n",
		}, nil, []string{own("container_spec_memory_limit_bytes", "/a")}},
		"the limit is the group's above": {"4:memory:/kubepods/pod1/c1\n", map[string]string{
			"memory/kubepods/pod1/c1/memory.usage_in_bytes": "1\n", "memory/kubepods/pod1/c1/memory.limit_in_bytes": noMax,
			"memory/kubepods/pod1/memory.usage_in_bytes": "2\n", "memory/kubepods/pod1/memory.limit_in_bytes": "100\n", "memory/kubepods/pod1/memory.failcnt": "5\n",
			"memory/kubepods/memory.usage_in_bytes": "3\n", "memory/kubepods/memory.limit_in_bytes": noMax,
		}, map[string]float64{
			own("container_memory_usage_bytes", "/kubepods/pod1/c1"): 1, own("container_spec_memory_limit_bytes", "/kubepods/pod1"): 100,
			own("container_memory_failcnt", "/kubepods/pod1"): 5,
		}, []string{own("container_memory_usage_bytes", "/kubepods"), own("container_spec_memory_limit_bytes", "/kubepods/pod1/c1")}},
		"the root's pressure is the host's": {"4:memory:/\n0::/\n", map[string]string{
			"memory/memory.usage_in_bytes": "1\n", "unified/memory.pressure": "some avg10=0.00 avg60=0.00 avg300=0.00 total=1\n",
		}, map[string]float64{own("container_memory_usage_bytes", "/"): 1}, []string{own("container_pressure_memory_waiting_seconds_total", "/")}},
	} {
		t.Run(name, func(t *testing.T) { checkCgroup(t, cgroupTree(c.cgroup, c.files), c.want, c.absent) })
	}
}

func checkCgroup(t *testing.T, tree brokerTree, want map[string]float64, absent []string) {
	t.Helper()
	got := newBench(t, Config{Files: fakeFiles{}}).beat(tree)
	for series, v := range want {
		if g, ok := got.values[series]; !ok || g != v {
			t.Errorf("%s = %v %v, want %v", series, g, ok, v)
		}
	}
	for _, series := range absent {
		if g, ok := got.values[series]; ok {
			t.Errorf("%s = %v, want none", series, g)
		}
	}
	if c := got.coverage["cgroup"]; c.State != "ok" {
		t.Errorf("coverage %+v", c)
	}
}

func TestCgroupV2(t *testing.T) {
	id := "/kubepods.slice/pod.slice/cri-1.scope"
	dir := id[1:] + "/"
	files := map[string]string{
		dir + "memory.current": "100\n", dir + "memory.max": "max\n", dir + "memory.swap.current": "7\n",
		dir + "memory.stat":                       "anon 1\nfile 2\nkernel 3\nfile_dirty 4\nworkingset_refault_anon 5\nworkingset_refault_file 6\npgscan 9\n",
		dir + "memory.events":                     "low 0\nhigh 11\nmax 12\noom 0\noom_kill 0\n",
		dir + "cpu.max":                           "max 100000\n",
		dir + "cpu.stat":                          "usage_usec 1\nnr_periods 0\nnr_throttled 0\nthrottled_usec 0\n",
		dir + "memory.pressure":                   "some avg10=0.00 avg60=0.00 avg300=0.00 total=3000000\nfull avg10=0.00 avg60=0.00 avg300=0.00 total=0\n",
		"kubepods.slice/pod.slice/memory.current": "200\n", "kubepods.slice/pod.slice/memory.max": "300\n",
		"kubepods.slice/pod.slice/cpu.max": "200000 100000\n", "kubepods.slice/pod.slice/cpu.stat": "nr_periods 5\nnr_throttled 4\nthrottled_usec 2500000\n",
	}
	pod := "/kubepods.slice/pod.slice"
	checkCgroup(t, cgroupTree("0::"+id+"\n", files), map[string]float64{
		own("container_memory_usage_bytes", id): 100, own("container_memory_stat_bytes", id, "kind", "swap"): 7,
		own("container_memory_stat_bytes", id, "kind", "file_dirty"): 4, own("container_memory_refaults_total", id): 11,
		own("container_memory_events_total", id, "event", "high"): 11, own("container_memory_events_total", id, "event", "max"): 12,
		own("container_pressure_memory_waiting_seconds_total", id): 3, own("container_pressure_memory_stalled_seconds_total", id): 0,
		own("container_spec_memory_limit_bytes", pod): 300, own("container_spec_cpu_quota", pod): 200000,
		own("container_cpu_cfs_throttled_seconds_total", pod): 2.5,
	}, []string{
		own("container_spec_memory_limit_bytes", id), own("container_spec_cpu_quota", id), own("container_cpu_cfs_periods_total", id),
		own("container_memory_failcnt", id),
	})
}

func TestCgroupOutside(t *testing.T) {
	got := newBench(t, Config{Files: fakeFiles{}}).beat(cgroupTree("0::/../../other\n", map[string]string{"memory.current": "1\n"}))
	if c := got.coverage["cgroup"]; c.State != "partial" || !strings.Contains(c.Mend, "namespace") {
		t.Errorf("coverage %+v", c)
	}
	if keys := sortedKeys(got.values, "container_"); len(keys) > 0 {
		t.Errorf("%v", keys)
	}
}

func TestNoCgroups(t *testing.T) {
	got := newBench(t, Config{Files: fakeFiles{}}).beat(cgroupTree("0::/a\n", nil))
	if c := got.coverage["cgroup"]; c.State != "absent" || c.Mend == "" {
		t.Errorf("coverage %+v", c)
	}
}

// TestMovedProcess: a process that is put into another group has new series.
func TestMovedProcess(t *testing.T) {
	tree := cgroupTree("0::/a\n", map[string]string{"a/memory.current": "1\n", "b/memory.current": "2\n"})
	b := newBench(t, Config{Files: fakeFiles{}})
	b.beat(tree)
	tree.Files["proc/42/cgroup"] = []byte("0::/b\n")
	got := b.beats(tree, 11)
	if got.values[own("container_memory_usage_bytes", "/b")] != 2 || len(sortedKeys(got.values, "container_memory_usage")) != 1 {
		t.Errorf("%v", sortedKeys(got.values, "container_"))
	}
	if got.facts["process.42.cgroup"] != "/b" {
		t.Errorf("%v", got.facts)
	}
}
