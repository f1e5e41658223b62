package pagecache

import (
	"errors"
	"io/fs"
	"maps"
	"path"
	"slices"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"stallmark/collectors"
	"stallmark/collectors/process"
	"stallmark/storage/model"
)

const fakePage = 4096

// fakeFile is a file of a fakeDisk.
type fakeFile struct {
	status
	resident []bool // by page
	dirty    int64
	secret   bool // who asks neither owns nor may write it
}

// fakeDisk is a store with files, a kernel that answers about them and a clock
// that runs while it does.
type fakeDisk struct {
	now  time.Time
	cost time.Duration // of a question

	listCost time.Duration // of a folder
	files    map[string]*fakeFile
	errs     map[string]error // of opening or listing a path
	opened   []string
	open_    int   // files open at present
	bars     error // what cachestat fails with
	ino      uint64
	gate     chan struct{} // opening waits for it, if there is one
	onList   func(path string)
}

func newDisk() *fakeDisk {
	return &fakeDisk{now: epoch, files: map[string]*fakeFile{}, errs: map[string]error{}}
}

// epoch is when every test begins.
var epoch = time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)

// put makes a file of so many pages, the first of them resident.
func (d *fakeDisk) put(name string, length, resident int) *fakeFile {
	d.ino++
	f := &fakeFile{status: status{size: int64(length) * fakePage, ino: d.ino, modified: d.now}, resident: make([]bool, length)}
	for i := range resident {
		f.resident[i] = true
	}
	d.files[name] = f
	return f
}

func (d *fakeDisk) list(_ process.ID, dir string, limit int) ([]string, error) {
	if d.gate != nil {
		<-d.gate
	}
	d.now = d.now.Add(d.listCost)
	if d.onList != nil {
		d.onList(dir)
	}
	if err := d.errs[dir]; err != nil {
		return nil, err
	}
	if d.files[dir] != nil {
		return nil, unix.ENOTDIR
	}
	names := map[string]bool{}
	for name := range d.files {
		rest, ok := strings.CutPrefix(name, dir+"/")
		if !ok {
			continue
		}
		first, _, _ := strings.Cut(rest, "/")
		names[first] = true
	}
	if len(names) == 0 {
		return nil, unix.ENOENT
	}
	all := slices.Collect(maps.Keys(names))
	return all[:min(len(all), limit)], nil
}

func (d *fakeDisk) open(_ process.ID, name string) (handle, error) {
	d.opened = append(d.opened, name)
	if err := d.errs[name]; err != nil {
		return nil, &fs.PathError{Op: "open", Path: name, Err: err}
	}
	f := d.files[name]
	if f == nil {
		return nil, unix.ENOENT
	}
	d.open_++
	return &fakeHandle{d, f}, nil
}

type fakeHandle struct {
	*fakeDisk
	f *fakeFile
}

func (h *fakeHandle) close() { h.open_-- }

func (h *fakeHandle) stat() (status, error) { return h.f.status, nil }

func (h *fakeHandle) cachestat(off, n int64) (pages, error) {
	switch {
	case h.bars != nil:
		return pages{}, h.bars
	case h.f.secret:
		return pages{}, unix.EPERM
	}
	p, err := h.mincore(off, n)
	if off == 0 {
		p.dirty = h.f.dirty
	}
	return p, err
}

func (h *fakeHandle) mincore(off, n int64) (pages, error) {
	if off%fakePage != 0 || n <= 0 || off+n > 1<<62 {
		return pages{}, unix.EINVAL
	}
	h.now = h.now.Add(h.cost)
	from, to := off/fakePage, off/fakePage+n/fakePage
	length := int64(len(h.f.resident))
	var p pages
	for i := min(from, length); i < min(to, length); i++ {
		if h.f.resident[i] {
			p.cached++
		}
	}
	return p, nil
}

func (h *fakeHandle) tells() (bool, error) { return !h.f.secret, nil }

// bench runs the source beat by beat; after each beat its slice has answered.
type bench struct {
	t        testing.TB
	source   *Source
	disk     *fakeDisk
	root     collectors.Root
	out      *collectors.Out
	at       time.Time
	values   map[string]float64
	events   []model.Event // all so far
	coverage error
}

func newBench(t testing.TB, disk *fakeDisk, c Config, brokers ...Broker) *bench {
	c.PageSize = fakePage
	c.Now = func() time.Time { return disk.now }
	if c.Brokers == nil {
		c.Brokers = func() []Broker { return brokers }
	}
	return &bench{t: t, source: newSource(c, disk), disk: disk, root: &collectors.MapRoot{}, out: collectors.NewOut("pagecache"), at: epoch}
}

var (
	rocket = Broker{process.ID{Pid: 42, Start: 1}, "rocketmq-broker", "rocketmq-broker", "/s/commitlog"}
	kafka  = Broker{process.ID{Pid: 43, Start: 1}, "kafka-broker", "kafka-broker", "/k1,/k2"}
)

// beat is one beat; time goes on by a second after it.
func (b *bench) beat() {
	b.t.Helper()
	b.collect()
	if !b.source.running.IsZero() {
		<-b.source.slice // what it found is looked at in the next beat
		b.source.slice <- struct{}{}
	}
}

func (b *bench) collect() {
	if idle := b.source.running.IsZero() || len(b.source.slice) > 0; idle && b.at.After(b.disk.now) {
		b.disk.now = b.at
	}
	b.out.Reset(b.at)
	b.coverage = b.source.Collect(b.root, b.out)
	b.values = map[string]float64{}
	for _, s := range b.out.Samples() {
		if _, twice := b.values[seriesText(s.Series)]; twice {
			b.t.Errorf("%s twice in a beat", seriesText(s.Series))
		}
		b.values[seriesText(s.Series)] = s.Value
	}
	b.out.EndMissing()
	b.events = append(b.events, b.out.Events()...)
	b.at = b.at.Add(time.Second)
}

// pass goes on until another pass has been finished.
func (b *bench) pass() {
	b.t.Helper()
	for n, beats := b.source.passes, 0; b.source.passes == n; beats++ {
		if b.beat(); beats > 10_000 {
			b.t.Fatal("a pass does not end")
		}
	}
}

// want checks one value of a broker; labels as in seriesText.
func (b *bench) want(name string, value float64) {
	b.t.Helper()
	if got, ok := b.values[name]; !ok || got != value {
		b.t.Errorf("%s is %v (%v), want %v", name, got, ok, value)
	}
}

func (b *bench) wantNone(name string) {
	b.t.Helper()
	if got, ok := b.values[name]; ok {
		b.t.Errorf("%s is %v, want none", name, got)
	}
}

// wantGap checks the coverage: its state and words in its detail and mend.
func (b *bench) wantGap(state model.SourceState, words ...string) {
	b.t.Helper()
	gap, ok := errors.AsType[*collectors.Gap](b.coverage)
	if !ok || gap.State != state {
		b.t.Fatalf("coverage %v, want %s", b.coverage, state)
	}
	for _, w := range words {
		if !strings.Contains(gap.Detail+" "+gap.Mend, w) {
			b.t.Errorf("%q, mend %q, want %q in it", gap.Detail, gap.Mend, w)
		}
	}
}

// seriesText leaves out the labels that all series of the tests have.
func seriesText(s *model.Series) string {
	text := strings.TrimPrefix(s.Name, "stallmark_pagecache_")
	for _, l := range s.Labels {
		if l.Name == "kind" || l.Name == "age" || l.Name == "process" && l.Value != rocket.Process {
			text += " " + l.Value
		}
	}
	return text
}

func segment(dir string, n int) string {
	name := "00000000000000000000"
	digits := ""
	for ; n > 0; n /= 10 {
		digits = string(rune('0'+n%10)) + digits
	}
	return path.Join(dir, name[:len(name)-len(digits)]+digits)
}
