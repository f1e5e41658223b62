package web

import (
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/a-h/templ"

	"stallmark/storage/model"
	"stallmark/web/chart"
	"stallmark/web/format"
	"stallmark/web/view"
)

// PageCache knows what is in memory of the brokers' data files.
type PageCache interface {
	// DataFiles returns what is known of every file that was looked at, by
	// process, store and path. It may be called at any time.
	DataFiles() []DataFile
}

// DataFile is what is in memory of one data file.
type DataFile = view.DataFile

// cacheRefresh is how often a live picture is looked at again: a pass over the
// files takes half a minute.
const cacheRefresh = 5 * time.Second

// maxCacheEvents bounds the list of what moved.
const maxCacheEvents = 12

func (s *server) dataFiles() ([]DataFile, error) {
	if s.cfg.PageCache == nil {
		return nil, notFound("This Stallmark does not look at the page cache.")
	}
	return s.cfg.PageCache.DataFiles(), nil
}

func (s *server) pageCache(r *http.Request, w view.Window) (templ.Component, error) {
	ctx := r.Context()
	files, err := s.dataFiles()
	if err != nil {
		return nil, err
	}
	coverage, err := s.cfg.Backend.CoverageAt(ctx, w.To)
	if err != nil {
		return nil, err
	}
	events, err := s.cfg.Backend.EventsIn(ctx, w.From, w.To, model.EventFiles, model.EventSetting)
	if err != nil {
		return nil, err
	}
	p := s.live(s.frame(r, w, "Page cache"))
	p.Timed, p.Twin = true, "/api/v1/pagecache"+w.Query()
	if p.Refresh > 0 {
		p.Refresh = max(p.Refresh, cacheRefresh)
	}
	page := view.NewPageCache(p, files, coverage)
	for _, e := range slices.Backward(events) {
		if e.Kind == model.EventFiles && len(page.Events) < maxCacheEvents {
			page.Events = append(page.Events, view.CacheEvent{From: e.From, To: e.To, Text: format.Clean(e.Text)})
		}
	}
	b := backdrop{window: w, marks: marksOf(view.ChangesOf(events)), gaps: gapsOf(coverage)}
	for i, one := range cachePanels() {
		c := s.ask(ctx, "cache-"+strconv.Itoa(i+1), one, b)
		if len(files) > 0 || len(c.Series) > 0 {
			page.Charts = append(page.Charts, chart.Lay(c))
		}
	}
	return view.PageCachePage(page), nil
}

// cachePanels are the charts of the page cache over time. Of active files only
// what leaves is news: they fill by being written.
func cachePanels() []panel {
	return []panel{
		{
			title: "In memory", unit: "bytes", note: "Of the data files that were looked at.",
			lines: []line{{label: "age", expr: `sum by (age) (stallmark_pagecache_resident_bytes)`}},
		},
		{
			title: "Read in from old files", unit: "bytes/s", note: "At least; a mean of two minutes. Cold reads, whoever reads.",
			lines: []line{{label: "process", expr: `sum by (process) (rate(stallmark_pagecache_filled_bytes_total{age="old"}[2m]))`}},
		},
		{
			title: "Left memory", unit: "bytes/s", note: "At least; a mean of two minutes.",
			lines: []line{{label: "age", expr: `sum by (age) (rate(stallmark_pagecache_dropped_bytes_total[2m]))`}},
		},
	}
}

// cacheData is the page cache in the JSON.
type cacheData struct {
	Coverage *model.Coverage `json:"coverage"` // of the source; null if it says nothing
	Files    []fileData      `json:"files"`
}

// fileData is a data file in the JSON. A value is null where it is not known.
type fileData struct {
	Process         string  `json:"process"`
	Pid             int     `json:"pid"`
	Store           string  `json:"store"`
	Path            string  `json:"path"`
	Kind            string  `json:"kind"`
	Age             string  `json:"age"`
	Size            int64   `json:"size_bytes"`
	Resident        int64   `json:"resident_bytes"`
	Dirty           *int64  `json:"dirty_bytes"`
	Writeback       *int64  `json:"writeback_bytes"`
	Evicted         *int64  `json:"evicted_bytes"`
	RecentlyEvicted *int64  `json:"recently_evicted_bytes"`
	Filled          *int64  `json:"filled_bytes"`  // since before, at least
	Dropped         *int64  `json:"dropped_bytes"` // since before, at least
	Parts           string  `json:"parts"`         // resident shares of equal parts, in order: "1*30,0.5,0*33"
	Before          *string `json:"before"`
	At              string  `json:"at"`
}

func (s *server) pageCacheJSON(r *http.Request, w view.Window) (any, error) {
	files, err := s.dataFiles()
	if err != nil {
		return nil, err
	}
	coverage, err := s.cfg.Backend.CoverageAt(r.Context(), w.To)
	if err != nil {
		return nil, err
	}
	data := cacheData{Files: make([]fileData, len(files))}
	for i, c := range coverage {
		if c.Source == "pagecache" {
			data.Coverage = &coverage[i]
		}
	}
	for i, f := range files {
		data.Files[i] = fileJSON(f)
	}
	return data, nil
}

func fileJSON(f DataFile) fileData {
	d := fileData{
		Process: f.Process, Pid: f.Pid, Store: f.Store, Path: f.Path, Kind: f.Kind, Age: f.Age,
		Size: f.Size, Resident: f.Resident, Parts: partsText(f.Parts), At: format.ISO(f.At),
	}
	if f.Detail {
		d.Dirty, d.Writeback, d.Evicted, d.RecentlyEvicted = &f.Dirty, &f.Writeback, &f.Evicted, &f.RecentlyEvicted
	}
	if !f.Before.IsZero() {
		before := format.ISO(f.Before)
		d.Filled, d.Dropped, d.Before = &f.Filled, &f.Dropped, &before
	}
	return d
}

// partsText writes shares with what repeats counted.
func partsText(parts []float64) string {
	var all []string
	for i := 0; i < len(parts); {
		text := strconv.FormatFloat(float64(int(parts[i]*1000+0.5))/1000, 'g', -1, 64)
		k := i + 1
		for k < len(parts) && parts[k] == parts[i] {
			k++
		}
		if k-i > 1 {
			text += "*" + strconv.Itoa(k-i)
		}
		all = append(all, text)
		i = k
	}
	return strings.Join(all, ",")
}
