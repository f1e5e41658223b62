package main

import (
	"stallmark/collectors"
	"stallmark/collectors/jvm/hsperf"
	"stallmark/collectors/process"
)

// liveRoot is this host: the kernel's files, and the counter files of its JVMs.
func liveRoot(o *options) collectors.Root {
	return hsperf.NewRoot(collectors.NewLiveRoot(o.paths), process.NewRootOpener(o.paths.Procfs))
}

// jvmCounters is the source of the watched JVMs' own counters.
func (m machine) jvmCounters(watched *process.Watched) collectors.Source {
	c := hsperf.Config{Processes: watched.Processes, ClockTicks: m.clockTicks}
	if m.logs != nil {
		c.Pauses = m.logs.pauses
	}
	return hsperf.New(c)
}
