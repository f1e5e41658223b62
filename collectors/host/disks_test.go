package host

import (
	"slices"
	"strings"
	"testing"

	"stallmark/storage/model"
)

func TestDeviceOf(t *testing.T) {
	for _, c := range []struct{ tree, what, device, physical string }{
		{"2.6.32", "/data one/store", "dm-0", "sda"},
		{"2.6.32", "/boot", "sda1", "sda"},
		{"2.6.32", "/bootless", "dm-0", "sda"},
		{"2.6.32", "8:1", "sda1", "sda"},
		{"2.6.32", "104:0", "cciss/c0d0", "cciss/c0d0"},
		{"3.10", "/data/rocketmq/store/commitlog", "md0", "sda,sdb"},
		{"3.10", "/data/", "sda1", "sda"},
		{"4.18", "/var/lib/kafka/topic-0", "dm-1", "nvme0n1"},
		{"4.18", "253:1", "dm-1", "nvme0n1"},
		{"4.18", "/mnt/nfs/x", "", ""},
		{"5.4", "/snap/core18/2790/bin", "loop0", "xvda1"},
		{"6.1", "/var/lib", "sda", "sda"}, // overlay, by its upperdir
		{"6.1", "0:31", "sda", "sda"},     // btrfs, by its source
		{"6.1", "7:0", "loop0", "sda"},    // loop over a file on btrfs
		{"6.1", "252:0", "zram0", ""},     // memory
		{"6.1", "../etc", "", ""},         // neither
		{"6.18", "/root/store", "vda", "vda"},
	} {
		d := NewDisks()
		if _, _, ok := d.DeviceOf(c.what); ok {
			t.Fatalf("an answer before the first reading")
		}
		if err := d.Refresh(treeFile(t, c.tree)); err != nil {
			t.Fatalf("%s: %v", c.tree, err)
		}
		device, physical, ok := d.DeviceOf(c.what)
		if device != c.device || physical != c.physical || ok != (c.device != "") {
			t.Errorf("%s: DeviceOf(%q) = %q on %q, %v; want %q on %q", c.tree, c.what, device, physical, ok, c.device, c.physical)
		}
	}
}

func TestDeviceOfMountElsewhere(t *testing.T) {
	d := NewDisks()
	if err := d.Refresh(treeFile(t, "3.10")); err != nil {
		t.Fatal(err)
	}
	device, physical, ok := d.DeviceOfMount(Mount{Device: "9:0", Point: "/only/in/the/container"})
	if device != "md0" || physical != "sda,sdb" || !ok {
		t.Errorf("got %q on %q, %v; want md0 on sda,sdb", device, physical, ok)
	}
}

// TestDisksByName is what the recordings of others have: diskstats only.
func TestDisksByName(t *testing.T) {
	var text strings.Builder
	for _, name := range []string{"sda", "sda1", "sda12", "nvme0n1", "nvme0n1p3", "mmcblk0", "mmcblk0p1", "xvdf1", "md127", "md127p1", "dm-3", "loop7", "loop7p1", "cciss/c0d0", "cciss/c0d0p2", "vdb", "zram0", "sr0"} {
		text.WriteString(diskLine(name, "3"))
	}
	text.WriteString("   8       0 vdc 0 0 0 0 0 0 0 0 0 0 0\n") // never used
	r := newReader(t, newDisksSource(NewDisks()))
	r.read(diskTree(text.String()))
	want := map[string]float64{}
	for _, series := range []string{
		`device="sda",kind="disk"|sda`, `device="sda1",kind="partition"|sda`, `device="sda12",kind="partition"|sda`,
		`device="nvme0n1",kind="disk"|nvme0n1`, `device="nvme0n1p3",kind="partition"|nvme0n1`,
		`device="mmcblk0",kind="disk"|mmcblk0`, `device="mmcblk0p1",kind="partition"|mmcblk0`,
		`device="xvdf1",kind="disk"|xvdf1`, `device="md127",kind="md"|`, `device="md127p1",kind="partition"|`,
		`device="dm-3",kind="dm"|`, `device="loop7",kind="loop"|`, `device="loop7p1",kind="partition"|`,
		`device="cciss/c0d0",kind="disk"|cciss/c0d0`, `device="cciss/c0d0p2",kind="partition"|cciss/c0d0`,
		`device="vdb",kind="disk"|vdb`, `device="zram0",kind="zram"|`, `device="sr0",kind="rom"|sr0`,
	} {
		labels, backing, _ := strings.Cut(series, "|")
		if backing != "" {
			labels = `backing="` + backing + `",` + labels
		}
		want["stallmark_disk_info{"+labels+"}"] = 1
	}
	r.want(t, want)
	r.wantNone(t, `stallmark_disk_info{backing="vdc"`)
	r.wantState(t, "disks", model.SourcePartial, "no sys/class/block", "proc/1/mountinfo", "--sysfs")
}

// TestDisksFollowChanges: a disk that comes is known within a second, and the
// facts of one that went are forgotten.
func TestDisksFollowChanges(t *testing.T) {
	root := treeFile(t, "6.18")
	disks := NewDisks()
	r := newReader(t, newDiskstats(disks), newDisksSource(disks))
	r.read(root)
	r.read(root)
	r.read(with(root, map[string][]byte{
		"proc/diskstats": append(append([]byte{}, root.Files["proc/diskstats"]...), diskLine("sdb", "5")...),
	}))
	r.want(t, map[string]float64{`stallmark_disk_info{backing="sdb",device="sdb",kind="disk"}`: 1})
	if _, _, ok := disks.DeviceOf("8:0"); !ok {
		t.Error("the new disk is not known")
	}
	r.read(root)
	r.wantNone(t, `stallmark_disk_info{backing="sdb"`)
}

func TestMountChanges(t *testing.T) {
	root := treeFile(t, "3.10")
	r := newReader(t, newDisksSource(NewDisks()))
	r.read(root)
	r.texts(model.EventSetting)
	r.at = r.at.Add(topologyEvery)
	r.read(with(root, map[string][]byte{
		"proc/1/mountinfo": []byte("39 1 8:1 / / ro,relatime shared:1 - xfs /dev/sda1 rw,noquota\n"),
	}))
	want := []string{
		"block.md0.fstype: ext4 -> ",
		"block.md0.mounts: /data/rocketmq -> ",
		"block.md0.options: rw,noatime,data=ordered -> ",
		"block.sda1.options: rw,relatime,attr2,inode64,noquota -> ro,relatime,noquota",
	}
	if got := r.texts(model.EventSetting); !slices.Equal(got, want) {
		t.Errorf("events\n%q; want\n%q", got, want)
	}
	if !slices.Contains(r.stale, `stallmark_disk_info{backing="sda,sdb",device="md0",kind="md",mount="/data/rocketmq"}`) {
		t.Errorf("the info of the mounted md0 did not end: %q", r.stale)
	}
}

// TestCycle: a forged tree whose devices lie on each other must not hang.
func TestCycle(t *testing.T) {
	root := tree(t, `-- proc/diskstats --
 253 0 dm-0 1 0 8 1 0 0 0 0 0 1 1
 253 1 dm-1 1 0 8 1 0 0 0 0 0 1 1
 7 0 loop0 1 0 8 1 0 0 0 0 0 1 1
-- sys/class/block/dm-0/slaves/dm-1 --
-- sys/class/block/dm-0/size --
8
-- sys/class/block/dm-1/slaves/dm-0 --
-- sys/class/block/dm-1/size --
8
-- sys/class/block/loop0/loop/backing_file --
/mnt/file
-- sys/class/block/loop0/size --
8
-- proc/1/mountinfo --
1 0 7:0 / /mnt rw - ext4 /dev/loop0 rw
2 0 0:5 / / rw - overlay overlay rw,upperdir=/x
`)
	d := NewDisks()
	if err := d.Refresh(root); err != nil {
		t.Fatal(err)
	}
	for _, what := range []string{"253:0", "7:0", "/mnt/file", "/x/y", "0:5"} {
		if _, physical, _ := d.DeviceOf(what); physical != "" {
			t.Errorf("DeviceOf(%q) ends on %q; want nothing", what, physical)
		}
	}
}

func TestParseMounts(t *testing.T) {
	mounts, err := ParseMounts("mountinfo", []byte(strings.Join([]string{
		`36 35 98:0 /mnt1 /mnt2 rw,noatime master:1 shared:2 - ext3 /dev/root rw,errors=continue`,
		`37 35 0:9 / /with\040space\011tab\134back rw - tmpfs  rw`, // no source
		`38 35 8:1 / /ro rw,nosuid - ext4 /dev/sda1 ro,errors=remount-ro`,
		`39 35 8:2 / /half\0 rw - fuse.x a\\b rw,x=1`,
		`nonsense`,
		`40 35 8:x / /bad rw - ext4 /dev/x rw`,
		`41 35 8:3 / relative rw - ext4 /dev/x rw`,
	}, "\n")+"\n"))
	if err == nil || !strings.Contains(err.Error(), "mountinfo line 5: want id, parent") || !strings.Contains(err.Error(), "2 more lines") {
		t.Errorf("error %v; want one that names line 5 and counts 2 more", err)
	}
	want := []Mount{
		{"98:0", "/mnt1", "/mnt2", "ext3", "/dev/root", "rw,noatime,errors=continue"},
		{"0:9", "/", "/with space\ttab\\back", "tmpfs", "", "rw"},
		{"8:1", "/", "/ro", "ext4", "/dev/sda1", "ro,nosuid,errors=remount-ro"},
		{"8:2", "/", `/half\0`, "fuse.x", `a\\b`, "rw,x=1"},
	}
	if !slices.Equal(mounts, want) {
		t.Errorf("got\n%q; want\n%q", mounts, want)
	}
}

func TestMountOf(t *testing.T) {
	mounts := []Mount{{Point: "/", Device: "1:0"}, {Point: "/data", Device: "2:0"}, {Point: "/data/a", Device: "3:0"}, {Point: "/data", Device: "4:0"}}
	for path, want := range map[string]string{"/": "1:0", "/database": "1:0", "/data": "4:0", "/data/b": "4:0", "/data/a": "3:0", "/data/a/x": "3:0"} {
		if m, ok := MountOf(mounts, path); !ok || m.Device != want {
			t.Errorf("MountOf(%q) = %q, %v; want %q", path, m.Device, ok, want)
		}
	}
	if _, ok := MountOf(nil, "/x"); ok {
		t.Error("a mount out of nothing")
	}
}
