package host

import (
	"path"
	"slices"
	"strings"
	"sync/atomic"

	"stallmark/collectors"
)

// Disks knows which block device is under a device number or a path, and which
// physical disks are below that. The source "disks" keeps it up to date; it
// may be read by other goroutines at any time and knows nothing before the
// first reading.
type Disks struct {
	now     atomic.Pointer[topology]
	changed atomic.Bool // a disk came or went: read again on the next beat
}

// NewDisks makes an empty one, to be shared by the configurations of the
// sources that need it.
func NewDisks() *Disks { return &Disks{} }

// Refresh reads the devices and mounts of the host. It keeps what it could
// read; the error says what it could not.
func (d *Disks) Refresh(root collectors.Root) error {
	t, err := readTopology(root)
	d.now.Store(t)
	return err
}

// DeviceOf says which block device is under a device number ("254:0") or an
// absolute path in the host's mount namespace ("/data/store"), by its name in
// /proc/diskstats, and which physical disks are below it: itself for a disk,
// comma-separated names where there are several, empty if that is not known
// or there is none (a loop device over tmpfs, zram).
func (d *Disks) DeviceOf(what string) (device, physical string, ok bool) {
	t := d.now.Load()
	if t == nil {
		return "", "", false
	}
	if strings.HasPrefix(what, "/") {
		device = t.deviceOfPath(path.Clean(what), 0)
	} else {
		device = t.deviceOfNumber(what, 0)
	}
	return t.answer(device)
}

// DeviceOfMount is DeviceOf for a mount of any process, which may not be in
// the host's own mount namespace.
func (d *Disks) DeviceOfMount(m Mount) (device, physical string, ok bool) {
	t := d.now.Load()
	if t == nil {
		return "", "", false
	}
	return t.answer(t.deviceOfMount(m, 0))
}

// maxDepth bounds how deep devices may lie on each other (a partition under
// md under crypt under lvm under a loop is 5), against cycles in forged trees.
const maxDepth = 16

// topology is what is known at one time. It is not changed once it is there.
type topology struct {
	devices  []*device          // in the order of the kernel
	byName   map[string]*device // and by the name below /dev/mapper
	byNumber map[string]*device
	mounts   []Mount
}

// device is one block device.
type device struct {
	name    string // as in /proc/diskstats
	alias   string // "mapper/vg-lv" for a device-mapper device
	sys     string // its folder in /sys, empty if there is none
	number  string // major:minor
	kind    string
	below   []string // names of the devices that it lies on
	file    string   // the file under a loop device
	size    uint64   // bytes
	hasSize bool
	used    bool // it has done I/O
	mounts  []Mount
}

// answer puts the physical disks beside a device.
func (t *topology) answer(name string) (device, physical string, ok bool) {
	if name == "" {
		return "", "", false
	}
	return name, strings.Join(t.physical(name, 0), ","), true
}

// physical follows a device down to the disks, sorted.
func (t *topology) physical(name string, depth int) []string {
	d := t.byName[name]
	if d == nil || depth > maxDepth {
		return nil
	}
	if d.file != "" {
		if under := t.deviceOfPath(d.file, depth+1); under != "" && under != name {
			return t.physical(under, depth+1)
		}
		return nil
	}
	if len(d.below) == 0 {
		if isBottom(d.kind) {
			return []string{name}
		}
		return nil
	}
	var all []string
	for _, b := range d.below {
		all = append(all, t.physical(b, depth+1)...)
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// isBottom reports whether a device of the kind can be the last one.
func isBottom(kind string) bool {
	switch kind {
	case "loop", "zram", "ram", "dm", "md", "partition":
		return false
	}
	return true
}

// deviceOfPath finds the mount of a path and its device; empty if there is none.
func (t *topology) deviceOfPath(p string, depth int) string {
	m, ok := MountOf(t.mounts, p)
	if !ok || depth > maxDepth {
		return ""
	}
	return t.deviceOfMount(m, depth)
}

// deviceOfNumber also knows the numbers of file systems without a device of
// their own, if they are mounted.
func (t *topology) deviceOfNumber(number string, depth int) string {
	if d := t.byNumber[number]; d != nil {
		return d.name
	}
	for _, m := range t.mounts {
		if m.Device == number && depth <= maxDepth {
			return t.deviceOfMount(m, depth+1)
		}
	}
	return ""
}

// deviceOfMount goes by the number; then by the source, since btrfs and others
// report a number that is no device's; then, for an overlay, by the folder that
// takes the writes.
func (t *topology) deviceOfMount(m Mount, depth int) string {
	if d := t.byNumber[m.Device]; d != nil {
		return d.name
	}
	if dev, ok := strings.CutPrefix(m.Source, "/dev/"); ok {
		if d := t.byName[dev]; d != nil {
			return d.name
		}
	}
	if m.FSType == "overlay" && depth <= maxDepth {
		for option := range strings.SplitSeq(m.Options, ",") {
			if upper, ok := strings.CutPrefix(option, "upperdir="); ok && strings.HasPrefix(upper, "/") {
				return t.deviceOfPath(path.Clean(upper), depth+1)
			}
		}
	}
	return ""
}
