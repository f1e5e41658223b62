package logs

import (
	"context"
	"errors"
	"io/fs"
	"slices"
	"strings"
	"sync"
	"time"
)

// folder looks after the logs of one target in one folder. All but status runs
// on its goroutine.
type folder struct {
	cfg     *Config
	target  Target
	path    string // of the target with nothing wild in it
	opener  opener
	now     func() time.Time
	started time.Time // of the follower
	limit   *limiter
	claims  *claims
	saved   []Position

	dir      fileOf
	open     bool
	id       info
	streams  map[string]*stream
	order    []*stream
	scans    int
	late     bool      // it was not there at first
	dirTime  int64     // mtime of the folder at the last scan
	racy     bool      // it was scanned in the tick in which it changed
	nextScan time.Time // even if the folder says that nothing changed
	nextOpen time.Time // of the folder by its path
	urgent   bool      // a file is not where it was
	calm     bool      // idle files may be left alone in this poll
	dirty    bool      // something has changed since it was last published
	buf      []byte
	failure  error

	mu     sync.Mutex // of what follows, which others read or write
	next   *Target    // the same target after its process was started again
	told   bool       // it has been published
	states []Status
	places []Position
	since  time.Time // of the work under way, zero between polls
}

// Cadence of a folder.
const (
	pollFast   = 200 * time.Millisecond
	pollSlow   = 2 * time.Second
	pollRare   = 20 * time.Second // in a folder with manyLogs times ten
	manyLogs   = 200
	scanEvery  = 10 * time.Second // where the folder's time stamp says nothing
	openEvery  = 30 * time.Second
	retryEvery = 5 * time.Second
	racyTime   = 20 * time.Millisecond // the kernel's coarse clock, with room
	readBudget = 8 << 20               // bytes of one part before others have a turn
	bufferSize = 256 << 10

	smallBuffer = 16 << 10
	maxNames    = 20_000 // in one folder
	maxStreams  = 2_000
)

// run polls until ctx ends.
func (d *folder) run(ctx context.Context) {
	timer := time.NewTimer(0)
	defer timer.Stop()
	defer d.shut()
	for {
		select {
		case <-ctx.Done():
			return
		case <-timer.C:
		}
		wait := d.poll(ctx)
		timer.Reset(wait)
	}
}

// poll does what is due and returns after which time to come again.
func (d *folder) poll(ctx context.Context) time.Duration {
	now := d.now()
	d.setBusy(now)
	defer d.rest()
	d.takeOver()
	if !d.ready(now) {
		return retryEvery
	}
	d.calm = !d.cfg.Alert()
	if d.changed(now) {
		d.scan(now)
		d.calm = false
	}
	wait := d.slow()
	for _, s := range d.order {
		if ctx.Err() != nil {
			break
		}
		wait = min(wait, d.pollStream(ctx, s, now))
	}
	if d.urgent || d.racy {
		wait = min(wait, pollFast)
	}
	if d.cfg.Alert() {
		wait = min(wait, pollFast)
	}
	if len(d.buf) > smallBuffer {
		d.buf = nil
	}
	return wait
}

// adopt tells that the target belongs to another process now.
func (d *folder) adopt(t Target) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.next = &t
}

// takeOver goes over to the process that adopt has named.
func (d *folder) takeOver() {
	d.mu.Lock()
	t := d.next
	d.next = nil
	d.mu.Unlock()
	if t == nil || t.Owner == d.target.Owner && t.writer == d.target.writer {
		return
	}
	d.target, d.opener.owner, d.nextOpen = *t, t.Owner, time.Time{}
	for _, s := range d.order {
		file := *s.file
		file.Pid, file.Role, file.Process, file.Start = t.Pid, t.Role, t.Process, t.writer.Start
		s.file, s.feeder.file = &file, &file
	}
}

// ready makes sure that the folder is open and still the one of its path.
func (d *folder) ready(now time.Time) bool {
	if d.open && now.Before(d.nextOpen) {
		return true
	}
	d.nextOpen = now.Add(openEvery)
	f, err := d.opener.openFolder(d.path)
	if err != nil {
		d.failure, d.dirty = err, true
		if d.open { // its owner may be gone; what is open can still be read
			return true
		}
		d.nextOpen, d.late = now, d.late || errors.Is(err, fs.ErrNotExist)
		return false
	}
	h := handleOf(f)
	i, err := infoOf(h.fd)
	if err != nil {
		f.Close()
		d.failure, d.dirty = err, true
		return d.open
	}
	d.failure, d.dirty = nil, true
	if d.open {
		d.dir.Close()
	}
	if d.open && d.id.inode != i.inode {
		d.dirTime = 0
	}
	d.dir, d.id, d.open = h, i, true
	return true
}

// changed reports whether names may have come or gone since the last scan.
func (d *folder) changed(now time.Time) bool {
	i, err := infoOf(d.dir.fd)
	if err != nil {
		d.failure, d.dirty = err, true
		return false
	}
	if i.links == 0 {
		d.nextOpen = now
	}
	due := d.urgent || d.racy || i.mtime != d.dirTime || !now.Before(d.nextScan)
	if due {
		d.dirTime = i.mtime
		d.racy = now.UnixNano()-i.mtime < int64(racyTime)
		d.nextScan = now.Add(max(scanEvery, 5*d.slow()))
		d.urgent = false
	}
	return due
}

// scan lists the folder and shows every stream what there is of it.
func (d *folder) scan(now time.Time) {
	found, err := d.list()
	if err != nil {
		d.failure, d.dirty = err, true
		return
	}
	d.scans++
	d.dirty = true
	for base := range found {
		if d.streams[base] == nil && len(d.streams) < maxStreams && d.claims.take(claim{d.id.inode, base}, d) {
			d.addStream(base)
		}
	}
	for _, s := range d.order {
		s.scan(d, found[s.base], now)
		s.miss(found[s.base], now)
	}
	d.forget(now)
}

func (d *folder) addStream(base string) {
	t := d.target
	t.Folder = d.path
	file := t.fileFor(base)
	file.zone = d.savedZone(base)
	s := &stream{base: base, file: file, feeder: newFeeder(file, d.cfg.Open(file)), claim: claim{d.id.inode, base}}
	s.feeder.framer.boot = d.cfg.Boot
	d.streams[base] = s
	d.order = append(d.order, s)
	slices.SortFunc(d.order, func(a, b *stream) int {
		if a.base < b.base {
			return -1
		}
		return 1
	})
}

// buffer is for reading so many bytes into, with those before them and some that may
// come meanwhile, or a part of them. A small one is kept for the next poll: most read
// a few lines, five times a second.
func (d *folder) buffer(n int64) []byte {
	size := min(max(n+2*reread, smallBuffer), bufferSize)
	if int64(len(d.buf)) < size {
		d.buf = make([]byte, size)
	}
	return d.buf
}

// spend accounts for bytes that were read and waits if that is too many a second.
func (d *folder) spend(s *stream, n int) {
	s.bytes += int64(n)
	d.limit.take(n)
}

// positions is where the last run was in a stream's files.
func (d *folder) positions(base string) []Position {
	key := d.logKey(base)
	var found []Position
	for _, p := range d.saved {
		if p.Log == key {
			found = append(found, p)
		}
	}
	return found
}

// own splits positions into those of this target's logs and others: several targets
// may be in one folder, as a broker's own logs and its JVM's GC log are.
func (d *folder) own(all []Position) (own, others []Position) {
	prefix := d.logKey("")
	for _, p := range all {
		if base, ok := strings.CutPrefix(p.Log, prefix); ok && !strings.Contains(base, "/") &&
			matchesAny(base, d.target.Names) && !matchesAny(base, d.target.Except) {
			own = append(own, p)
		} else {
			others = append(others, p)
		}
	}
	return own, others
}

func (d *folder) logKey(base string) string { return d.target.Process + "|" + joined(d.path, base) }

// shut closes everything.
func (d *folder) shut() {
	d.claims.leave(d)
	for _, s := range d.order {
		for _, p := range s.parts {
			p.file.Close()
		}
		if d.cfg.Close != nil {
			d.cfg.Close(s.feeder.consumer)
		}
	}
	if d.open {
		d.dir.Close()
	}
}
