package pasted

import (
	"regexp"
	"strings"

	"stallmark/storage/model"
)

// disk is what iostat or sar says of a device in one report.
type disk struct {
	reads, writes           float64 // requests a second
	readBytes, writtenBytes float64 // bytes a second
	readWait, writeWait     float64 // milliseconds a request, queue included
	readMerged, writeMerged float64
	flushes, flushWait      float64
	discards, discarded     float64
	queue, util             float64
	split                   bool // reads and writes are told apart
	timed, flushed, trimmed bool
	sized                   bool
}

// diskRates reads the columns of any version by their names: sizes in sectors
// of 512 bytes (rsec/s, Blk_read/s), kB or MB; one await for both directions
// before 9.1.2, one for each since.
func diskRates(m map[string]float64) disk {
	d := disk{queue: first(m, "aqu-sz", "avgqu-sz"), util: m["%util"]}
	var ok bool
	if d.reads, ok = m["r/s"]; ok {
		d.split, d.writes = true, m["w/s"]
	}
	d.readBytes, d.sized = size(m, "rkB/s", "rMB/s", "rsec/s", "rd_sec/s", "kB_read/s", "MB_read/s", "Blk_read/s")
	d.writtenBytes, _ = size(m, "wkB/s", "wMB/s", "wsec/s", "wr_sec/s", "kB_wrtn/s", "MB_wrtn/s", "Blk_wrtn/s")
	d.readMerged, d.writeMerged = m["rrqm/s"], m["wrqm/s"]
	if both, ok := m["await"]; ok {
		d.readWait, d.writeWait, d.timed = both, both, true
	}
	if w, ok := m["r_await"]; ok {
		d.readWait, d.writeWait, d.timed = w, m["w_await"], true
	}
	d.flushes, d.flushed = m["f/s"]
	d.flushWait = m["f_await"]
	d.discards, d.trimmed = m["d/s"]
	d.discarded, _ = size(m, "dkB/s", "dMB/s")
	if !d.split {
		d.writes = m["tps"]
	}
	return d
}

// await is the mean wait over both directions, in milliseconds.
func (d disk) await() (float64, bool) {
	n := d.reads + d.writes
	if !d.timed || n == 0 {
		return 0, false
	}
	return (d.reads*d.readWait + d.writes*d.writeWait) / n, true
}

// values are the device's counters under node_exporter's names.
func (d disk) values(device string) []Value {
	put := func(name string, v float64) Value {
		return Value{model.NewSeries("node_disk_"+name, "device", device), Rate, v}
	}
	list := []Value{{info(device), Gauge, 1}}
	if d.split {
		list = append(list, put("reads_completed_total", d.reads), put("writes_completed_total", d.writes),
			put("reads_merged_total", d.readMerged), put("writes_merged_total", d.writeMerged))
	}
	if d.sized {
		list = append(list, put("read_bytes_total", d.readBytes), put("written_bytes_total", d.writtenBytes))
	}
	if d.split && d.timed {
		list = append(list, put("read_time_seconds_total", d.reads*d.readWait/1000), put("write_time_seconds_total", d.writes*d.writeWait/1000))
	}
	if d.timed {
		list = append(list, put("io_time_seconds_total", d.util/100), put("io_time_weighted_seconds_total", d.queue))
	}
	if d.flushed {
		list = append(list, put("flush_requests_total", d.flushes), put("flush_requests_time_seconds_total", d.flushes*d.flushWait/1000))
	}
	if d.trimmed {
		list = append(list, put("discards_completed_total", d.discards), put("discarded_sectors_total", d.discarded/512))
	}
	return list
}

// first is the first of the columns that there is.
func first(m map[string]float64, names ...string) float64 {
	for _, n := range names {
		if v, ok := m[n]; ok {
			return v
		}
	}
	return 0
}

// size is bytes a second from whichever column there is. sysstat's kB are 1024
// bytes, its sectors and blocks 512.
func size(m map[string]float64, names ...string) (float64, bool) {
	for _, n := range names {
		v, ok := m[n]
		switch {
		case !ok:
		case strings.Contains(n, "kB"):
			return v * 1024, true
		case strings.Contains(n, "MB"):
			return v * 1024 * 1024, true
		default:
			return v * 512, true
		}
	}
	return 0, false
}

var (
	partition = regexp.MustCompile(`^((?:s|h|v|xv)d[a-z]+|(?:nvme[0-9]+n[0-9]+|mmcblk[0-9]+)p|(?:cciss/|rd/)c[0-9]+d[0-9]+p)([0-9]+)$`)
	devNumber = regexp.MustCompile(`^dev[0-9]+-[0-9]+$`)
)

// deviceKind guesses from the name what a device is; a text does not tell more.
func deviceKind(device string) (kind, backing string) {
	if m := partition.FindStringSubmatch(device); m != nil {
		disk := m[1]
		if strings.HasPrefix(disk, "nvme") || strings.HasPrefix(disk, "mmc") || strings.Contains(disk, "/") {
			disk = strings.TrimSuffix(disk, "p")
		}
		return "partition", disk
	}
	for _, k := range []string{"dm", "md", "loop", "zram", "ram", "sr", "nbd"} {
		if rest, ok := strings.CutPrefix(device, k); ok && strings.Trim(rest, "-0123456789") == "" {
			return strings.Replace(k, "sr", "rom", 1), ""
		}
	}
	if devNumber.MatchString(device) {
		return "disk", device // sar without -p: dev8-0
	}
	if strings.HasPrefix(device, "vg") || strings.Contains(device, "-lv") || strings.HasPrefix(device, "cciss") && strings.Contains(device, "p") {
		return "dm", ""
	}
	return "disk", device
}

// foldPartitions makes disks of the partitions whose disk is not in the table:
// somebody asked for it by name, or a cloud has no other device.
func foldPartitions(rows []Row) {
	devices := map[string]bool{}
	for _, row := range rows {
		for _, v := range row.Values {
			if v.Series.Name == infoName {
				devices[v.Series.Get("device")] = true
			}
		}
	}
	for _, row := range rows {
		for i, v := range row.Values {
			if s := v.Series; s.Name == infoName && s.Get("kind") == "partition" && !devices[s.Get("backing")] {
				row.Values[i].Series = model.NewSeries(infoName, "device", s.Get("device"), "kind", "disk", "backing", s.Get("device"))
			}
		}
	}
}
