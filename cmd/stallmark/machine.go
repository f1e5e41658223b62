package main

import (
	"os"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"stallmark/collectors"
	"stallmark/collectors/files"
	"stallmark/collectors/host"
	"stallmark/collectors/logs"
	"stallmark/collectors/pagecache"
	"stallmark/collectors/process"
	"stallmark/collectors/trace"
)

// machine is what the sources must know about a host besides its files.
type machine struct {
	pageSize   int // bytes
	clockTicks int // a second
	hostname   string
	kernel     string
	watch      []string
	recorded   bool // a replay
	thorough   bool // read more than judging needs, for a recording
	statfs     func(string) (host.FileSystem, error)
	opener     process.Files
	dataFiles  pagecache.Opener  // nil where there is no live kernel
	tracer     trace.Opener      // nil where there is no live kernel
	logFiles   logs.Files        // nil where there is no live kernel
	logs       *following        // nil where no logs are wanted
	alert      func() bool       // see more at a price; nil: never
	facts      map[string]string // what the recording has told so far
}

// thisMachine describes the running host. Name and kernel come from the given
// root, which in a container is the host's and not the container's.
func thisMachine(o *options, root collectors.Root) machine {
	opener := process.NewRootOpener(o.paths.Procfs)
	return machine{
		pageSize:   os.Getpagesize(),
		clockTicks: clockTicks(),
		hostname:   firstLine(root, "proc/sys/kernel/hostname"),
		kernel:     firstLine(root, "proc/sys/kernel/osrelease"),
		watch:      o.watch,
		statfs:     host.LiveStatfs(o.paths.Rootfs),
		opener:     opener,
		dataFiles:  opener,
		tracer:     trace.OpenPerf,
		logFiles:   opener,
	}
}

// recordedMachine describes the host of a recording.
func recordedMachine(m files.Meta, watch []string) machine {
	return machine{
		pageSize: m.PageSize, clockTicks: m.ClockTicks, hostname: m.Hostname, kernel: m.Kernel,
		watch: append(append([]string{}, m.Watch...), watch...), recorded: true, facts: map[string]string{},
	}
}

// sources lists all sources that read files, in the order in which a replay
// runs them.
func (m machine) sources() []collectors.Source {
	list, _ := m.filesAnd()
	return list
}

// traced is all sources and, among them, the one that has to be closed and the
// one that has a page of its own.
func (m machine) traced() ([]collectors.Source, *trace.Source, *pagecache.Source) {
	list, watched := m.filesAnd()
	waits := trace.New(trace.Config{Open: m.tracer, Watched: watched})
	cache := m.pageCache(watched)
	return append(list, waits, cache), waits, cache
}

// pageCache looks at what is in memory of the watched processes' data files. A
// recording gains nothing by it.
func (m machine) pageCache(watched *process.Watched) *pagecache.Source {
	return pagecache.New(pagecache.Config{
		Files: m.dataFiles, PageSize: m.pageSize, Now: time.Now, Alert: m.alert,
		Brokers: func() []pagecache.Broker {
			var brokers []pagecache.Broker
			for _, p := range watched.Processes() {
				brokers = append(brokers, pagecache.Broker{ID: p.ID, Process: p.Name, Role: p.Role, Store: p.Store})
			}
			return brokers
		},
	})
}

// filesAnd makes the sources that read files, and tells whom they watch.
func (m machine) filesAnd() ([]collectors.Source, *process.Watched) {
	disks := host.NewDisks()
	h := m.hostConfig()
	h.Disks = disks
	watched := process.NewWatched()
	p := process.Config{
		PageSize: m.pageSize, ClockTicks: m.clockTicks, Watch: m.watch, WatchAllRecorded: m.recorded,
		Thorough: m.thorough, Files: m.opener, Recorded: m.facts, Disks: below{disks},
		Watched: watched, Alert: m.alert,
	}
	list := append(append(host.Sources(h), process.Sources(p)...), m.jvmCounters(watched))
	if m.logs != nil {
		m.logs.connect(watched)
		list = append(list, m.logs.source)
	}
	return list, watched
}

// hostConfig is what the sources of the host itself must know.
func (m machine) hostConfig() host.Config {
	return host.Config{
		PageSize: m.pageSize, ClockTicks: m.clockTicks, Hostname: m.hostname, Kernel: m.kernel, Statfs: m.statfs,
	}
}

// below answers which disk is under a device number.
type below struct{ disks *host.Disks }

// Backing implements process.Disks.
func (b below) Backing(number string) string {
	_, physical, _ := b.disks.DeviceOf(number)
	return physical
}

// defaultTicks is USER_HZ on every architecture that this program is built for.
const defaultTicks = 100

// clockTicks asks the kernel for USER_HZ (AT_CLKTCK of the auxiliary vector).
func clockTicks() int {
	const atClockTicks = 17 // include/uapi/linux/auxvec.h
	vector, err := unix.Auxv()
	if err != nil {
		return defaultTicks
	}
	for _, pair := range vector {
		if pair[0] == atClockTicks && pair[1] > 0 {
			return int(pair[1])
		}
	}
	return defaultTicks
}

func firstLine(root collectors.Root, name string) string {
	data, err := root.Read(name, nil)
	if err != nil {
		return ""
	}
	line, _, _ := strings.Cut(string(data), "\n")
	return strings.TrimSpace(line)
}
