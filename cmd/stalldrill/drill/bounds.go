package drill

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"golang.org/x/sys/unix"

	"stallmark/cmd/stalldrill/host"
	"stallmark/cmd/stalldrill/work"
)

// Limits are what a drill leaves to others, bytes.
type Limits struct {
	MaxDisk     int64 // that it uses at most; 0: a third of what is free
	LeaveDisk   int64
	LeaveMemory int64 // available memory that eaters leave
	AnyDisk     bool  // files in memory will do, as in tests
}

// DefaultLimits leave 5 GiB of the disk, and a quarter of the memory but no
// less than 1 GiB.
func DefaultLimits(total int64) Limits {
	return Limits{LeaveDisk: 5 * gib, LeaveMemory: max(total/4, 1*gib)}
}

// leastMemory ends every drill: below it the OOM killer is near.
const leastMemory = 300 * mib

// smallestScale is how far files may shrink for want of room; smaller ones would
// fit into caches and provoke nothing.
const smallestScale = 0.25

// room is how many bytes a drill may write.
func (l Limits) room(free int64) int64 {
	most := free / 3
	if l.MaxDisk > 0 {
		most = min(most, l.MaxDisk)
	}
	return max(min(most, free-l.LeaveDisk), 0)
}

// Survey gathers the facts for a mode in a folder below dir.
func Survey(h host.Host, m Mode, dir string, l Limits) (Facts, error) {
	memory, err := h.ReadMemory()
	if err != nil {
		return Facts{}, err
	}
	disk, err := host.ReadDisk(dir)
	if err != nil {
		return Facts{}, err
	}
	if disk.InMemory && !l.AnyDisk {
		return Facts{}, fmt.Errorf("%s is in memory: name a folder on a disk with --dir", dir)
	}
	f := Facts{Host: h, Folder: dir, Memory: memory, Leave: max(l.LeaveMemory, leastMemory+200*mib), Dirty: ceiling(h), Disk: h.WholeDisk(disk.Device)}
	f.Scale = min(1, float64(l.room(disk.Free))/float64(m.Disk))
	if f.Scale < smallestScale {
		return Facts{}, fmt.Errorf("the disk is too full: %s are free, it wants %s and must leave %s",
			bytesText(disk.Free), bytesText(m.Disk), bytesText(l.LeaveDisk))
	}
	if m.Group != "" {
		if f.Group, err = h.FindCgroups(m.Group); err != nil {
			return Facts{}, err
		}
	}
	f.ZRAM = unix.Access(filepath.Join(h.Sys, "class/zram-control/hot_add"), unix.R_OK) == nil
	return f, nil
}

// ceiling is the level of dirty pages at which writers begin to be paused, in
// bytes; 0 where the kernel does not tell its limits.
func ceiling(h host.Host) int64 {
	c := h.ReadCounters(host.Scope{})
	return int64(c["nr_dirty_threshold"]+c["nr_dirty_background_threshold"]) / 2 * int64(unix.Getpagesize())
}

// check refuses a plan that the machine cannot bear, or that we may not carry
// out.
func (p Plan) check(f Facts) error {
	wants := work.Memory(p.Specs())
	if f.Memory.Available-wants < f.Leave {
		return fmt.Errorf("memory is too short: %s are available, it wants %s and must leave %s",
			bytesText(f.Memory.Available), bytesText(wants), bytesText(f.Leave))
	}
	for _, s := range p.Settings {
		if err := unix.Access(s.Path, unix.R_OK|unix.W_OK); err != nil && !s.absent() {
			return fmt.Errorf("it must change %s: %w", s.Path, err)
		}
	}
	if len(p.Limits) > 0 {
		if err := unix.Access(f.Group.Parent, unix.W_OK); err != nil {
			return fmt.Errorf("it must make a control group in %s: %w", f.Group.Parent, err)
		}
	}
	if p.Swap > 0 && unix.Geteuid() != 0 {
		return fmt.Errorf("it must set up swap: run as root")
	}
	return nil
}

// absent tells whether a setting may be left out here.
func (s Setting) absent() bool {
	_, err := os.Stat(s.Path)
	return s.IfThere && errors.Is(err, fs.ErrNotExist)
}

// Possible tells why a mode cannot run here, nil if it can.
func Possible(h host.Host, m Mode, dir string, l Limits) error {
	f, err := Survey(h, m, dir, l)
	if err != nil {
		return err
	}
	return m.Plan(f).check(f)
}

// bytesText is a size for people.
func bytesText(n int64) string {
	if n < gib {
		return fmt.Sprintf("%d MiB", n/mib)
	}
	return fmt.Sprintf("%.1f GiB", float64(n)/gib)
}
