package host

import (
	"time"

	"stallmark/collectors"
)

// Config is what the sources need to know beyond what they read.
type Config struct {
	PageSize   int    // bytes; 4096 if 0
	ClockTicks int    // USER_HZ, ticks a second in /proc/stat; 100 if 0
	Hostname   string // read from proc/sys/kernel/hostname if empty
	Kernel     string // release; read from proc/sys/kernel/osrelease if empty
	// Statfs asks for the size of the file system that is mounted at a path of
	// the host. It may hang for as long as a dead device does. Nil where there
	// is nothing to ask, as in a recording.
	Statfs func(path string) (FileSystem, error)
	// Disks is kept up to date by the source "disks" and may be shared with
	// whoever needs to know which disk is under a path. Made if nil.
	Disks *Disks
}

// FileSystem is what statfs(2) says of one file system.
type FileSystem struct {
	SizeBytes  float64
	AvailBytes float64 // for an unprivileged user
	Files      float64 // inodes in all; 0 where the file system has no fixed number (btrfs)
	FilesFree  float64
}

// Cadences of the sources that do not need every beat. One that keeps counters
// is read at most once a second, since its file is dear (interrupts: 47 us on
// two CPUs, growing with CPUs times interrupts) and rules look at seconds.
const (
	perSecond     = time.Second
	settingsEvery = 2 * time.Second // a change is marked on the charts at once
	topologyEvery = 10 * time.Second
	devicesEvery  = time.Minute
)

// Sources lists the sources of the host in a fixed order.
func Sources(c Config) []collectors.Source {
	c = c.withDefaults()
	return []collectors.Source{
		newConstants(c),
		newVmstat(c),
		newMeminfo(),
		newDiskstats(c.Disks),
		newStat(c),
		newPressure(),
		newLoadavg(),
		slower(perSecond, newInterrupts()),
		slower(perSecond, newSoftirqs()),
		slower(perSecond, newZoneinfo()),
		slower(perSecond, newBuddyinfo()),
		slower(perSecond, newSwaps()),
		slower(settingsEvery, newSettings()),
		newDisksSource(c.Disks),
		slower(topologyEvery, newFilesystems(c)),
	}
}

func (c Config) withDefaults() Config {
	if c.PageSize <= 0 {
		c.PageSize = 4096
	}
	if c.ClockTicks <= 0 {
		c.ClockTicks = 100
	}
	if c.Disks == nil {
		c.Disks = NewDisks()
	}
	return c
}
