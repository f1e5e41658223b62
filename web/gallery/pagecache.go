package gallery

import (
	"fmt"
	"math"
	"time"

	"stallmark/storage/model"
	"stallmark/web"
)

// DataFiles implements web.PageCache.
func (b *Backend) DataFiles() []web.DataFile {
	s, _ := b.get()
	return s.Files
}

// segmentFile is a file of a log of n, i being the newest at n-1. Held gives the
// resident share at a place in it, 0 to 1.
func segmentFile(process string, pid int, store, path, kind, age string, size int64, held func(x float64) float64) web.DataFile {
	const parts = 64
	f := web.DataFile{
		Process: process, Pid: pid, Store: store, Path: path, Kind: kind, Age: age, Size: size, Detail: true,
		At: end().Add(-9 * time.Second), Before: end().Add(-40 * time.Second),
	}
	sum := 0.0
	for i := range parts {
		share := min(max(held((float64(i)+0.5)/parts), 0), 1)
		f.Parts = append(f.Parts, share)
		sum += share
	}
	f.Resident = int64(sum/parts*float64(size)) / page * page
	return f
}

// rocketFiles is a RocketMQ store whose consumer catches up from old segments.
func rocketFiles() []web.DataFile {
	const store = "/data/rocketmq/store"
	var out []web.DataFile
	add := func(f web.DataFile) { out = append(out, f) }
	const n = 38
	for i := range n {
		age, held := "old", func(float64) float64 { return 0 }
		switch {
		case i == n-1:
			age, held = "active", func(x float64) float64 { return 1 - ramp(x, 0.4, 0.42) }
		case i >= n-4:
			age, held = "recent", func(float64) float64 { return 1 }
		case i >= n-9:
			held = func(x float64) float64 { return ramp(x, 0.3, 0.9) * (0.5 + 0.5*noise(x*64, float64(i))) }
		case i == 11 || i == 12:
			held = func(x float64) float64 { return 1 - ramp(x, 0.6, 0.61)*float64(i-11) }
		}
		f := segmentFile("rocketmq-broker", 4242, store, fmt.Sprintf("commitlog/%020d", int64(i)*gib), "commitlog", age, gib, held)
		switch {
		case age == "active":
			f.Dirty, f.Filled = 61*mib, 190*mib
		case age == "old" && f.Resident > 0 && i < 20:
			f.Filled = 320 * mib
		case age == "old" && f.Resident > 0:
			f.Evicted, f.RecentlyEvicted, f.Dropped = gib-f.Resident, 96*mib, 71*mib
		}
		add(f)
	}
	for q := range 9 {
		for i := range 3 {
			age := "old"
			if i == 2 {
				age = "active"
			}
			add(segmentFile("rocketmq-broker", 4242, store, fmt.Sprintf("consumequeue/orders/%d/%020d", q, i*6000000), "consumequeue", age, 6000000, func(x float64) float64 {
				return float64(i) * (0.3 + 0.2*math.Abs(noise(x, float64(q))))
			}))
		}
	}
	return out
}

// kafkaFiles is a broker of many partitions.
func kafkaFiles(partitions, segments int) []web.DataFile {
	var out []web.DataFile
	for p := range partitions {
		for i := range segments {
			age, held := "old", func(x float64) float64 { return float64((p*7+i)%5) / 8 * max(0, noise(math.Floor(x*9), float64(p))) }
			if i == segments-1 {
				age, held = "active", func(x float64) float64 { return 1 - ramp(x, 0.7, 0.71) }
			}
			f := segmentFile("kafka-broker", 990, "/data/kafka", fmt.Sprintf("payments-%d/%020d.log", p, i*4194304), "log", age, 256*mib, held)
			f.Detail = false
			if age == "old" && p == 3 {
				f.Filled = 12 * mib
			}
			out = append(out, f)
		}
	}
	return out
}

func cacheSeries(d *Data) {
	resident := func(base, grows float64) func(float64) (float64, bool) {
		return func(s float64) (float64, bool) {
			return base + grows*ramp(s, -300, 0) + 20*mib*noise(math.Floor(s/30), 61), true
		}
	}
	for age, grows := range map[string]float64{"active": 0.2 * gib, "recent": 0.1 * gib, "old": 1.1 * gib} {
		pairs := []string{"process", "rocketmq-broker", "pid", "4242", "kind", "commitlog", "age", age}
		d.Gauge(resident(1.2*gib, grows), "stallmark_pagecache_resident_bytes", pairs...)
		d.Counter(func(s float64) float64 { return grows / 300 * ramp(s, -300, -299) }, "stallmark_pagecache_filled_bytes_total", pairs...)
		d.Counter(func(s float64) float64 { return 2 * mib * ramp(s, -240, -239) }, "stallmark_pagecache_dropped_bytes_total", pairs...)
	}
}

// cached is a broker whose old segments are being read in.
func cached() Scene {
	s := base("page cache: a consumer reads old segments", host(end(), span, calmLoad()))
	cacheSeries(s.Data)
	s.Files = append(rocketFiles(), kafkaFiles(2, 4)...)
	s.Report.Coverage = append(s.Report.Coverage, model.Coverage{Source: "pagecache", State: model.SourceOK, Provides: []string{"stallmark_pagecache_"}, Since: end().Add(-time.Hour)})
	for i, size := range []float64{322.4, 318.1, 96} {
		to := end().Add(-time.Duration(9+31*i) * time.Second)
		s.Events = append([]model.Event{{
			From: to.Add(-31 * time.Second), To: to, Kind: model.EventFiles, Source: "pagecache", Count: 2,
			Text:  fmt.Sprintf("%.1f MiB of 2 old files of rocketmq-broker (pid 4242) came into memory, most of them of commitlog/00000000011811160064", size),
			Attrs: map[string]string{"process": "rocketmq-broker", "pid": "4242", "change": "read", "files": "2"},
		}}, s.Events...)
	}
	return s
}

// cachedMany is a Kafka broker with 2,000 segments.
func cachedMany() Scene {
	s := base("page cache: 2,000 segments", host(end(), time.Minute, calmLoad()))
	s.Files = append(kafkaFiles(160, 10), kafkaFiles(1, 400)...)
	s.Report.Coverage = append(s.Report.Coverage, model.Coverage{
		Source: "pagecache", State: model.SourcePartial, Detail: "cachestat is not there (Linux 6.5): mincore tells what is in memory and nothing else",
		Provides: []string{"stallmark_pagecache_"}, Since: end().Add(-time.Hour),
	})
	return s
}

// cachedDenied is a host on which the files may not be opened.
func cachedDenied() Scene {
	s := base("page cache: files may not be opened", host(end(), time.Minute, calmLoad()))
	s.Report.Coverage = append(s.Report.Coverage, model.Coverage{
		Source: "pagecache", State: model.SourceDenied, Detail: "the data files of rocketmq-broker may not be opened: permission denied",
		Mend: "run with CAP_DAC_READ_SEARCH and CAP_SYS_PTRACE, or as the broker's user", Provides: []string{"stallmark_pagecache_"}, Since: end().Add(-time.Hour),
	})
	return s
}
