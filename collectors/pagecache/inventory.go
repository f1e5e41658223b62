package pagecache

import (
	"errors"
	"io/fs"
	"path"
	"slices"

	"golang.org/x/sys/unix"
)

// Bounds of what is listed of one broker.
const (
	maxFolders = 8192  // to list
	maxNames   = 16384 // in one folder
	maxFiles   = 8192  // data files
)

// fileKey identifies a data file of a broker.
type fileKey struct{ store, path string }

// listing finds the data files of one broker, one folder a step.
type listing struct {
	broker Broker
	todo   []storeFolder
	count  int // folders listed or in todo
	found  map[fileKey]dataFile

	whole   bool             // nothing was left out
	folders map[fileKey]bool // every folder seen; true if all that is in it is known
	missing bool             // a folder vanished on the way
	err     error            // the first that mattered
}

// storeFolder is a folder of one of a broker's stores.
type storeFolder struct {
	store string
	folder
}

func (f storeFolder) key() fileKey { return fileKey{f.store, f.path} }

func newListing(b Broker) *listing {
	l := &listing{broker: b, found: map[fileKey]dataFile{}, whole: true, folders: map[fileKey]bool{}}
	for _, s := range b.stores() {
		l.todo = append(l.todo, storeFolder{s.dir, s.first})
	}
	l.count = len(l.todo)
	return l
}

// step lists one folder; it returns false when there are none left.
func (l *listing) step(files opener) bool {
	if len(l.todo) == 0 {
		l.finish(files)
		return false
	}
	f := l.todo[0]
	l.todo = l.todo[1:]
	l.folders[f.key()] = false
	names, err := files.list(l.broker.ID, path.Join(f.store, f.path), maxNames)
	switch {
	case errors.Is(err, unix.ENOTDIR):
		return true // a name that only looks like a folder's
	case errors.Is(err, fs.ErrNotExist) && f.path != "":
		l.missing = true
	case err != nil:
		l.fail(err)
		return true
	}
	l.folders[f.key()] = true
	if len(names) >= maxNames {
		l.leaveOut(f)
	}
	slices.Sort(names)
	for _, name := range names {
		l.take(f, name)
	}
	return true
}

// take notes what a name stands for.
func (l *listing) take(f storeFolder, name string) {
	sub, file, isFolder, isFile := f.classify(name)
	switch {
	case isFolder && l.count >= maxFolders:
		l.leaveOut(storeFolder{f.store, sub})
	case isFile && len(l.found) >= maxFiles:
		l.leaveOut(f)
	case isFolder:
		l.count++
		l.todo = append(l.todo, storeFolder{f.store, sub})
	case isFile:
		l.found[fileKey{f.store, file.path}] = file
	}
}

// leaveOut notes that not all that is in a folder is known.
func (l *listing) leaveOut(f storeFolder) {
	l.whole = false
	l.folders[f.key()] = false
}

func (l *listing) fail(err error) {
	l.whole = false
	if l.err == nil {
		l.err = err
	}
}

// finish makes sure that folders that vanished did so alone: when the process
// ends or a disk is unmounted everything is gone, and nothing was deleted.
func (l *listing) finish(files opener) {
	if l.missing {
		for _, s := range l.broker.stores() {
			if _, err := files.list(l.broker.ID, s.dir, 1); err != nil {
				l.fail(err)
				clear(l.folders)
			}
		}
	}
	l.rank()
}

// rank orders the files of every series, the newest being 0.
func (l *listing) rank() {
	series := map[fileKey][]fileKey{}
	for k, f := range l.found {
		s := fileKey{k.store, f.series}
		series[s] = append(series[s], k)
	}
	for _, keys := range series {
		slices.SortFunc(keys, func(a, b fileKey) int {
			x, y := l.found[a].number, l.found[b].number
			switch {
			case older(y, x):
				return -1
			case older(x, y):
				return 1
			}
			return 0
		})
		for i, k := range keys {
			f := l.found[k]
			f.rank = i
			l.found[k] = f
		}
	}
}

// deleted reports whether a file that was known and was not found now is gone:
// all that is in its folder is known, or that folder is gone in the same way.
func (l *listing) deleted(k fileKey) bool {
	for dir := path.Dir(k.path); ; dir = path.Dir(dir) {
		if dir == "." {
			return l.folders[fileKey{k.store, ""}]
		}
		if known, seen := l.folders[fileKey{k.store, dir}]; seen {
			return known
		}
	}
}
