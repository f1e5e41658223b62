package host

import (
	"bytes"
	"errors"
	"path"
	"slices"
	"strings"

	"stallmark/collectors"
)

// readTopology reads the block devices, what they lie on, and what is mounted
// from them. Without /sys (a recording that lacks it) devices are told apart by
// name. The error names the first thing that could not be read.
func readTopology(root collectors.Root) (*topology, error) {
	t := &topology{byName: map[string]*device{}, byNumber: map[string]*device{}}
	devices, listErr := listDevices(root)
	t.devices = devices
	for _, d := range t.devices {
		t.byName[d.name] = d
		if d.number != "" {
			t.byNumber[d.number] = d
		}
	}
	inSys, sysErr := listSys(root)
	for _, d := range t.devices {
		if inSys[sysName(d.name)] {
			d.readSys(root)
		} else {
			d.guess(t.byName)
		}
		if d.alias != "" {
			t.byName[d.alias] = d
		}
	}
	mounts, mountErr := readMounts(root)
	t.mounts = mounts
	for _, m := range mounts {
		if d := t.byName[t.deviceOfMount(m, 0)]; d != nil {
			d.mounts = append(d.mounts, m)
		}
	}
	return t, topologyGap(listErr, sysErr, mountErr)
}

// listSys lists the folders of block devices.
func listSys(root collectors.Root) (map[string]bool, error) {
	names, err := root.ReadDir("sys/class/block")
	if err != nil {
		return nil, errors.New("no sys/class/block: devices are told apart by name, what dm and md lie on is not known")
	}
	all := make(map[string]bool, len(names))
	for _, name := range names {
		all[name] = true
	}
	return all, nil
}

// topologyGap is partial: some names are always there.
func topologyGap(all ...error) error {
	var texts []string
	for _, err := range all {
		if gap, ok := errors.AsType[*collectors.Gap](err); ok {
			texts = append(texts, gap.Detail)
		} else if err != nil {
			texts = append(texts, err.Error())
		}
	}
	if len(texts) == 0 {
		return nil
	}
	return collectors.Partial(strings.Join(texts, "; "),
		"mount the host's /proc and /sys readable and name them with --procfs and --sysfs")
}

// listDevices reads names and numbers from /proc/diskstats.
func listDevices(root collectors.Root) ([]*device, error) {
	f := file{name: "proc/diskstats"}
	data, err := f.read(root)
	if err != nil {
		return nil, err
	}
	var devices []*device
	l := readLines(f.name, data)
	for line, ok := l.next(); ok; line, ok = l.next() {
		var vals [len(diskColumns)]float64
		name, n := parseDisk(line, &vals)
		if n == 0 {
			l.fault("major, minor, device and 11, 15 or 17 numbers")
			continue
		}
		major, rest := cutField(line)
		minor, _ := cutField(rest)
		devices = append(devices, &device{
			name:   string(name),
			number: string(major) + ":" + string(minor),
			kind:   kindOf(string(name)),
			used:   slices.ContainsFunc(vals[:n], func(v float64) bool { return v != 0 }),
		})
	}
	return devices, l.faults.partial()
}

// sysName is a device's name as a folder name: a slash becomes an exclamation
// mark (cciss/c0d0).
func sysName(name string) string { return strings.ReplaceAll(name, "/", "!") }

// kindOf goes by the name alone.
func kindOf(name string) string {
	for _, k := range []struct{ prefix, kind string }{
		{"dm-", "dm"},
		{"md", "md"},
		{"loop", "loop"},
		{"zram", "zram"},
		{"ram", "ram"},
		{"sr", "rom"},
		{"scd", "rom"},
		{"nbd", "nbd"},
		{"fd", "floppy"},
	} {
		number, ok := strings.CutPrefix(name, k.prefix)
		if _, isNumber := parseUint([]byte(number)); ok && (isNumber || k.kind == "md") {
			return k.kind
		}
	}
	return "disk"
}

// readSys asks /sys what the device is (Documentation/ABI/testing/sysfs-block).
func (d *device) readSys(root collectors.Root) {
	d.sys = "sys/class/block/" + sysName(d.name)
	if text, ok := readText(root, d.sys+"/size"); ok {
		if sectors, isNumber := parseUint([]byte(text)); isNumber {
			d.size, d.hasSize = sectors*sectorSize, true
		}
	}
	if _, isPartition := readText(root, d.sys+"/partition"); isPartition {
		d.kind = "partition"
		if target, err := root.ReadLink(d.sys); err == nil {
			d.below = []string{deviceName(path.Base(path.Dir(target)))}
		}
		return
	}
	if slaves, err := root.ReadDir(d.sys + "/slaves"); err == nil {
		for _, s := range slaves {
			d.below = append(d.below, deviceName(s))
		}
		slices.Sort(d.below)
	}
	if dm, ok := readText(root, d.sys+"/dm/name"); ok {
		d.alias = "mapper/" + dm
	}
	if backing, err := root.Read(d.sys+"/loop/backing_file", nil); err == nil {
		d.file = path.Clean(string(bytes.TrimSuffix(backing, []byte("\n"))))
	}
}

// deviceName undoes sysName.
func deviceName(folder string) string { return strings.ReplaceAll(folder, "!", "/") }

// guess goes by the name: sda1 and nvme0n1p1 are partitions if there are sda
// and nvme0n1.
func (d *device) guess(byName map[string]*device) {
	stem := strings.TrimRight(d.name, "0123456789")
	if stem == d.name || stem == "" {
		return
	}
	if parent, ok := strings.CutSuffix(stem, "p"); ok && endsInDigit(parent) {
		stem = parent
	} else if endsInDigit(stem) {
		return
	}
	if byName[stem] != nil {
		d.kind, d.below = "partition", []string{stem}
	}
}

func endsInDigit(s string) bool { return s != "" && '0' <= s[len(s)-1] && s[len(s)-1] <= '9' }

// readText reads a small file as text fit to be shown; ok is false if it
// cannot be read.
func readText(root collectors.Root, name string) (string, bool) {
	data, err := root.Read(name, nil)
	if err != nil {
		return "", false
	}
	return cleanText(data), true
}
