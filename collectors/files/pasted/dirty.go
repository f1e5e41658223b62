package pasted

import (
	"bytes"
	"strings"
)

// sayDirty says of the last copy of /proc/meminfo how near its dirty pages are to
// where writers are paused: half way between the two limits (mm/page-writeback.c,
// dirty_freerun_ceiling). Shares are of free memory and page cache. One reading is
// no stall: the level moves in seconds.
func (r *reading) sayDirty() {
	if r.meminfo == nil || len(r.meminfo.Files) == 0 {
		return
	}
	m := meminfoValues(r.meminfo.Files[0].Data)
	dirty, known := m["Dirty"]
	if !known {
		return
	}
	level := dirty + m["Writeback"] + m["NFS_Unstable"]
	dirtyable := m["MemFree"] + m["Active(file)"] + m["Inactive(file)"]
	limit := r.dirtyLimit("bytes", "ratio", dirtyable)
	background := r.dirtyLimit("background_bytes", "background_ratio", dirtyable)
	if limit == 0 || background == 0 {
		r.meminfo.say("Dirty and Writeback: %.0f MiB", level/(1<<20))
		r.meminfo.note(0, "whether that pauses writers depends on the limits. Run: sysctl vm.dirty_ratio vm.dirty_bytes vm.dirty_background_ratio vm.dirty_background_bytes")
		return
	}
	ceiling := (limit + min(background, limit)) / 2
	r.meminfo.say("Dirty and Writeback: %.0f MiB; by vm.dirty_* writers are paused from about %.0f MiB on", level/(1<<20), ceiling/(1<<20))
	if level > nearCeiling*ceiling {
		r.meminfo.sign(r.meminfo.From, "dirty pages stand at %.0f %% of the point where writers are paused", 100*level/ceiling)
		r.meminfo.grown(DirtyShare, 100*level/ceiling)
	}
}

// nearCeiling is a share of the ceiling from which on the kernel may hold the level
// there: it holds it around a point between the two limits.
const nearCeiling = 0.9

// DirtyShare is the name in [Grown] of the level of dirty pages, in percent of where
// writers are paused; it is there if the level is near.
const DirtyShare = "dirty share"

// dirtyLimit is a limit in bytes, 0 if it is not known: bytes go before a share.
func (r *reading) dirtyLimit(inBytes, share string, dirtyable float64) float64 {
	if v := r.limits[inBytes]; v > 0 {
		return v
	}
	return r.limits[share] / 100 * dirtyable
}

// meminfoValues are the sizes of a copy of /proc/meminfo, in bytes.
func meminfoValues(data []byte) map[string]float64 {
	m := map[string]float64{}
	for text := range bytes.Lines(data) {
		words := strings.Fields(string(text))
		if len(words) == 3 && words[2] == "kB" {
			m[strings.TrimSuffix(words[0], ":")] = kb(words[1]) * 1024
		}
	}
	return m
}
