package host

import (
	"bytes"
	"errors"
	"io/fs"

	"stallmark/collectors"
	"stallmark/storage/model"
)

// minDirtyRatio is the floor, in percent, that kernels without
// nr_dirty_threshold put under vm.dirty_ratio (mm/page-writeback.c of 2.6.32).
const minDirtyRatio = 5

// dirtyLimits gives the number of dirty pages at which writing back in the
// background starts, and at which writers are held: as /proc/vmstat says from
// 2.6.37 on, worked out from the sysctls before.
type dirtyLimits struct {
	page                                 uint64
	threshold, background                *model.Series
	bytes, ratio, bgBytes, bgRatio, swap file
}

func newDirtyLimits(pageSize int) dirtyLimits {
	return dirtyLimits{
		page:       uint64(pageSize),
		threshold:  model.NewSeries("stallmark_dirty_threshold_pages"),
		background: model.NewSeries("stallmark_dirty_background_threshold_pages"),
		bytes:      file{name: "proc/sys/vm/dirty_bytes"},
		ratio:      file{name: "proc/sys/vm/dirty_ratio"},
		bgBytes:    file{name: "proc/sys/vm/dirty_background_bytes"},
		bgRatio:    file{name: "proc/sys/vm/dirty_background_ratio"},
		swap:       file{name: "proc/meminfo"},
	}
}

// collect adds both limits. The error says why they could not be worked out.
func (d *dirtyLimits) collect(root collectors.Root, out *collectors.Out, v *vmstat) error {
	thresh, background := v.vals[roleThreshold], v.vals[roleBackground]
	if !v.have[roleThreshold] || !v.have[roleBackground] {
		if !v.have[roleFree] || !v.have[roleActiveFile] || !v.have[roleInactiveFile] {
			return collectors.Partial("proc/vmstat has neither nr_dirty_threshold nor the pages to work it out from", "")
		}
		var err error
		if thresh, background, err = d.compute(root, v); err != nil {
			return collectors.Partial("proc/vmstat has no nr_dirty_threshold, and it cannot be worked out: "+err.Error(),
				mendFor(d.ratio.name))
		}
	}
	out.Add(d.threshold, float64(thresh))
	out.Add(d.background, float64(background))
	return nil
}

// compute follows get_dirty_limits of 2.6.32, in pages.
func (d *dirtyLimits) compute(root collectors.Root, v *vmstat) (thresh, background uint64, err error) {
	memory := d.dirtyable(root, v)
	ratio, err := readNumber(root, &d.ratio)
	if err != nil {
		return 0, 0, err
	}
	bgRatio, err := readNumber(root, &d.bgRatio)
	if err != nil {
		return 0, 0, err
	}
	limit, err := readOptional(root, &d.bytes) // 2.6.29 has no dirty_bytes
	if err != nil {
		return 0, 0, err
	}
	bgLimit, err := readOptional(root, &d.bgBytes)
	if err != nil {
		return 0, 0, err
	}
	thresh = d.pages(limit)
	if limit == 0 {
		thresh = max(ratio, minDirtyRatio) * memory / 100
	}
	background = d.pages(bgLimit)
	if bgLimit == 0 {
		background = bgRatio * memory / 100
	}
	if background >= thresh {
		background = thresh / 2
	}
	return thresh, background, nil
}

// dirtyable is the memory that may become dirty, in pages: free and file pages,
// and anonymous ones while there is free swap (global_reclaimable_pages of
// mm/vmscan.c, 2.6.32).
func (d *dirtyLimits) dirtyable(root collectors.Root, v *vmstat) uint64 {
	pages := v.vals[roleFree] + v.vals[roleActiveFile] + v.vals[roleInactiveFile] + 1
	if d.freeSwap(root) {
		pages += v.vals[roleActiveAnon] + v.vals[roleInactiveAnon]
	}
	return pages
}

// freeSwap reports whether meminfo says so.
func (d *dirtyLimits) freeSwap(root collectors.Root) bool {
	data, err := d.swap.read(root)
	if err != nil {
		return false
	}
	_, rest, _ := bytes.Cut(data, []byte("SwapFree:"))
	free, _, ok := cutUint(rest)
	return ok && free > 0
}

// pages rounds bytes up to pages.
func (d *dirtyLimits) pages(n uint64) uint64 { return n/d.page + min(n%d.page, 1) }

// readNumber reads a file that holds one number.
func readNumber(root collectors.Root, f *file) (uint64, error) {
	data, err := root.Read(f.name, f.buf)
	if err != nil {
		return 0, err
	}
	f.buf = data
	v, ok := parseUint(bytes.TrimSpace(data))
	if !ok {
		return 0, errors.New(f.name + " line 1: want a number")
	}
	return v, nil
}

// readOptional is readNumber for a file that older kernels lack: zero then.
func readOptional(root collectors.Root, f *file) (uint64, error) {
	v, err := readNumber(root, f)
	if errors.Is(err, fs.ErrNotExist) {
		return 0, nil
	}
	return v, err
}
