package storage

import (
	"encoding/json"

	"go.etcd.io/bbolt"
)

var keyProgress = []byte("progress")

// progress is how far the file has got, in the order of writing. That is not
// always the order of time: when the clock goes back, blocks of a time that is
// yet to come are left over. They are not shown, and are replaced once that time
// comes again.
type progress struct {
	Last    int64 // time of the row that was stored last, milliseconds
	Fresh   int64 // of the last row that did not continue the one before
	Journal int   // journals up to this number are in the file
}

// readProgress reads it; the zero value if nothing has been stored.
func readProgress(tx *bbolt.Tx) (p progress, err error) {
	if v := tx.Bucket(bucketMeta).Get(keyProgress); v != nil {
		err = json.Unmarshal(v, &p)
	}
	return p, err
}

func writeProgress(tx *bbolt.Tx, p progress) error {
	v, err := json.Marshal(p)
	if err != nil {
		return err
	}
	return tx.Bucket(bucketMeta).Put(keyProgress, v)
}

// advanced is the progress once the minute and the journals have been stored.
func (p progress) advanced(m minute, journal int) progress {
	p.Journal = max(p.Journal, journal)
	if n := len(m.times); n > 0 {
		p.Last = m.times[n-1]
		if m.fresh {
			p.Fresh = m.times[0]
		}
	}
	return p
}

// progress is how far the file has got.
func (d *disk) progress() (p progress, err error) {
	err = d.view(func(tx *bbolt.Tx) error {
		p, err = readProgress(tx)
		return err
	})
	return p, err
}
