package host

import (
	"stallmark/collectors"
	"stallmark/storage/model"
)

// sectorSize is the unit of /proc/diskstats, whatever the disk's own sectors
// are (Documentation/admin-guide/iostats.rst).
const sectorSize = 512

// diskColumns are the numbers after the device name, in order. Kernels print
// the first 11; from 4.18 on 15, from 5.5 on 17.
var diskColumns = [...]struct {
	name  string
	scale float64 // multiplied
	parts float64 // divided by
}{
	{"node_disk_reads_completed_total", 1, 1},
	{"node_disk_reads_merged_total", 1, 1},
	{"node_disk_read_bytes_total", sectorSize, 1},
	{"node_disk_read_time_seconds_total", 1, 1000},
	{"node_disk_writes_completed_total", 1, 1},
	{"node_disk_writes_merged_total", 1, 1},
	{"node_disk_written_bytes_total", sectorSize, 1},
	{"node_disk_write_time_seconds_total", 1, 1000},
	{"node_disk_io_now", 1, 1},
	{"node_disk_io_time_seconds_total", 1, 1000},
	{"node_disk_io_time_weighted_seconds_total", 1, 1000},
	{"node_disk_discards_completed_total", 1, 1},
	{"node_disk_discards_merged_total", 1, 1},
	{"node_disk_discarded_sectors_total", 1, 1},
	{"node_disk_discard_time_seconds_total", 1, 1000},
	{"node_disk_flush_requests_total", 1, 1},
	{"node_disk_flush_requests_time_seconds_total", 1, 1000},
}

// diskstats reads /proc/diskstats.
type diskstats struct {
	file
	disks    presence[disk]
	topology *Disks
}

// disk is one device of the file.
type disk struct {
	series [len(diskColumns)]*model.Series
	used   bool // it has done I/O
}

func newDiskstats(d *Disks) *diskstats {
	return &diskstats{file: file{name: "proc/diskstats"}, disks: newPresence[disk]("disk"), topology: d}
}

// Name implements [collectors.Source].
func (*diskstats) Name() string { return "diskstats" }

// Provides implements [collectors.Source].
func (*diskstats) Provides() []string { return []string{"node_disk_"} }

// Collect implements [collectors.Source].
func (d *diskstats) Collect(root collectors.Root, out *collectors.Out) error {
	data, err := d.read(root)
	if err != nil {
		return err
	}
	l := readLines(d.name, data)
	seen := 0
	for line, ok := l.next(); ok; line, ok = l.next() {
		var vals [len(diskColumns)]float64
		name, n := parseDisk(line, &vals)
		if n == 0 {
			l.fault("major, minor, device and 11, 15 or 17 numbers")
			continue
		}
		seen++
		dev := d.disks.see(name)
		if dev == nil {
			dev = d.disks.add(string(name), newDisk(cleanText(name)), out)
			d.topology.changed.Store(true)
		}
		dev.add(out, vals[:n])
	}
	if l.faults.count == 0 && d.disks.sweep(out) {
		d.topology.changed.Store(true)
	}
	if seen == 0 && l.faults.count == 0 {
		return nil // a host without disks has an empty file
	}
	return l.err(seen > 0)
}

// add puts the numbers of a device that has ever done anything.
func (d *disk) add(out *collectors.Out, vals []float64) {
	for i := 0; !d.used && i < len(vals); i++ {
		d.used = vals[i] != 0
	}
	if !d.used {
		return
	}
	for i, v := range vals {
		out.Add(d.series[i], v*diskColumns[i].scale/diskColumns[i].parts)
	}
}

func newDisk(name string) disk {
	var d disk
	for i, c := range diskColumns {
		d.series[i] = model.NewSeries(c.name, "device", name)
	}
	return d
}

// parseDisk reads one line. It returns how many numbers of it are good to use:
// 11, 15, 17, or 0 for a line of another form.
func parseDisk(line []byte, vals *[len(diskColumns)]float64) (name []byte, n int) {
	_, rest, ok := cutUint(line)
	if !ok {
		return nil, 0
	}
	if _, rest, ok = cutUint(rest); !ok {
		return nil, 0
	}
	name, rest = cutField(rest)
	var field []byte
	for n < len(vals) {
		if field, rest = cutField(rest); len(field) == 0 {
			break
		}
		if vals[n], ok = parseInt(field); !ok {
			return nil, 0
		}
		n++
	}
	switch {
	case n >= 17:
		return name, 17
	case n >= 15:
		return name, 15
	case n >= 11:
		return name, 11
	}
	return nil, 0
}
