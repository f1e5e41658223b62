package storage

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime/debug"
	"strconv"
	"time"

	"go.etcd.io/bbolt"
	berrors "go.etcd.io/bbolt/errors"
	"golang.org/x/sys/unix"
)

// formatVersion is the version of the file that this program writes.
const formatVersion = 1

// lockWait is how long to wait for another process that has the file open.
const lockWait = time.Second

// allocStep is by how much the file grows at a time.
const allocStep = 256 << 10

var (
	// ErrInUse is for a file that another process has open.
	ErrInUse = errors.New("the data file is in use by another process")
	// ErrNewer is for a file that a later version of the program has written.
	// It is left as it is.
	ErrNewer = errors.New("the data file was written by a newer version")

	errDamagedFile = errors.New("the data file is damaged")
)

// The buckets of the file.
var (
	bucketMeta     = []byte("meta")     // format, longest event
	bucketSeries   = []byte("series")   // day and first id -> series keys
	bucketRaw      = []byte("raw")      // minute -> bucket with one block
	bucketRollup   = []byte("rollup")   // hour -> bucket with one block
	bucketEvents   = []byte("events")   // start and number -> event
	bucketFacts    = []byte("facts")    // key, 0, time -> value
	bucketCoverage = []byte("coverage") // source, 0, time -> state
	bucketFindings = []byte("findings") // id -> finding
	bucketByStart  = []byte("started")  // start and id -> end

	keyFormat  = []byte("format")
	keyLongest = []byte("longest_event_ms")
	keyBlock   = []byte("b")
)

func allBuckets() [][]byte {
	return [][]byte{
		bucketMeta, bucketSeries, bucketRaw, bucketRollup, bucketEvents,
		bucketFacts, bucketCoverage, bucketFindings, bucketByStart,
	}
}

// openFile opens or makes the bbolt file. A damaged one is moved aside under a
// new name, which is returned; service goes on with a fresh one.
func openFile(path string, now func() time.Time) (db *bbolt.DB, aside string, err error) {
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return nil, "", err
	}
	db, err = tryOpen(path)
	if !errors.Is(err, errDamagedFile) {
		return db, "", err
	}
	if aside, err = moveAside(path, err, now); err != nil {
		return nil, "", err
	}
	db, err = tryOpen(path)
	return db, aside, err
}

// moveAside gives a damaged file another name, which is returned with the
// reason.
func moveAside(path string, why error, now func() time.Time) (aside string, err error) {
	name := fmt.Sprintf("%s.damaged-%s", path, now().UTC().Format("20060102T150405.000"))
	if err := os.Rename(path, name); err != nil {
		return "", errors.Join(why, err)
	}
	return fmt.Sprintf("%s (%v)", name, why), nil
}

// tryOpen opens the file, checks its version and migrates it if need be.
func tryOpen(path string) (db *bbolt.DB, err error) {
	err = guarded(func() error {
		db, err = bbolt.Open(path, 0o600, &bbolt.Options{Timeout: lockWait, FreelistType: bbolt.FreelistMapType})
		return err
	})
	if err != nil {
		return nil, openError(err)
	}
	db.AllocSize = allocStep
	if err := guarded(func() error { return prepare(db) }); err != nil {
		return nil, errors.Join(err, db.Close())
	}
	return db, nil
}

// openError tells damage from trouble with the disk or another process.
func openError(err error) error {
	var pathErr *fs.PathError
	var errno unix.Errno
	switch {
	case errors.Is(err, berrors.ErrTimeout):
		return ErrInUse
	case errors.Is(err, errDamagedFile):
		return err
	case errors.As(err, &pathErr), errors.As(err, &errno):
		return err
	}
	return fmt.Errorf("%w: %w", errDamagedFile, err)
}

// guarded runs f and turns a panic, or a fault on a mapped page that the file
// does not have, into an error: bbolt checks little of what it reads.
func guarded(f func() error) (err error) {
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("%w: %v", errDamagedFile, p)
		}
	}()
	return f()
}

// prepare checks the format and makes what is missing.
func prepare(db *bbolt.DB) error {
	version, err := readVersion(db)
	if err != nil {
		return err
	}
	if version > formatVersion {
		return fmt.Errorf("%w: format %d, this program knows %d", ErrNewer, version, formatVersion)
	}
	if version == formatVersion {
		return checkBuckets(db)
	}
	return db.Update(func(tx *bbolt.Tx) error {
		if err := migrate(tx, version); err != nil {
			return err
		}
		for _, name := range allBuckets() {
			if _, err := tx.CreateBucketIfNotExists(name); err != nil {
				return err
			}
		}
		return tx.Bucket(bucketMeta).Put(keyFormat, []byte(strconv.Itoa(formatVersion)))
	})
}

// readVersion is the file's format, 0 for a fresh file.
func readVersion(db *bbolt.DB) (version int, err error) {
	err = db.View(func(tx *bbolt.Tx) error {
		meta := tx.Bucket(bucketMeta)
		if meta == nil {
			return nil
		}
		version, err = strconv.Atoi(string(meta.Get(keyFormat)))
		if err != nil {
			return fmt.Errorf("%w: format: %w", errDamagedFile, err)
		}
		return nil
	})
	return version, err
}

// checkBuckets walks to the first and last key of every bucket: a file with
// lost pages is found out before it is written to.
func checkBuckets(db *bbolt.DB) error {
	return db.View(func(tx *bbolt.Tx) error {
		for _, name := range allBuckets() {
			b := tx.Bucket(name)
			if b == nil {
				return fmt.Errorf("%w: no bucket %q", errDamagedFile, name)
			}
			c := b.Cursor()
			c.First()
			c.Last()
		}
		return nil
	})
}

// migrate brings a file of an older format to this one. Each step takes the
// format up by one; format 0 is a fresh file.
func migrate(_ *bbolt.Tx, version int) error {
	switch version {
	case 0:
		return nil
	}
	return fmt.Errorf("%w: no way from format %d", errDamagedFile, version)
}

// timeKey is a time in milliseconds as a key in the order of time.
func timeKey(t int64) []byte {
	return binary.BigEndian.AppendUint64(make([]byte, 0, 24), uint64(t)^1<<63)
}

// keyTime is its inverse; key may go on.
func keyTime(key []byte) int64 {
	if len(key) < 8 {
		return 0
	}
	return int64(binary.BigEndian.Uint64(key) ^ 1<<63)
}
