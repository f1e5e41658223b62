package main

import "stallmark/web"

// dataFiles shows the page what the source "pagecache" has seen. The source is
// made after the page, and before anybody may ask.
type dataFiles struct{ service *service }

// DataFiles implements web.PageCache.
func (d dataFiles) DataFiles() []web.DataFile {
	known := d.service.cache.Snapshot()
	out := make([]web.DataFile, len(known))
	for i, f := range known {
		out[i] = web.DataFile{
			Process: f.Process, Pid: f.Pid, Store: f.Store, Path: f.Path, Kind: string(f.Kind), Age: string(f.Age),
			Size: f.Size, Resident: f.Resident, Parts: f.Parts, Filled: f.Filled, Dropped: f.Dropped, Before: f.Before, At: f.At,
		}
		if more := f.Detail; more != nil {
			out[i].Detail, out[i].Dirty, out[i].Writeback = true, more.Dirty, more.Writeback
			out[i].Evicted, out[i].RecentlyEvicted = more.Evicted, more.RecentlyEvicted
		}
	}
	return out
}
