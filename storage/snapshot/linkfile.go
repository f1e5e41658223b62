package snapshot

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"time"

	"golang.org/x/sys/unix"
)

// linksFile holds the links. Whoever can read it can open them, as whoever can
// read the folder can read the snapshots.
const linksFile = "links.json"

// linksLock is the file by which the service and the commands take turns.
const linksLock = "links.lock"

// opening is what is not yet written of how often a link was opened.
type opening struct {
	last  time.Time
	times int
}

// changing runs what changes links, on the links as they are in the file now,
// while no other process changes them. The caller holds the lock of this one.
func (f *Folder) changing(change func() error) error {
	lock, err := f.root.OpenFile(linksLock, os.O_RDWR|os.O_CREATE|unix.O_NOFOLLOW, 0o600)
	if err != nil {
		return err
	}
	defer lock.Close() // which gives the turn to the next
	if err := unix.Flock(int(lock.Fd()), unix.LOCK_EX); err != nil {
		return fmt.Errorf("%s: %w", linksLock, err)
	}
	if err := f.refreshLinks(); err != nil {
		return err
	}
	err = change()
	if err != nil {
		f.seen = nil // what is remembered may not be what is in the file
	}
	return err
}

// refreshLinks reads the links if another process has changed them. The caller
// holds the lock.
func (f *Folder) refreshLinks() error {
	now, err := f.root.Lstat(linksFile)
	if errors.Is(err, fs.ErrNotExist) {
		f.links, f.seen = nil, nil
		return nil
	}
	if err != nil {
		return err
	}
	if f.seen != nil && os.SameFile(f.seen, now) && f.seen.ModTime().Equal(now.ModTime()) && f.seen.Size() == now.Size() {
		return nil
	}
	data, err := f.root.ReadFile(linksFile)
	if err != nil {
		return err
	}
	f.links, f.seen = nil, nil
	if err := json.Unmarshal(data, &f.links); err != nil {
		f.links = nil
		aside := linksFile + ".damaged-" + f.cfg.Now().UTC().Format("20060102T150405")
		return errors.Join(fmt.Errorf("links: %w; put aside as %s", err, aside), f.root.Rename(linksFile, aside))
	}
	f.seen = now
	for i := range f.links {
		if o, ok := f.openings[f.links[i].Token]; ok {
			f.links[i].Opened = o.last
			f.links[i].Opens += o.times
		}
	}
	return nil
}

// saveLinks writes the links. It is called while changing.
func (f *Folder) saveLinks() error {
	data, err := json.MarshalIndent(f.links, "", " ")
	if err != nil {
		return err
	}
	f.saved = f.cfg.Now()
	if err := f.write(linksFile, append(data, '\n')); err != nil {
		return err
	}
	clear(f.openings)
	f.seen, err = f.root.Lstat(linksFile)
	return err
}
