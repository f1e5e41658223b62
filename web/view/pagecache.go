package view

import (
	"cmp"
	"fmt"
	"path"
	"slices"
	"strconv"
	"strings"
	"time"

	"stallmark/storage/model"
	"stallmark/web/chart"
	"stallmark/web/format"
)

// DataFile is what is in memory of one data file of a broker. Sizes are bytes.
type DataFile struct {
	Process string
	Pid     int
	Store   string // folder, as the process sees it
	Path    string // below it
	Kind    string // commitlog, consumequeue, index, log or other
	Age     string // active, recent or old

	Size, Resident int64
	// Detail tells whether Dirty to RecentlyEvicted are known.
	Detail                                     bool
	Dirty, Writeback, Evicted, RecentlyEvicted int64
	// Parts are the resident shares, 0 to 1, of parts of equal length.
	Parts []float64
	// Filled and Dropped came into memory and left it since Before, the look
	// before this one, at least; they say nothing where Before is zero.
	Filled, Dropped int64
	Before, At      time.Time
}

// The ages of data files, in the order of the page.
const (
	ageActive = "active"
	ageRecent = "recent"
	ageOld    = "old"
)

func ages() []string { return []string{ageActive, ageRecent, ageOld} }

// Bounds of what the page draws; the rest is counted, and in the JSON.
const (
	segmentsShown = 14  // of a log, one by one
	logsShown     = 6   // of a broker, as pictures, if they are not small
	logsLeast     = 2   // of a broker, as pictures, however small
	logsListed    = 120 // of a broker, as lines
	stripColumns  = 240 // of a log's strip
)

// PageCache is the page of what is in memory of the brokers' data files.
type PageCache struct {
	Page
	At      time.Time // of the newest look, zero if there was none
	Gap     *Source   // why not everything is seen; nil if it is
	Empty   string    // why there is no picture
	Past    bool      // the window is fixed, the picture is of now
	Brokers []CacheBroker
	Charts  []chart.Figure
	Events  []CacheEvent // what came in or was deleted, the newest first
}

// CacheEvent is something that happened to data files.
type CacheEvent struct {
	From, To time.Time
	Text     string
}

// CacheBroker are the data files of one store.
type CacheBroker struct {
	Name, Store string
	Say         string // how much of it is in memory
	Totals      []CacheTotal
	Exact       bool // dirty and evicted bytes are known
	Compared    bool // a look before this one is known
	Logs        []CacheLog
	Rest        []CacheLog // in a line each
	Unlisted    int
}

// CacheTotal is the sum of the files of one age.
type CacheTotal struct {
	Age, Glyph              string
	Files                   string
	Size, Resident, Percent string
	Width                   string // of the meter, percent
	Dirty, Evicted, Lately  string
	Filled, Dropped         string
}

// CacheLog are the files of one folder: a commit log, a partition, a queue.
type CacheLog struct {
	Name    string
	Say     string
	Percent string
	Width   string
	Moved   string // what came in and left, empty if nothing did
	Strip   []StripColumn
	Scale   string // of the strip, in words
	Shown   []Segment
	More    int
	ID      string

	moved, cold, resident, size int64
}

// StripColumn is a file, or several that follow each other, in a strip.
type StripColumn struct {
	X, W, Y, H string // of 1000 by 100
	Age        string
}

// Segment is one data file with its picture.
type Segment struct {
	Name, Age string
	Glyph     Glyph
	Path      string // of the resident parts, in a box of 64 by 10
	Percent   string
	Size      string
	Notes     []string
	Text      string // the picture in words
	rank      int64
}

// NewPageCache makes the picture of data files.
func NewPageCache(p Page, files []DataFile, coverage []model.Coverage) PageCache {
	page := PageCache{Page: p, Past: !p.Window.Live}
	for _, s := range NewSources(coverage) {
		if s.Name == "pagecache" && s.State != model.SourceOK {
			page.Gap = &s
		}
	}
	for _, group := range groupFiles(files, func(f DataFile) string { return strconv.Itoa(f.Pid) + "\x00" + f.Process + "\x00" + f.Store }) {
		page.Brokers = append(page.Brokers, cacheBroker(group, len(page.Brokers)))
		for _, f := range group {
			if f.At.After(page.At) {
				page.At = f.At
			}
		}
	}
	if len(files) == 0 {
		page.Empty = "Nothing was looked at yet."
		if page.Gap == nil {
			page.Empty += " The first look comes within half a minute of a broker's start."
		}
	}
	return page
}

// groupFiles splits files by a key, in the order of first appearance.
func groupFiles(files []DataFile, key func(DataFile) string) [][]DataFile {
	var order []string
	groups := map[string][]DataFile{}
	for _, f := range files {
		k := key(f)
		if groups[k] == nil {
			order = append(order, k)
		}
		groups[k] = append(groups[k], f)
	}
	out := make([][]DataFile, len(order))
	for i, k := range order {
		out[i] = groups[k]
	}
	return out
}

func cacheBroker(files []DataFile, n int) CacheBroker {
	b := CacheBroker{
		Name:  format.Clean(fmt.Sprintf("%s (pid %d)", files[0].Process, files[0].Pid)),
		Store: format.Clean(files[0].Store), Exact: true,
	}
	var all sums
	byAge := map[string]*sums{}
	for _, f := range files {
		if byAge[f.Age] == nil {
			byAge[f.Age] = &sums{}
		}
		byAge[f.Age].add(f)
		all.add(f)
		b.Exact = b.Exact && f.Detail
		b.Compared = b.Compared || !f.Before.IsZero()
	}
	b.Say = fmt.Sprintf("%s of %s in memory, %s", bytesText(all.resident), bytesText(all.size), count(all.files, "file", "files"))
	for _, age := range ages() {
		if s := byAge[age]; s != nil {
			b.Totals = append(b.Totals, s.total(age))
		}
	}
	logs := groupFiles(files, func(f DataFile) string { return path.Dir(f.Path) })
	for i, l := range logs {
		b.Logs = append(b.Logs, cacheLog(l, fmt.Sprintf("log-%d-%d", n+1, i+1)))
	}
	slices.SortStableFunc(b.Logs, func(a, b CacheLog) int {
		return cmp.Or(cmp.Compare(b.cold, a.cold), cmp.Compare(b.moved, a.moved), cmp.Compare(b.resident, a.resident))
	})
	shown := 0
	for shown < len(b.Logs) && shown < logsShown && (shown < logsLeast || b.Logs[shown].moved > 0 || b.Logs[shown].size*50 > all.size) {
		shown++
	}
	b.Logs, b.Rest = b.Logs[:shown], b.Logs[shown:]
	listed := min(len(b.Rest), logsListed)
	b.Rest, b.Unlisted = b.Rest[:listed], len(b.Rest)-listed
	return b
}

// sums are the totals of some files.
type sums struct {
	files                                  int
	size, resident, dirty, evicted, lately int64
	filled, dropped                        int64
}

func (s *sums) add(f DataFile) {
	s.files++
	s.size += f.Size
	s.resident += f.Resident
	s.dirty += f.Dirty + f.Writeback
	s.evicted += f.Evicted
	s.lately += f.RecentlyEvicted
	if !f.Before.IsZero() {
		s.filled += f.Filled
		s.dropped += f.Dropped
	}
}

func (s *sums) total(age string) CacheTotal {
	return CacheTotal{
		Age: age, Files: strconv.Itoa(s.files), Size: bytesText(s.size), Resident: bytesText(s.resident),
		Percent: shareText(s.resident, s.size), Width: shareWidth(s.resident, s.size),
		Dirty: bytesText(s.dirty), Evicted: bytesText(s.evicted), Lately: bytesText(s.lately),
		Filled: bytesText(s.filled), Dropped: bytesText(s.dropped),
	}
}

// cacheLog draws the files of one folder, oldest first.
func cacheLog(files []DataFile, id string) CacheLog {
	files = slices.Clone(files)
	slices.SortStableFunc(files, func(a, b DataFile) int { return strings.Compare(a.Path, b.Path) })
	var s sums
	l := CacheLog{Name: format.Clean(path.Dir(files[0].Path)), ID: id}
	if l.Name == "." {
		l.Name = format.Clean(files[0].Kind)
	}
	for _, f := range files {
		s.add(f)
		if f.Age == ageOld && !f.Before.IsZero() {
			l.cold += f.Filled
		}
	}
	l.Say = fmt.Sprintf("%s, %s of %s in memory", count(s.files, "segment", "segments"), bytesText(s.resident), bytesText(s.size))
	l.Percent, l.Width = shareText(s.resident, s.size), shareWidth(s.resident, s.size)
	l.Moved = movedText(s.filled, s.dropped)
	l.moved, l.resident, l.size = s.filled+s.dropped, s.resident, s.size
	l.segments(files)
	if l.More > 0 {
		l.Strip, l.Scale = strip(files)
	}
	return l
}

// segments picks the files to show one by one, the newest first: those that
// are written, those of which something moved, then those with most in memory.
func (l *CacheLog) segments(files []DataFile) {
	all := make([]Segment, len(files))
	order := make([]int, len(files))
	for i, f := range files {
		all[i] = segment(f)
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Or(cmp.Compare(all[b].rank, all[a].rank), b-a) })
	picked := order
	if len(order) > segmentsShown {
		picked = slices.DeleteFunc(slices.Clone(order[:segmentsShown]), func(i int) bool { return all[i].rank == 0 })
	}
	slices.Sort(picked)
	slices.Reverse(picked)
	for _, i := range picked {
		l.Shown = append(l.Shown, all[i])
	}
	l.More = len(files) - len(picked)
}

func segment(f DataFile) Segment {
	s := Segment{
		Name: format.Clean(path.Base(f.Path)), Age: ageOf(f), Path: partsPath(f.Parts),
		Percent: shareText(f.Resident, f.Size), Size: bytesText(f.Size), rank: f.Resident,
	}
	s.Glyph = map[string]Glyph{ageActive: GlyphFilled, ageRecent: GlyphPartial, ageOld: GlyphAbsent}[s.Age]
	if f.Detail && f.RecentlyEvicted > 0 {
		s.Notes = append(s.Notes, bytesText(f.RecentlyEvicted)+" evicted lately")
	}
	if f.Detail && f.Dirty+f.Writeback > 0 {
		s.Notes = append(s.Notes, bytesText(f.Dirty+f.Writeback)+" unwritten")
	}
	if !f.Before.IsZero() && f.Filled+f.Dropped > 0 {
		s.Notes = append(s.Notes, movedText(f.Filled, f.Dropped))
		s.rank += 1 << 50
	}
	if s.Age == ageActive {
		s.rank += 1 << 51
	}
	s.Text = fmt.Sprintf("%s, %s: %s of %s in memory", s.Name, s.Age, s.Percent, s.Size)
	return s
}

// ageOf is the age as one of those that the page has a shape for.
func ageOf(f DataFile) string {
	if slices.Contains(ages(), f.Age) {
		return f.Age
	}
	return ageOld
}

func movedText(filled, dropped int64) string {
	var all []string
	if filled > 0 {
		all = append(all, bytesText(filled)+" came in")
	}
	if dropped > 0 {
		all = append(all, bytesText(dropped)+" left")
	}
	return strings.Join(all, ", ")
}

func bytesText(n int64) string { return format.Value(float64(n), "bytes") }

// shareText is a in percent of b. What is not quite none or all never reads as
// 0 or 100 %.
func shareText(a, b int64) string {
	if b <= 0 {
		return "–"
	}
	share := 100 * float64(a) / float64(b)
	switch {
	case a > 0 && share < 1:
		return "<\u00a01\u00a0%"
	case a < b && share > 99:
		return ">\u00a099\u00a0%"
	}
	return format.Fixed(share, 0) + "\u00a0%"
}

func shareWidth(a, b int64) string {
	if b <= 0 {
		return "0%"
	}
	return format.Fixed(min(100*float64(a)/float64(b), 100), 1) + "%"
}
