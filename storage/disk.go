package storage

import (
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"time"

	"github.com/klauspost/compress/zstd"
	"go.etcd.io/bbolt"
	"golang.org/x/sys/unix"

	"stallmark/storage/block"
)

// disk is the open file. Only the child process has one. Writing is for one
// goroutine; reading for any.
type disk struct {
	childConfig
	opts  hello
	db    *bbolt.DB
	gone  atomic.Bool // the file has been moved aside: nothing can be stored
	dicts dictionaries

	slot int64 // of the last minute that was stored; 0 before the first

	encoder  *block.Encoder
	zenc     *zstd.Encoder
	decoders sync.Pool // of *block.Decoder

	mu    sync.Mutex
	state diskState
	bad   map[string]string // block -> what is wrong with it
	said  []string          // what is to be told, once
}

// openDisk opens the file.
func openDisk(cfg childConfig, opts hello) (*disk, error) {
	db, aside, err := openFile(cfg.path, cfg.now)
	if err != nil {
		return nil, err
	}
	encoder := block.NewEncoder()
	zdec, err := zstd.NewReader(nil, zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxMemory(maxMessage))
	if err != nil {
		return nil, err
	}
	d := &disk{
		childConfig: cfg, opts: opts, db: db,
		dicts:   dictionaries{zstd: zdec},
		encoder: encoder, zenc: encoder.Compressor(),
		decoders: sync.Pool{New: func() any { return block.NewDecoder() }},
		bad:      map[string]string{},
	}
	if aside != "" {
		d.movedAside(aside)
	}
	d.state.MovedAside = lastAside(cfg.path)
	d.measure()
	return d, nil
}

// close closes the file. One that has been given up cannot be closed.
func (d *disk) close() error {
	if d.gone.Load() {
		return nil
	}
	return d.db.Close()
}

// relax gives back the memory that storing a minute took. What has been read of the
// file is mapped, with 64 KiB around each fault (fault_around_bytes), and would stay;
// what is used again comes from the page cache. During a transaction the mapping
// stays where it is.
func (d *disk) relax() {
	err := d.view(func(tx *bbolt.Tx) error {
		_, _, refused := unix.Syscall(unix.SYS_MADVISE, d.db.Info().Data, uintptr(tx.Size()), unix.MADV_DONTNEED)
		if refused != 0 {
			return refused
		}
		return nil
	})
	if err != nil {
		d.log.Debug("giving memory back", "error", err) // it costs memory and nothing else
	}
	if d.rest != nil {
		d.rest()
	}
}

// diskState is what the child tells about the file.
type diskState struct {
	FileBytes    int64 // of the bbolt file
	UsedBytes    int64 // of it, not free
	JournalBytes int64
	FreeBytes    int64 // of the file system
	Blocks       int   // of samples, one a minute or ten
	Rollups      int   // one an hour
	Oldest       int64 // milliseconds; 0 if there is nothing
	LastStored   int64 // time of the row that was stored last, milliseconds
	StoreTook    time.Duration
	Full         bool   // growth has stopped
	Stopped      bool   // and there is no room inside the file either
	WriteError   string // of the last attempt, empty if it went well
	JournalError string // the same for the journal
	MovedAside   string
	Bad          map[string]string
	Pending      int // complete minutes that are not in the file yet

	Told bool  // by the child: a state that was never told is all zero
	From int64 // time of the oldest sample that the child has, milliseconds; 0 if it has none
}

// snapshot is the present state.
func (d *disk) snapshot() diskState {
	d.mu.Lock()
	defer d.mu.Unlock()
	st := d.state
	st.Bad = make(map[string]string, len(d.bad))
	for k, v := range d.bad {
		st.Bad[k] = v
	}
	return st
}

// oldest is the time of the oldest sample in the file, 0 if there is none.
func (d *disk) oldest() int64 {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.state.Oldest
}

// update changes the state.
func (d *disk) update(f func(*diskState)) {
	d.mu.Lock()
	defer d.mu.Unlock()
	f(&d.state)
}

// say puts down something that is to be told as an event.
func (d *disk) say(text string) {
	d.log.Warn(text)
	d.mu.Lock()
	defer d.mu.Unlock()
	d.said = append(d.said, text)
}

// unsaid takes what is to be told.
func (d *disk) unsaid() []string {
	d.mu.Lock()
	defer d.mu.Unlock()
	said := d.said
	d.said = nil
	return said
}

// markBad names a block that could not be read, once. It stays where it is.
func (d *disk) markBad(kind string, start int64, err error) {
	name := kind + " " + time.UnixMilli(start).UTC().Format(time.RFC3339)
	d.mu.Lock()
	_, known := d.bad[name]
	if !known && len(d.bad) < 1000 {
		d.bad[name] = err.Error()
	}
	d.mu.Unlock()
	if !known {
		d.say(fmt.Sprintf("block %s cannot be read and is left out: %v", name, err))
	}
}

// measure brings the sizes in the state up to date.
func (d *disk) measure() {
	var size, free int64
	var blocks, rollups int
	var oldest, last int64
	err := d.view(func(tx *bbolt.Tx) error {
		size = tx.Size()
		free = int64(d.db.Stats().FreePageN+d.db.Stats().PendingPageN) * int64(d.db.Info().PageSize)
		p, err := readProgress(tx)
		if err != nil {
			return err
		}
		last = p.Last
		blocks, oldest, _ = extentOf(tx.Bucket(bucketRaw))
		var first int64
		rollups, first, _ = extentOf(tx.Bucket(bucketRollup))
		if rollups > 0 && (blocks == 0 || first+hourMillis <= oldest) {
			oldest = first // an hour may have begun before its samples
		}
		return nil
	})
	if err != nil {
		d.log.Warn("measuring the file", "error", err)
		return
	}
	var fileBytes int64
	if fi, err := os.Stat(d.path); err == nil {
		fileBytes = fi.Size()
	}
	avail, _ := d.space(d.path)
	d.update(func(st *diskState) {
		st.FileBytes, st.UsedBytes, st.FreeBytes = fileBytes, size-free, avail
		st.Blocks, st.Rollups, st.Oldest, st.LastStored = blocks, rollups, oldest, last
	})
}

// extentOf is how many keys a bucket has, and the times of the first and last.
func extentOf(b *bbolt.Bucket) (n int, first, last int64) {
	c := b.Cursor()
	for k, _ := c.First(); k != nil; k, _ = c.Next() {
		if last = keyTime(k); n == 0 {
			first = last
		}
		n++
	}
	return n, first, last
}

// ends is the times of a bucket's first and last key; some is false if it has
// none.
func ends(b *bbolt.Bucket) (first, last int64, some bool) {
	c := b.Cursor()
	k, _ := c.First()
	if k == nil {
		return 0, 0, false
	}
	first = keyTime(k)
	k, _ = c.Last()
	return first, keyTime(k), true
}

// view reads the file; damage that makes bbolt panic is an error.
func (d *disk) view(f func(*bbolt.Tx) error) error {
	return guarded(func() error { return d.db.View(f) })
}

// change writes the file in one transaction.
func (d *disk) change(f func(*bbolt.Tx) error) error {
	return guarded(func() error { return d.db.Update(f) })
}

// giveUp moves the file aside, since it cannot be written to any more. bbolt may
// hold locks after a panic: only another child can go on, with a fresh file.
func (d *disk) giveUp(why error) error {
	aside, err := moveAside(d.path, why, d.now)
	if err != nil {
		return err
	}
	d.gone.Store(true)
	d.movedAside(aside)
	return why
}

// movedAside says where a damaged file has gone.
func (d *disk) movedAside(aside string) {
	d.say("the data file was damaged and has been moved aside to " + aside)
}

// lastAside is the damaged file that was moved aside last; empty without one.
func lastAside(path string) string {
	found, err := filepath.Glob(path + ".damaged-*")
	if err != nil || len(found) == 0 {
		return ""
	}
	return found[len(found)-1] // their names have the time
}
