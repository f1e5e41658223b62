package host

import (
	"fmt"
	"strings"

	"stallmark/collectors"
	"stallmark/storage/model"
)

// filesystems asks each file system on a block device for its size. It is a
// source of its own since statfs hangs with the device.
type filesystems struct {
	statfs func(string) (FileSystem, error)
	disks  *Disks
	known  map[Mount]*fsSeries
}

type fsSeries struct {
	size, avail, files *model.Series
}

func newFilesystems(c Config) *filesystems {
	return &filesystems{statfs: c.Statfs, disks: c.Disks, known: map[Mount]*fsSeries{}}
}

// Name implements [collectors.Source].
func (*filesystems) Name() string { return "filesystems" }

// Provides implements [collectors.Source].
func (*filesystems) Provides() []string { return []string{"node_filesystem_"} }

// Collect implements [collectors.Source].
func (f *filesystems) Collect(root collectors.Root, out *collectors.Out) error {
	if f.statfs == nil {
		return collectors.Absent("a recording does not hold the sizes of file systems", "run on the host itself")
	}
	mounts, err := readMounts(root)
	if len(mounts) == 0 {
		return err
	}
	known := map[Mount]*fsSeries{}
	failed := 0
	var first error
	for _, m := range f.choose(mounts) {
		size, err := f.statfs(m.Point)
		if err != nil {
			failed++
			if first == nil {
				first = fmt.Errorf("%s: %w", cleanText([]byte(m.Point)), err)
			}
			continue
		}
		s := f.known[m]
		if s == nil {
			s = newFSSeries(m)
		}
		known[m] = s
		out.Add(s.size, size.SizeBytes)
		out.Add(s.avail, size.AvailBytes)
		if size.Files > 0 {
			out.Add(s.files, size.FilesFree)
		}
	}
	f.known = known
	if failed > 0 {
		return collectors.Partial(fmt.Sprintf("statfs failed on %d file systems: %v", failed, first),
			"let this user search the folders above the mount point; --rootfs names the host's /")
	}
	return err
}

// choose gives one mount for each file system that lies on a block device and
// can be written: those that are read-only by nature are always full.
func (f *filesystems) choose(mounts []Mount) []Mount {
	var chosen []Mount
	index := map[string]int{}
	for _, m := range mounts {
		if !strings.HasPrefix(m.Source, "/dev/") && !f.onDisk(m) {
			continue
		}
		switch m.FSType {
		case "squashfs", "iso9660", "udf", "erofs", "cramfs", "devtmpfs", "overlay":
			continue
		}
		if i, seen := index[m.Device]; seen {
			if chosen[i].Root != "/" && m.Root == "/" {
				chosen[i] = m
			}
			continue
		}
		index[m.Device] = len(chosen)
		chosen = append(chosen, m)
	}
	return chosen
}

// onDisk goes by the device number, for sources that are no path.
func (f *filesystems) onDisk(m Mount) bool {
	_, _, ok := f.disks.DeviceOfMount(m)
	return ok || m.FSType == "zfs"
}

func newFSSeries(m Mount) *fsSeries {
	labels := []string{
		"mountpoint", cleanText([]byte(m.Point)), "device", cleanText([]byte(m.Source)), "fstype", cleanText([]byte(m.FSType)),
	}
	return &fsSeries{
		size:  model.NewSeries("node_filesystem_size_bytes", labels...),
		avail: model.NewSeries("node_filesystem_avail_bytes", labels...),
		files: model.NewSeries("node_filesystem_files_free", labels...),
	}
}
