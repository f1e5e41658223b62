package host

import (
	"errors"
	"strings"
	"syscall"
	"testing"

	"stallmark/collectors"
	"stallmark/storage/model"
)

// TestCoverage gives one source one tree and checks what it says about itself,
// and some of what it read all the same.
func TestCoverage(t *testing.T) {
	vm := func() collectors.Source { return newVmstat(Config{PageSize: 4096}) }
	mem := func() collectors.Source { return newMeminfo() }
	disk := func() collectors.Source { return newDiskstats(NewDisks()) }
	psi := func() collectors.Source { return newPressure() }
	cpu := func() collectors.Source { return newStat(Config{}.withDefaults()) }
	irq := func() collectors.Source { return newInterrupts() }
	zone := func() collectors.Source { return newZoneinfo() }
	sets := func() collectors.Source { return newSettings() }
	for _, c := range []struct {
		name   string
		source func() collectors.Source
		tree   string
		state  model.SourceState
		texts  []string
		want   map[string]float64
	}{
		{"vmstat missing", vm, "", model.SourceAbsent, []string{"proc/vmstat", "--procfs"}, nil},
		{"vmstat denied", vm, "-- proc/vmstat ! EACCES --\n", model.SourceDenied, []string{"proc/vmstat: permission denied"}, nil},
		{"vmstat unreadable", vm, "-- proc/vmstat ! EIO --\n", model.SourceFailed, []string{"proc/vmstat: input/output error"}, nil},
		{"vmstat empty", vm, "-- proc/vmstat --\n", model.SourceFailed, []string{"proc/vmstat"}, nil},
		{
			"vmstat with wrong lines", vm,
			"-- proc/vmstat --\nnr_dirty 5\nnr_bad x\nnr{evil} 4\nnr_dirty_threshold 10\nnr_dirty_background_threshold 4\n",
			model.SourcePartial,
			[]string{"proc/vmstat line 2: want a key and a number (and 1 more lines)"},
			map[string]float64{"node_vmstat_nr_dirty": 5, "stallmark_dirty_threshold_pages": 10, "stallmark_dirty_background_threshold_pages": 4},
		},
		{
			"old kernel without sysctls", vm,
			"-- proc/vmstat --\nnr_free_pages 5\nnr_active_file 5\nnr_inactive_file 5\n", model.SourcePartial,
			[]string{"no nr_dirty_threshold", "dirty_ratio"},
			map[string]float64{"node_vmstat_nr_free_pages": 5},
		},
		{
			"meminfo with wrong lines", mem, "-- proc/meminfo --\nMemTotal: 4 kB\nMemFree four kB\nDirty: x kB\n", model.SourcePartial,
			[]string{"proc/meminfo line 2: want a key with a colon (and 1 more lines)"},
			map[string]float64{"node_memory_MemTotal_bytes": 4096},
		},
		{
			"meminfo without units", mem, "-- proc/meminfo --\nHugePages_Free:       3\nActive(anon):   2 kB\n", model.SourceOK, nil,
			map[string]float64{"node_memory_HugePages_Free": 3, "node_memory_Active_anon_bytes": 2048},
		},
		{"no disks", disk, "-- proc/diskstats --\n", model.SourceOK, nil, nil},
		{
			"partitions of old kernels", disk, "-- proc/diskstats --\n   8 1 sda1 1 2 3 4\n", model.SourceFailed,
			[]string{"proc/diskstats line 1: want major, minor, device and 11, 15 or 17 numbers"},
			nil,
		},
		{
			"in flight below zero", disk, "-- proc/diskstats --\n 8 0 sda 1 0 8 1 0 0 0 0 -1 1 1\n", model.SourceOK, nil,
			map[string]float64{`node_disk_io_now{device="sda"}`: -1, `node_disk_read_bytes_total{device="sda"}`: 4096},
		},
		{
			"columns to come", disk, "-- proc/diskstats --\n 8 0 sda 1 0 8 1 0 0 0 0 0 1 1 2 3 4 5 6 7000 8 9 10\n", model.SourceOK, nil,
			map[string]float64{`node_disk_flush_requests_time_seconds_total{device="sda"}`: 7},
		},
		{"no PSI", psi, "-- proc/loadavg --\n", model.SourceAbsent, []string{psiAbsent, psiNeeds}, nil},
		{
			"PSI off", psi, "-- proc/pressure/cpu ! EOPNOTSUPP --\n-- proc/pressure/io ! EOPNOTSUPP --\n-- proc/pressure/memory ! EOPNOTSUPP --\n",
			model.SourceAbsent,
			[]string{"PSI is disabled", "boot with psi=1"},
			nil,
		},
		{
			"PSI denied", psi, "-- proc/pressure/cpu ! EACCES --\n-- proc/pressure/io ! EACCES --\n-- proc/pressure/memory ! EACCES --\n",
			model.SourceDenied,
			[]string{"proc/pressure/cpu"},
			nil,
		},
		{
			"PSI in part", psi,
			"-- proc/pressure/cpu --\nsome avg10=0.00 total=2500000\n-- proc/pressure/io --\nsome avg10=0.00\nfull total=1000000\n", model.SourcePartial,
			[]string{"proc/pressure/io line 1: want some or full with total=", "proc/pressure/memory"},
			map[string]float64{"node_pressure_cpu_waiting_seconds_total": 2.5, "node_pressure_io_stalled_seconds_total": 1},
		},
		{
			"stat with a wrong CPU", cpu, "-- proc/stat --\ncpu0 1 2\ncpu1 100 0 0 0 0\nbtime x\nprocesses 4\nfuture 1 2 3\n", model.SourcePartial,
			[]string{"proc/stat line 1: want cpu, its number and at least 4 numbers (and 1 more lines)"},
			map[string]float64{`node_cpu_seconds_total{cpu="1",mode="user"}`: 1, "node_forks_total": 4, "stallmark_cpus_online": 1},
		},
		{
			"loadavg wrong", func() collectors.Source { return newLoadavg() }, "-- proc/loadavg --\n0.1 NaN 0.3 1/2 3\n", model.SourcePartial,
			[]string{"proc/loadavg line 1: want three load averages"},
			map[string]float64{"node_load1": 0.1},
		},
		{"interrupts without heading", irq, "-- proc/interrupts --\n\n", model.SourceFailed, []string{"proc/interrupts line 1: want a heading with the CPUs"}, nil},
		{
			"interrupts with a wrong row", irq, "-- proc/interrupts --\n CPU0 CPU1\nTLB: 1 2 TLB shootdowns\nwhat is this\nERR: 4\n", model.SourcePartial,
			[]string{"line 3"},
			map[string]float64{`node_interrupts_total{type="TLB"}`: 3, `node_interrupts_total{type="ERR"}`: 4},
		},
		{
			"zoneinfo wrong", zone, "-- proc/zoneinfo --\nNode x, zone Normal\n  pages free 4\nNode 1, zone Normal\n  pages free 9\n        min x\n        present 10\n",
			model.SourcePartial,
			[]string{"proc/zoneinfo line 1: want Node, its number, zone and its name (and 1 more lines)"},
			map[string]float64{`node_zoneinfo_nr_free_pages{node="1",zone="Normal"}`: 9},
		},
		{
			"buddyinfo wrong", func() collectors.Source { return newBuddyinfo() }, "-- proc/buddyinfo --\nNode 0, zone Normal 1 2 x\n", model.SourcePartial,
			[]string{"proc/buddyinfo line 1: want a number for each order"},
			map[string]float64{`node_buddyinfo_blocks{node="0",size="1",zone="Normal"}`: 2},
		},
		{
			"swaps wrong", func() collectors.Source { return newSwaps() }, "-- proc/swaps --\nFilename Type Size Used Priority\n/swap file x 0 -2\n/b file 8 4 -2\n", model.SourcePartial,
			[]string{"proc/swaps line 2: want name, type, size and used"},
			map[string]float64{`stallmark_swap_used_bytes{device="/b",type="file"}`: 4096},
		},
		{"no sysctls", sets, "", model.SourceAbsent, []string{"no proc/sys/vm"}, nil},
		{
			"some sysctls", sets, "-- proc/sys/vm/swappiness --\n1\n-- proc/sys/vm/dirty_ratio ! EACCES --\n", model.SourcePartial,
			[]string{"cannot read vm.dirty_ratio"},
			map[string]float64{`stallmark_setting{name="vm.swappiness"}`: 1},
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := newReader(t, c.source())
			r.read(tree(t, c.tree))
			r.wantState(t, c.source().Name(), c.state, c.texts...)
			r.want(t, c.want)
			if c.state != model.SourceOK && c.state != model.SourcePartial {
				r.wantNone(t, "node_", "stallmark_dirty", "stallmark_swap", "stallmark_cpus")
			}
		})
	}
}

// TestReclaimSums: one name for what kernels name differently, and
// pgscan_direct_throttle is no part of it.
func TestReclaimSums(t *testing.T) {
	const limits = "nr_dirty_threshold 1\nnr_dirty_background_threshold 1\n"
	for _, c := range []struct {
		name, text string
		want       map[string]float64
		none       string
	}{
		{
			"up to 4.7", "allocstall 5\npgscan_direct_dma 1\npgscan_direct_normal 2\npgscan_direct_high 4\npgscan_direct_throttle 99\npgsteal_direct_movable 3\npgscan_kswapd_dma32 7\n",
			map[string]float64{"stallmark_allocstall_total": 5, "stallmark_pgscan_direct_total": 7, "stallmark_pgsteal_direct_total": 3, "stallmark_pgscan_kswapd_total": 7},
			"x",
		},
		{
			"since 4.8", "allocstall_dma 1\nallocstall_dma32 2\nallocstall_normal 3\nallocstall_movable 4\nallocstall_device 5\npgscan_direct 6\npgscan_direct_throttle 99\npgsteal_direct 7\npgscan_kswapd 8\n",
			map[string]float64{"stallmark_allocstall_total": 15, "stallmark_pgscan_direct_total": 6, "stallmark_pgsteal_direct_total": 7, "stallmark_pgscan_kswapd_total": 8},
			"x",
		},
		{
			"without nr_dirty nobody knows the level", "nr_writeback 5\nnr_unstable 0\n",
			map[string]float64{"node_vmstat_nr_writeback": 5},
			"stallmark_dirty_level",
		},
		{"up to 3.4 nobody says who stole", "allocstall 1\npgsteal_normal 9\nkswapd_steal 8\n", map[string]float64{"stallmark_allocstall_total": 1}, "stallmark_pgsteal"},
		{"only throttled", "pgscan_direct_throttle 99\n", nil, "stallmark_pgscan"},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := newReader(t, newVmstat(Config{PageSize: 4096}))
			r.read(tree(t, "-- proc/vmstat --\n"+c.text+limits))
			r.want(t, c.want)
			r.wantNone(t, c.none)
		})
	}
}

// TestDirtyLimits works the limits out where the kernel does not say them.
func TestDirtyLimits(t *testing.T) {
	const pages = "-- proc/vmstat --\nnr_free_pages 1000\nnr_active_file 3000\nnr_inactive_file 5999\nnr_active_anon 500\nnr_inactive_anon 500\n"
	sysctl := func(name, value string) string { return "-- proc/sys/vm/" + name + " --\n" + value + "\n" }
	for _, c := range []struct {
		name, tree        string
		page              int
		thresh, backgound float64
	}{
		{"ratios", sysctl("dirty_ratio", "20") + sysctl("dirty_background_ratio", "10"), 4096, 2000, 1000},
		{"anonymous memory counts while there is free swap", "-- proc/meminfo --\nSwapTotal: 8 kB\nSwapFree: 8 kB\n" + sysctl("dirty_ratio", "20") + sysctl("dirty_background_ratio", "10"), 4096, 2200, 1100},
		{"no free swap", "-- proc/meminfo --\nSwapFree: 0 kB\n" + sysctl("dirty_ratio", "20") + sysctl("dirty_background_ratio", "10"), 4096, 2000, 1000},
		{"the floor of 5 percent", sysctl("dirty_ratio", "1") + sysctl("dirty_background_ratio", "1"), 4096, 500, 100},
		{"background is kept below", sysctl("dirty_ratio", "20") + sysctl("dirty_background_ratio", "60"), 4096, 2000, 1000},
		{"bytes, rounded up", sysctl("dirty_ratio", "0") + sysctl("dirty_background_ratio", "0") + sysctl("dirty_bytes", "67108865") + sysctl("dirty_background_bytes", "33554432"), 4096, 16385, 8192},
		{"bytes and pages of 64 KiB", sysctl("dirty_ratio", "0") + sysctl("dirty_background_ratio", "10") + sysctl("dirty_bytes", "134217728") + sysctl("dirty_background_bytes", "0"), 65536, 2048, 1000},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := newReader(t, newVmstat(Config{PageSize: c.page}))
			r.read(tree(t, pages+c.tree))
			r.want(t, map[string]float64{"stallmark_dirty_threshold_pages": c.thresh, "stallmark_dirty_background_threshold_pages": c.backgound})
			r.wantState(t, "vmstat", model.SourceOK)
		})
	}
}

func TestFilesystems(t *testing.T) {
	root := tree(t, `-- proc/1/mountinfo --
21 1 8:1 / / rw,relatime - ext4 /dev/sda1 rw
22 21 8:1 /srv /bind rw - ext4 /dev/sda1 rw
23 21 7:0 / /snap/x ro - squashfs /dev/loop0 ro
24 21 0:30 / /run rw - tmpfs tmpfs rw
25 21 8:16 / /data\040two rw - xfs /dev/sdb rw
26 21 0:31 / /b rw - btrfs /dev/sdc rw
27 21 8:32 / /dead rw - ext4 /dev/sdd rw
`)
	asked := map[string]int{}
	statfs := func(path string) (FileSystem, error) {
		asked[path]++
		switch path {
		case "/dead":
			return FileSystem{}, syscall.EIO
		case "/b":
			return FileSystem{SizeBytes: 10, AvailBytes: 5}, nil
		}
		return FileSystem{SizeBytes: 100, AvailBytes: 40, Files: 9, FilesFree: 8}, nil
	}
	r := newReader(t, newFilesystems(Config{Statfs: statfs}.withDefaults()))
	r.read(root)
	r.want(t, map[string]float64{
		`node_filesystem_size_bytes{device="/dev/sda1",fstype="ext4",mountpoint="/"}`:        100,
		`node_filesystem_avail_bytes{device="/dev/sdb",fstype="xfs",mountpoint="/data two"}`: 40,
		`node_filesystem_files_free{device="/dev/sdb",fstype="xfs",mountpoint="/data two"}`:  8,
		`node_filesystem_avail_bytes{device="/dev/sdc",fstype="btrfs",mountpoint="/b"}`:      5,
	})
	r.wantNone(t, `node_filesystem_files_free{device="/dev/sdc"`, `node_filesystem_size_bytes{device="/dev/sdd"`)
	r.wantState(t, "filesystems", model.SourcePartial, "statfs failed on 1 file systems: /dead: input/output error")
	for _, path := range []string{"/bind", "/snap/x", "/run"} {
		if asked[path] != 0 {
			t.Errorf("statfs was asked about %s", path)
		}
	}
}

func TestNoMounts(t *testing.T) {
	r := newReader(t, newFilesystems(Config{Statfs: func(string) (FileSystem, error) { return FileSystem{}, errors.ErrUnsupported }}.withDefaults()))
	r.read(tree(t, "-- proc/1/mountinfo ! EACCES --\n-- proc/self/mountinfo ! EACCES --\n"))
	r.wantState(t, "filesystems", model.SourceDenied, "proc/1/mountinfo")
}

func TestVirtual(t *testing.T) {
	for want, text := range map[string]string{
		"kvm":    "-- sys/class/dmi/id/sys_vendor --\nQEMU\n",
		"amazon": "-- sys/class/dmi/id/product_name --\nAmazon EC2\n",
		"xen":    "-- sys/hypervisor/type --\nxen\n",
		"hyperv": "-- sys/class/dmi/id/sys_vendor --\nMicrosoft Corporation\n-- sys/class/dmi/id/product_name --\nVirtual Machine\n",
		"vm":     "-- proc/cpuinfo --\nflags : fpu hypervisor\n",
		"none":   "-- proc/cpuinfo --\nflags : fpu hypervisor_not\n",
		"":       "-- proc/cpuinfo --\nFeatures : fp asimd\n",
	} {
		if got := virtualOf(tree(t, text)); got != want {
			t.Errorf("%s: got %q; want %q", strings.ReplaceAll(text, "\n", " "), got, want)
		}
	}
}
