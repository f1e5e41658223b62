package view

import "stallmark/web/chart"

// Disk is one row of the disk table. Numbers are texts in the column's unit; a
// dash where nothing was measured.
type Disk struct {
	Name    string
	Kind    string
	Backing string
	About   string // model and scheduler
	Mounts  []string
	Stores  []string // whose store is on it

	ReadOps, WriteOps     string // per second
	ReadRate, WriteRate   string // MiB/s
	ReadAwait, WriteAwait string // ms
	ReadSize, WriteSize   string // KiB a request
	Queue                 string
	Util                  string // % of time with at least one request: not saturation
	Active                bool
	Load                  float64 // average queue length, for the order
}

// Disks is the disk page.
type Disks struct {
	Page
	Span    string   // what the numbers are a mean of
	Active  []Disk   // physical, with I/O or a store
	Idle    []string // names of physical ones without any
	Folded  []Disk   // partitions, dm, md, loop
	Charts  []chart.Figure
	More    int    // idle ones that are not named
	Missing string // why there is nothing, empty if there is
}
